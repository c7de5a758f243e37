"""Shortens Lua: the names of locals and of fields, and blanks. A client may have to send a script as a whole."""

import re
from collections import Counter
from itertools import count, product

TOKEN = re.compile(r"\n|'(?:[^'\\\n]|\\.)*'|[A-Za-z_]\w*|\d[\w.]*|\.\.\.|\.\.|[=~<>]=|[^\s\w]")
KEYWORDS = set(
    "and break do else elseif end false for function if in local nil not or repeat return then true until while".split()
)
# Fields that have their name from elsewhere.
LIBRARIES = {"string", "math", "table", "redis"}
THEIRS = {"err", "ok", "function_name", "callback", "description", "flags"}


def is_name(token):
    return token[0].isalpha() or token[0] == "_"


def declared(tokens):
    """The names of locals and parameters."""
    names = set()
    for at, token in enumerate(tokens):
        if token == "local" and tokens[at + 1] != "function" or token == "for":
            while True:
                at += 1
                names.add(tokens[at])
                at += 1
                if tokens[at] != ",":
                    break
        elif token == "function":
            at += 1
            if is_name(tokens[at]):
                if tokens[at - 2] == "local":
                    names.add(tokens[at])
                at += 1
            while tokens[at] != ")":
                if is_name(tokens[at]):
                    names.add(tokens[at])
                at += 1
    return names


def fields(tokens):
    """The index of each field, with whether a dot is before it."""
    found, inside = {}, []
    for at, token in enumerate(tokens):
        if token in "{([" and token != "":
            inside.append(token)
        elif token in "})]" and token != "":
            inside.pop()
        elif is_name(token) and token not in KEYWORDS:
            before = tokens[at - 1]
            if before in (".", ":") and tokens[at - 2] not in LIBRARIES:
                found[at] = before
            elif before in (".", ":"):
                found[at] = "library"
            elif inside and inside[-1] == "{" and tokens[at + 1] == "=" and before in "{,":
                found[at] = "key"
    return found


def short_names(taken):
    letters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
    for length in count(1):
        for name in map("".join, product(letters, repeat=length)):
            if name not in taken and name not in KEYWORDS:
                yield name


def most_used_first(names, uses):
    times = Counter(uses)
    return sorted(names, key=lambda name: (-times[name], name))


def minified(text):
    lines = TOKEN.findall(text)
    tokens = [token for token in lines if token != "\n"]
    field_at = fields(tokens)
    plain = [t for at, t in enumerate(tokens) if is_name(t) and t not in KEYWORDS and at not in field_at]
    locals_ = declared(tokens)
    new = short_names({name for name in plain if name not in locals_})
    renamed = dict(zip(most_used_first(locals_, plain), new))
    quoted = {token.strip("'") for token in tokens if token[0] == "'"}
    dotted = {tokens[at] for at, kind in field_at.items() if kind == "."}
    theirs = {tokens[at] for at, kind in field_at.items() if kind in (":", "library")} | THEIRS | quoted
    own = {name for name in dotted - theirs if re.fullmatch(r"[a-z][a-z_]{2,}", name)}
    used = [tokens[at] for at in field_at]
    new_fields = dict(zip(most_used_first(own, used), short_names(set(used) - own)))
    out, at = [], 0
    for token in lines:
        if token != "\n":
            if at in field_at:
                token = new_fields.get(token, token) if field_at[at] != "library" else token
            else:
                token = renamed.get(token, token) if is_name(token) else token
            at += 1
        if out and re.match(r"\w", token) and re.search(r"\w$", out[-1]) or (out and out[-1] == "-" and token == "-"):
            out.append(" ")
        # A number, and then `..`, would be another number.
        if out and token == ".." and re.search(r"\d$", out[-1]):
            out.append(" ")
        out.append(token)
    # Long lines: a blank is as good as the end of a line.
    rows = [""]
    for row in "".join(out).split("\n"):
        if len(rows[-1]) + len(row) > 119:
            rows.append(row)
        else:
            rows[-1] = f"{rows[-1]} {row}".strip()
    return "\n".join(rows)
