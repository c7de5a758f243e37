"""Specialises Lua: makes one flat function of what an allowed call runs through.

`fast_path` runs the definitions of a script on values that are partly known: the words of the call are unknown, the
options that are not there are nil. It calls each function in place, keeps the fields of tables in local variables, drops
the branches that cannot be reached, and writes the code of what is left. Where the definitions go to cold code, it writes
`return`: the caller then starts again, with the whole script. That is right until the call writes, so cold code after a
write stops the generator.

It knows the Lua of lua/parts: all numbers of hot code are finite integers unless they come from `tonumber` or a division,
and a table that a definition makes does not leave it.
"""

import math
import re
import sys

from lua_minify import KEYWORDS

sys.setrecursionlimit(20000)
TOKEN = re.compile(
    r"\s*(?:(?P<name>[A-Za-z_]\w*)|(?P<number>\d[\d.]*(?:[eE][+-]?\d+)?)|(?P<string>'(?:[^'\\\n]|\\.)*')"
    r"|(?P<op>--@rare|\.\.\.|\.\.|==|~=|<=|>=|[-+*/%^#<>=(){}\[\];:,.]))"
)
PRIORITY = {"or": (1, 1), "and": (2, 2), "..": (5, 4), "+": (6, 6), "-": (6, 6), "*": (7, 7), "/": (7, 7), "%": (7, 7)}
PRIORITY |= {op: (3, 3) for op in ("<", ">", "<=", ">=", "~=", "==")} | {"^": (10, 9)}
# %d takes half of the instructions of %.0f. Where a long of C has 32 bits, it is wrong, so the whole script runs.
IF_SHORT_LONG = "if format('%d',2^40)~='1099511627776' then\nreturn\nend\n"
# Commands that write nothing, and one that removes only what no call counts.
READS = set("TIME GET PEXPIRETIME PTTL ZCARD ZCOUNT ZSCORE ZRANGE ZREMRANGEBYSCORE".split())
NUMBER_REPLIES = set("PEXPIRETIME PTTL ZCARD ZCOUNT ZREMRANGEBYSCORE ZADD INCRBY".split())


class Unsupported(Exception):
    """What has no place in a fast path: it is left to the whole script."""


def tokens_of(text):
    found, at = [], 0
    while text[at:].strip():
        token = TOKEN.match(text, at)
        if not token:
            raise SystemExit(f"no Lua: {text[at:at + 40]!r}")
        kind = token.lastgroup
        word = token[kind]
        found.append(("op" if word in KEYWORDS else kind, word))
        at = token.end()
    return [*found, ("end", "")]


class Parser:
    """Lua as tuples: ('if', [(condition, block), ...], otherwise) and so on."""

    def __init__(self, text):
        self.tokens, self.at = tokens_of(text), 0

    def next(self):
        self.at += 1
        return self.tokens[self.at - 1]

    def is_at(self, *words):
        kind, word = self.tokens[self.at]
        return kind == "op" and word in words

    def take(self, word):
        found = self.is_at(word)
        self.at += found
        return found

    def need(self, word):
        if not self.take(word):
            raise SystemExit(f"{word} expected: {' '.join(t[1] for t in self.tokens[self.at - 9:self.at + 3])}")

    def block(self):
        body = []
        while not self.is_at("end", "else", "elseif", "until") and self.tokens[self.at][0] != "end":
            body.append(self.statement())
            self.take(";")
        return body

    def name(self):
        return self.next()[1]

    def names(self):
        found = [self.name()]
        while self.take(","):
            found.append(self.name())
        return found

    def expressions(self):
        found = [self.expression()]
        while self.take(","):
            found.append(self.expression())
        return found

    def statement(self):
        if self.take("--@rare"):
            return ("unsupported", "a rare branch")
        if self.take("local"):
            if self.take("function"):
                name = self.name()
                return ("local function", name, self.function_body())
            names = self.names()
            return ("local", names, self.expressions() if self.take("=") else [])
        if self.take("if"):
            arms = [(self.expression(), self.then())]
            while self.take("elseif"):
                arms.append((self.expression(), self.then()))
            otherwise = self.block() if self.take("else") else []
            self.need("end")
            return ("if", arms, otherwise)
        if self.take("while"):
            condition = self.expression()
            self.need("do")
            body = self.block()
            self.need("end")
            return ("while", condition, body)
        if self.take("for"):
            self.names()
            _ = self.expressions() if self.take("in") or self.take("=") else None
            self.need("do")
            self.block()
            self.need("end")
            return ("unsupported", "for")
        if self.take("return"):
            ends = self.is_at("end", "else", "elseif") or self.tokens[self.at][0] == "end"
            return ("return", [] if ends else self.expressions())
        if self.take("break"):
            return ("unsupported", "break")
        if self.take("function"):
            self.name()
            self.function_body()
            return ("unsupported", "function")
        first = self.suffixed()
        if self.is_at("=", ","):
            targets = [first]
            while self.take(","):
                targets.append(self.suffixed())
            self.need("=")
            return ("assign", targets, self.expressions())
        return ("call", first)

    def then(self):
        self.need("then")
        return self.block()

    def function_body(self):
        self.need("(")
        names = [] if self.is_at(")") else self.names()
        self.need(")")
        body = self.block()
        self.need("end")
        return (names, body)

    def suffixed(self):
        if self.take("("):
            value = ("paren", self.expression())
            self.need(")")
        else:
            value = ("name", self.name())
        while True:
            if self.take("."):
                value = ("index", value, ("const", self.name()))
            elif self.take("["):
                value = ("index", value, self.expression())
                self.need("]")
            elif self.take(":"):
                value = ("method", value, self.name(), self.arguments())
            elif self.is_at("("):
                value = ("call", value, self.arguments())
            else:
                return value

    def arguments(self):
        self.need("(")
        found = [] if self.is_at(")") else self.expressions()
        self.need(")")
        return found

    def expression(self, least=0):
        if self.is_at("not", "-", "#"):
            op = self.next()[1]
            value = ("unary", op, self.expression(8))
        else:
            value = self.simple()
        while self.tokens[self.at][0] == "op" and PRIORITY.get(self.tokens[self.at][1], (0, 0))[0] > least:
            op = self.next()[1]
            second = self.expression(PRIORITY[op][1])
            value = or_joined(value, second) if op == "or" else (op if op == "and" else "binary", op, value, second)
        return value

    def simple(self):
        kind, word = self.tokens[self.at]
        if kind == "number":
            self.at += 1
            return ("const", float(word))
        if kind == "string":
            self.at += 1
            return ("const", Text(word[1:-1]))
        if self.take("nil"):
            return ("const", None)
        if self.is_at("true", "false"):
            return ("const", self.next()[1] == "true")
        if self.take("function"):
            return ("function", self.function_body())
        if self.take("{"):
            fields, number = [], 0
            while not self.take("}"):
                if self.tokens[self.at][0] == "name" and self.tokens[self.at + 1] == ("op", "="):
                    key = self.name()
                    self.need("=")
                elif self.take("["):
                    key = self.expression()
                    self.need("]")
                    self.need("=")
                else:
                    number += 1
                    key = float(number)
                fields.append((key, self.expression()))
                self.take(",")
            return ("table", fields)
        return self.suffixed()


def or_joined(first, second):
    """`a or b or c` as `a or (b or c)`."""
    if first[0] == "or":
        return ("or", "or", first[2], or_joined(first[3], second))
    return ("or", "or", first, second)


class Text(str):
    """A string of the program, in the form that it has between quotes."""


class Known:
    def __init__(self, value):
        self.value = value

    def __eq__(self, other):
        return isinstance(other, Known) and type(self.value) is type(other.value) and self.value == other.value

    @property
    def text(self):
        value = self.value
        if isinstance(value, Text):
            return f"'{value}'"
        if isinstance(value, float):
            if value in (float("inf"), float("-inf")):
                return "(1/0)" if value > 0 else "(-1/0)"
            if value < 0:
                return f"(-{Known(-value).text})"
            if value == 2**53 or value == 2**32 or value == 2**64:
                return f"2^{math.log2(value):.0f}"
            plain = f"{value:.0f}" if value == int(value) else repr(value)
            short = re.sub(r"e\+0*", "e", f"{value:g}")
            return short if float(short) == value and len(short) < len(plain) else plain
        return {None: "nil", True: "true", False: "false"}[value]


NIL, TRUE, FALSE = Known(None), Known(True), Known(False)


class Unknown:
    """Code. `kind`: number (finite), float, text, boolean or any. `made_of`: the parts of a condition."""

    def __init__(self, text, kind="any", atom=False, made_of=None, positive=False):
        self.text, self.kind, self.atom, self.made_of, self.positive = text, kind, atom, made_of, positive

    def __eq__(self, other):
        return isinstance(other, Unknown) and self.text == other.text


class Table:
    def __init__(self, number):
        self.number = number

    def __eq__(self, other):
        return isinstance(other, Table) and self.number == other.number


class Function:
    def __init__(self, names, body, scope, cold=False):
        self.names, self.body, self.scope, self.cold = names, body, scope, cold


class Builtin:
    def __init__(self, name):
        self.name = name


class Cold:
    """A value that only cold code has."""


class State:
    def __init__(self, code, slots, tables, facts, same, wrote):
        self.code, self.slots, self.tables, self.facts, self.same, self.wrote = code, slots, tables, facts, same, wrote

    def fork(self, code):
        tables = {number: dict(fields) for number, fields in self.tables.items()}
        return State(code, dict(self.slots), tables, dict(self.facts), dict(self.same), self.wrote)

    def become(self, other):
        for name in ("code", "slots", "tables", "facts", "same", "wrote"):
            setattr(self, name, getattr(other, name))


def truth_of(value):
    """True or False, or None if it is not known."""
    if isinstance(value, Known):
        return value.value is not None and value.value is not False
    if isinstance(value, Unknown):
        return True if value.kind in ("number", "float", "text", "table") else None
    return True


def is_number(value):
    """A finite number. In hot code nothing is divided by 0: cold code takes the limits, costs and windows of 0."""
    return isinstance(value, Unknown) and value.kind == "number" or (
        isinstance(value, Known) and isinstance(value.value, float) and abs(value.value) < 1e300
    )


def is_positive(value):
    return value.positive if isinstance(value, Unknown) else isinstance(value.value, float) and value.value >= 1


def has_return(block):
    for statement in block:
        if statement[0] == "return":
            return True
        if statement[0] == "if" and (any(has_return(body) for _, body in statement[1]) or has_return(statement[2])):
            return True
    return False


def assigned_in(block):
    """The names that a block assigns, but for its own."""
    found, own = [], set()
    for statement in block:
        if statement[0] == "local":
            own.update(statement[1])
        elif statement[0] == "assign":
            found += [target[1] for target in statement[1] if target[0] == "name" and target[1] not in own]
        elif statement[0] == "if":
            for body in [body for _, body in statement[1]] + [statement[2]]:
                found += [name for name in assigned_in(body) if name not in own]
        elif statement[0] == "while":
            found += [name for name in assigned_in(statement[2]) if name not in own]
    return list(dict.fromkeys(found))


class Specialiser:
    def __init__(self, items):
        # `either_of`: tables that stand for one of several.
        self.count, self.either_of = 0, set()
        self.scope, slots = {}, {}
        for item in items:
            if not item.names:
                continue
            statement = Parser(item.text).statement()
            if statement[0] == "local function":
                values = [Function(*statement[2], self.scope, item.cold)]
            elif item.cold:
                values = [Cold() for _ in item.names]
            else:
                values = [self.constant(value) for value in statement[2]]
            values += [NIL] * (len(item.names) - len(values))
            for name, value in zip(item.names, values):
                self.scope[name] = self.new()
                slots[self.scope[name]] = value
        self.code = []
        self.start = State(self.code, slots, {}, {}, {}, False)

    def constant(self, expression):
        state = State([], {self.scope[name]: None for name in ()}, {}, {}, {}, False)
        try:
            [(_, value)] = self.value(expression, {}, state)
        except (Unsupported, KeyError):
            return Cold()
        return value

    def new(self, prefix=""):
        self.count += 1
        return f"{prefix}{self.count}" if prefix else self.count

    # Values

    def bind(self, value, state, pure=True):
        """The value under a name."""
        if isinstance(value, Unknown) and not value.atom:
            name = self.new("v")
            state.code.append(("local", [name], value.text, pure))
            state.facts.update({name: state.facts[value.text]} if value.text in state.facts else {})
            bound = Unknown(name, value.kind, True, value.made_of, value.positive)
            if pure and not re.search(r"\bm\d", value.text):
                state.same[value.text] = bound
            return bound
        return value

    def known(self, value, state):
        """What the facts say of a value."""
        if isinstance(value, Unknown):
            if value.text in state.same:
                return state.same[value.text]
            if value.kind == "boolean" and value.text in state.facts:
                return TRUE if state.facts[value.text] else FALSE
            if value.kind in ("number?", "float?", "number or false") and value.text in state.facts:
                if state.facts[value.text]:
                    return Unknown(value.text, "float" if value.kind == "float?" else "number", value.atom)
                return FALSE if value.kind == "number or false" else NIL
        return value

    def truth(self, value, state):
        value = self.known(value, state)
        known = truth_of(value)
        return state.facts.get(value.text) if known is None else known

    def assume(self, value, truth, state):
        if not isinstance(value, Unknown):
            return
        state.facts[value.text] = truth
        parts = value.made_of
        if not parts:
            return
        if parts[0] == "not":
            self.assume(parts[1], not truth, state)
        elif parts[0] == "and" and truth or parts[0] == "or" and not truth:
            self.assume(parts[1], truth, state)
            self.assume(parts[2], truth, state)
        elif parts[0] in ("<", "<="):
            _, a, b = parts
            other = "<=" if parts[0] == "<" else "<"
            state.facts[f"({b.text}{other}{a.text})"] = not truth
            if parts[0] == "<" and not truth and b == Known(1.0) and isinstance(a, Unknown) and is_number(a):
                state.same[a.text] = Unknown(a.text, "number", a.atom, None, True)
            state.facts[f"({a.text}{parts[0]}{b.text})"] = truth
        elif parts[0] == "==":
            _, a, b = parts
            state.facts[f"({a.text}=={b.text})"] = truth
            if truth and isinstance(b, Known) and isinstance(a, Unknown):
                state.same[a.text] = b
                if finite := re.fullmatch(r"\((\w+)-\1\)", a.text):
                    state.same[finite[1]] = Unknown(finite[1], "number", True)

    def deopt(self, state, why):
        if state.wrote:
            raise SystemExit(f"a fast path reaches cold code after it wrote: {why}")
        state.code.append(("return", ""))
        return []

    def table_of(self, fields, state):
        table = Table(self.new())
        state.tables[table.number] = fields
        return table

    def values(self, expressions, scope, state, wanted=None):
        """All values of a list of expressions."""
        ends = [(state, [])]
        for number, expression in enumerate(expressions):
            last = number == len(expressions) - 1
            many = None if wanted is None else max(0, wanted - number)
            following = []
            for state, values in ends:
                if last and expression[0] == "call" and many != 1:
                    for after, more in self.call(expression, scope, state, many):
                        following.append((after, values + more))
                else:
                    for after, value in self.value(expression, scope, state):
                        following.append((after, [*values, value]))
            ends = following
        if wanted is not None:
            ends = [(state, (values + [NIL] * wanted)[:wanted]) for state, values in ends]
        return ends

    def value(self, expression, scope, state):
        """The ends of the code that computes an expression: states, each with the value."""
        return [(after, self.known(value, after)) for after, value in self.raw_value(expression, scope, state)]

    def raw_value(self, expression, scope, state):
        kind = expression[0]
        if kind == "const":
            value = expression[1]
            return [(state, Known(Text(value) if isinstance(value, str) else value))]
        if kind == "paren":
            return self.value(expression[1], scope, state)
        if kind == "name":
            name = expression[1]
            if name in scope:
                return [(state, state.slots[scope[name]])]
            if name in self.scope:
                return [(state, state.slots[self.scope[name]])]
            return [(state, Builtin(name))]
        if kind == "function":
            return [(state, Cold())]
        if kind == "table":
            values = self.values([field[1] for field in expression[1]], scope, state)
            ends = []
            for after, found in values:
                fields = {}
                for (key, _), value in zip(expression[1], found):
                    fields[key] = self.bind(value, after)
                ends.append((after, self.table_of(fields, after)))
            return ends
        if kind == "index":
            return [
                end
                for after, (table, key) in self.values([expression[1], expression[2]], scope, state, 2)
                for end in self.index(table, key, after)
            ]
        if kind == "call":
            return [(after, values[0]) for after, values in self.call(expression, scope, state, 1)]
        if kind == "method":
            return [
                (after, Unknown(f"{of.text}:{expression[2]}({','.join(v.text for v in args)})", METHODS[expression[2]]))
                for after, (of, *args) in self.values([expression[1], *expression[3]], scope, state, 1 + len(expression[3]))
            ]
        if kind == "unary":
            return [(after, self.unary(expression[1], v, after)) for after, v in self.value(expression[2], scope, state)]
        if kind == "binary":
            return [
                (after, self.binary(expression[1], a, b, after))
                for after, (a, b) in self.values([expression[2], expression[3]], scope, state, 2)
            ]
        return self.chosen(expression, scope, state)

    def index(self, table, key, state):
        if isinstance(table, Cold):
            return self.deopt(state, "a cold value")
        if isinstance(table, Builtin):
            path = f"{table.name}.{key.value}"
            if path == "redis.REDIS_VERSION_NUM":
                return [(state, self.read(path, state))]
            return [(state, Builtin(path))]
        if isinstance(table, Table):
            if not isinstance(key, Known):
                raise Unsupported("an index")
            return [(state, state.tables[table.number].get(key.value, NIL))]
        if isinstance(table, Unknown):
            return [(state, self.read(f"{table.text}[{key.text}]", state))]
        raise Unsupported("an index")

    def read(self, text, state):
        """A field of a table that does not change: it is read once."""
        if text not in state.same:
            state.same[text] = self.bind(Unknown(text), state)
        return self.known(state.same[text], state)

    def unary(self, op, value, state):
        if op == "not":
            truth = self.truth(value, state)
            if truth is not None:
                return FALSE if truth else TRUE
            if value.made_of and value.made_of[0] == "not":
                return value.made_of[1]
            return Unknown(f"(not {value.text})", "boolean", False, ("not", value))
        if isinstance(value, Known):
            return Known(-value.value if op == "-" else float(len(value.value.replace("\\", ""))))
        return Unknown(f"({op}{value.text})", "number")

    def binary(self, op, a, b, state):
        if op in (">", ">="):
            return self.binary("<" if op == ">" else "<=", b, a, state)
        if op == "~=":
            return self.unary("not", self.binary("==", a, b, state), state)
        if isinstance(a, Known) and isinstance(b, Known):
            return folded(op, a.value, b.value)
        if op == "==":
            if isinstance(a, Known):
                a, b = b, a
            if isinstance(a, Table) and isinstance(b, Table) and a != b and {a.number, b.number} & self.either_of:
                raise Unsupported("one of two tables")
            if not isinstance(a, Unknown) or not isinstance(b, (Known, Unknown)):
                return TRUE if a == b else FALSE
            if b == Known(0.0) and a.positive:
                return FALSE
            never = b == NIL and truth_of(a) or b == Known(0.0) and a.kind == "text"
            if never or a.kind == "number" and isinstance(b, Known) and b.value is False:
                return FALSE
        if not isinstance(a, (Known, Unknown)) or not isinstance(b, (Known, Unknown)):
            raise Unsupported(op)
        if op in ("==", "<", "<="):
            if a == b and is_number(a):
                return TRUE if op != "<" else FALSE
            if isinstance(a, Known) and isinstance(b, Unknown) and b.positive and a.value <= (0 if op == "<" else 1):
                return TRUE
            if isinstance(b, Known) and isinstance(a, Unknown) and a.positive and b.value <= (1 if op == "<" else 0):
                return FALSE
            found = Unknown(f"({a.text}{op}{b.text})", "boolean", False, (op, a, b))
            return self.known(found, state)
        if op == "..":
            return Unknown(f"({a.text}..{b.text})", "text")
        both = is_number(a) and is_number(b)
        if op == "-" and a == b and both:
            return Known(0.0)
        one, zero = Known(1.0), Known(0.0)
        if op in ("*", "/") and b == one or op in ("+", "-") and b == zero:
            if is_number(a):
                return a
        if op == "*" and both and zero in (a, b):
            return zero
        if op == "*" and a == one and is_number(b) or op == "+" and a == zero and is_number(b):
            return b
        floats = any(isinstance(v, Unknown) and v.kind == "float" or v == Known(float("inf")) for v in (a, b))
        positive = op in "*+" and all(is_positive(v) for v in (a, b))
        positive = positive or b == zero and state.facts.get(f"find({a.text},'^[1-9]%d*$')", False)
        return Unknown(f"({a.text}{op}{b.text})", "float" if floats else "number", False, None, positive)

    def chosen(self, expression, scope, state):
        """`and` and `or`."""
        op, _, first, second = expression
        # `condition and this or that`
        if op == "or" and first[0] == "and":
            ends = []
            for after, condition in self.value(first[2], scope, state):
                truth = self.truth(condition, after)
                if truth is None:
                    ends += self.either(
                        condition,
                        lambda s: self.or_else(self.value(first[3], scope, s), second, scope),
                        lambda s: self.value(second, scope, s),
                        after,
                    )
                elif truth:
                    ends += self.or_else(self.value(first[3], scope, after), second, scope)
                else:
                    ends += self.value(second, scope, after)
            return ends
        ends = []
        for after, value in self.value(first, scope, state):
            truth = self.truth(value, after)
            if truth is None:
                value = self.bind(value, after) if value.kind != "boolean" else value
                other = lambda s: self.value(second, scope, s)
                same = lambda s: [(s, Known(op == "or") if value.kind == "boolean" else value)]
                yes, no = (other, same) if op == "and" else (same, other)
                ends += self.either(value, yes, no, after, op)
            elif truth == (op == "and"):
                ends += self.value(second, scope, after)
            else:
                ends.append((after, value))
        return ends

    def or_else(self, ends, second, scope):
        found = []
        for state, value in ends:
            truth = self.truth(value, state)
            if truth:
                found.append((state, value))
            elif truth is False:
                found += self.value(second, scope, state)
            else:
                bound = self.bind(value, state)
                found += self.either(bound, lambda s: [(s, bound)], lambda s: self.value(second, scope, s), state, "or")
        return found

    def either(self, condition, yes, no, state, op=None):
        """Runs both sides of a condition. One expression if neither side needs a statement."""
        sides = []
        for truth, run in ((True, yes), (False, no)):
            side = state.fork([])
            self.assume(condition, truth, side)
            try:
                ends = run(side)
            except Unsupported as what:
                side = state.fork([])
                ends = self.deopt(side, what)
            sides.append((side.code, ends))
        (yes_code, yes_ends), (no_code, no_ends) = sides
        for code in (yes_code, no_code):
            # A word that is not there is nil: it may be read early.
            while code and code[0][0] == "local" and code[0][3] and re.fullmatch(r"[AK]\[\d+\]", code[0][2] or ""):
                read = code.pop(0)
                state.code.append(read)
                state.same[read[2]] = Unknown(read[1][0], "any", True)
        if not yes_code and not no_code and len(yes_ends) == 1 and len(no_ends) == 1:
            a, b = yes_ends[0][1], no_ends[0][1]
            if a == b:
                return [(state, a)]
            if isinstance(a, (Known, Unknown)) and isinstance(b, (Known, Unknown)):
                found = self.choice(condition, a, b, op)
                if found:
                    return [(state, found)]
        return self.branches(condition, (yes_code, yes_ends), (no_code, no_ends), state)

    def choice(self, condition, a, b, op):
        """Both sides as an expression, or None."""
        kind = a.kind if isinstance(a, Unknown) else None
        boolean = lambda v: isinstance(v, Unknown) and v.kind == "boolean"
        if boolean(condition) and a == TRUE and b == FALSE:
            return condition
        if op == "and" and boolean(condition) and boolean(a) and b == FALSE:
            return Unknown(f"({condition.text} and {a.text})", "boolean", False, ("and", condition, a))
        if op == "or" and boolean(b) and boolean(condition):
            return Unknown(f"({condition.text} or {b.text})", "boolean", False, ("or", condition, b))
        if op == "and" and b == FALSE:
            kind = "number or false" if is_number(a) else "any"
            return Unknown(f"({condition.text} and {a.text})", kind, False, ("and", condition, a))
        if truth_of(a) and is_number(a) and is_number(b):
            return Unknown(f"({condition.text} and {a.text} or {b.text})", "number")
        if truth_of(a) and is_number(a) and (b == NIL or isinstance(b, Unknown) and b.kind == "number?"):
            return Unknown(f"({condition.text} and {a.text} or {b.text})", "number?")
        if op == "or" and kind == "number?" and is_number(b):
            return Unknown(f"({a.text} or {b.text})", "number")
        if op == "or" and kind == "float?" and is_number(b):
            return Unknown(f"({a.text} or {b.text})", "float")
        if kind == "text" and isinstance(b, Unknown) and b.kind == "text" or (
            isinstance(a, Known) and isinstance(b, Known) and isinstance(a.value, Text) and isinstance(b.value, Text)
            and "%" in a.value
        ):
            return Unknown(f"({condition.text} and {a.text} or {b.text})", "text")
        return None

    def branches(self, condition, yes, no, state):
        """Writes an `if`, and merges its ends into one if that loses nothing."""
        (yes_code, yes_ends), (no_code, no_ends) = yes, no
        if not yes_ends:
            state.code += [("if", condition, yes_code, []), ("code", no_code)]
            return no_ends
        if not no_ends:
            state.code += [("if", Unknown(f"(not {condition.text})", "boolean", False, ("not", condition)), no_code, []),
                           ("code", yes_code)]
            return yes_ends
        before, after = [], []
        ends = yes_ends + no_ends
        state.code += [("code", before), ("if", condition, yes_code, no_code), ("code", after)]
        return self.merged(ends, set(state.slots), before, after)

    def merged(self, ends, slots, before, after):
        """One end for all, whose code is `after`; or all of them."""
        if len(ends) < 2:
            return ends
        names, values_of = [], {}

        def join(found):
            """A value for what the ends have there."""
            if all(value == found[0] for value in found) and not isinstance(found[0], Table):
                return found[0]
            if all(isinstance(value, Table) for value in found):
                pair = tuple(value.number for value in found)
                if pair not in values_of:
                    number = pair[0] if len(set(pair)) == 1 else self.new()
                    if number != pair[0]:
                        self.either_of.add(number)
                    values_of[pair] = (number, {})
                    tables = [state.tables[n] for (state, *_), n in zip(ends, pair)]
                    for key in {key: True for table in tables for key in table}:
                        values_of[pair][1][key] = join([table.get(key, NIL) for table in tables])
                return Table(values_of[pair][0])
            kinds = []
            for value in found:
                if isinstance(value, Table) and 1.0 in next(s for s, *_ in ends if value.number in s.tables).tables[value.number]:
                    kinds.append("any")
                    continue
                if isinstance(value, Known) and isinstance(value.value, float):
                    kinds.append("number" if abs(value.value) < 1e300 else "float")
                elif isinstance(value, Unknown):
                    kinds.append(value.kind)
                elif isinstance(value, Known) and isinstance(value.value, Text):
                    kinds.append("text")
                elif isinstance(value, Known) and isinstance(value.value, bool):
                    kinds.append("boolean")
                elif value == NIL:
                    kinds.append("nil")
                else:
                    raise Unsupported("nil and another")
            merges = kinds[0] if len(set(kinds)) == 1 else next((k for k, all_of in MERGES.items() if all_of >= set(kinds)), None)
            if set(kinds) == {"any", "text"} and any(isinstance(value, Table) for value in found):
                merges = "any"
            if not merges or merges == "nil":
                raise Unsupported("what is known differs")
            for name, others in names:
                if all(a == b for a, b in zip(others, found)):
                    return name
            kind = merges
            positive = kind == "number" and all(is_positive(value) for value in found)
            names.append((Unknown(self.new("p"), kind, True, None, positive), found))
            return names[-1][0]

        try:
            first = ends[0][0]
            kept = {slot: join([state.slots[slot] for state, *_ in ends]) for slot in slots
                    if all(slot in state.slots for state, *_ in ends)}
            values = [ends[0][1]]
            if isinstance(values[0], list):
                length = max(len(end[1]) for end in ends)
                values = [join([(end[1] + [NIL] * length)[n] for end in ends]) for n in range(length)]
            elif values[0] is not None:
                values = join([end[1] for end in ends])
            else:
                values = None
        except Unsupported:
            return ends
        for name, found in names:
            before.append(("local", [name.text], None, True))
            for (state, *_), value in zip(ends, found):
                state.code.append(("set", name.text, text_in(value, state)))
        state = first.fork(after)
        state.slots = kept
        state.tables = {number: fields for number, fields in values_of.values()}
        state.facts = {t: f for t, f in first.facts.items() if all(s.facts.get(t) == f for s, *_ in ends)}
        state.same = {t: f for t, f in first.same.items() if all(t in s.same and s.same[t] == f for s, *_ in ends)}
        state.wrote = any(s.wrote for s, *_ in ends)
        return [(state, values)]

    # Calls

    def call(self, expression, scope, state, wanted):
        ends = []
        for after, function in self.value(expression[1], scope, state):
            if isinstance(function, Function) and function.cold or isinstance(function, Cold):
                ends += self.deopt(after, expression[1])
                continue
            for later, arguments in self.values(expression[2], scope, after):
                if isinstance(function, Function):
                    ends += self.inlined(function, arguments, later)
                else:
                    ends += self.built_in(function.name, arguments, later, wanted)
        if wanted is not None:
            ends = [(state, (values + [NIL] * wanted)[:wanted]) for state, values in ends]
        return ends

    def inlined(self, function, arguments, state):
        slots, scope = set(state.slots), dict(function.scope)
        for number, name in enumerate(function.names):
            value = arguments[number] if number < len(arguments) else NIL
            scope[name] = self.new()
            state.slots[scope[name]] = self.bind(value, state)
        before, code, after = [], [], []
        state.code += [("code", before), ("code", code), ("code", after)]
        ends = self.block(function.body, scope, state.fork(code), [])
        ends = [(end, [self.bind(value, end) for value in values or []]) for end, values in ends]
        for end, _ in ends:
            end.slots = {slot: value for slot, value in end.slots.items() if slot in slots}
        return self.merged(ends, slots, before, after) if len(ends) > 1 else ends

    def built_in(self, name, arguments, state, wanted):
        if any(not isinstance(value, (Known, Unknown)) for value in arguments):
            raise Unsupported(name)
        texts = [value.text for value in arguments]
        if name in ("math.max", "math.min") and len(arguments) == 2:
            a, b = (self.bind(value, state) for value in arguments)
            less = self.binary("<", a, b, state)
            if name == "math.max":
                a, b = b, a
            if isinstance(less, Known):
                return [(state, [a if less.value else b])]
            kind = "number" if is_number(a) and is_number(b) else "float"
            return [(state, [Unknown(f"({less.text} and {a.text} or {b.text})", kind)])]
        if name == "redis.call":
            command = arguments[0].value
            text = f"call({','.join(texts)})"
            if command not in READS or command == "ZREMRANGEBYSCORE":
                state.wrote = state.wrote or command not in READS
                state.same = {known: value for known, value in state.same.items() if not known.startswith("call(")}
            elif text in state.same:
                return [(state, [self.known(state.same[text], state)])]
            bound = self.bind(Unknown(text, REPLIES.get(command, "any")), state, False)
            if command in READS and not re.search(r"\bm\d", text):
                state.same[text] = bound
            return [(state, [bound])]
        if name == "string.format":
            return [(state, [formatted(arguments)])]
        if name not in BUILTINS:
            raise Unsupported(name)
        short = name.split(".")[-1]
        if wanted is not None and wanted < 2 or name not in MANY:
            return [(state, [Unknown(f"{short}({','.join(texts)})", BUILTINS[name])])]
        if wanted is None:
            raise Unsupported("many values")
        names = [self.new("v") for _ in range(wanted)]
        state.code.append(("local", names, f"{short}({','.join(texts)})", True))
        return [(state, [Unknown(v, BUILTINS[name], True) for v in names])]

    # Statements

    def block(self, body, scope, state, following):
        """The ends of a block and of what follows it: [(statements, scope)]. Each has the values that it returns, or None."""
        scope = dict(scope)
        for number, statement in enumerate(body):
            rest = (body[number + 1 :], scope)
            ends = self.statement(statement, scope, state, [rest, *following])
            if ends is None:
                continue
            state_ends, done = ends
            if done:
                return state_ends
            if len(state_ends) == 1:
                state = state_ends[0][0]
                continue
            return [
                end for after, _ in state_ends for end in self.block(rest[0], rest[1], after, following)
            ]
        if following:
            (body, scope), *following = following
            return self.block(body, scope, state, following)
        return [(state, None)]

    def statement(self, statement, scope, state, following):
        """None if it has one end, the state itself; else its ends, and whether what follows is in them."""
        kind = statement[0]
        if kind == "local":
            ends = self.values(statement[2], scope, state, len(statement[1])) if statement[2] else [
                (state, [NIL] * len(statement[1]))]
            new = [self.new() for _ in statement[1]]
            scope.update(zip(statement[1], new))
            for after, values in ends:
                after.slots.update({slot: self.bind(value, after) for slot, value in zip(new, values)})
            return [(after, None) for after, _ in ends], False
        if kind == "assign":
            targets = statement[1]
            ends = self.values(statement[2], scope, state, len(targets))
            found = []
            for after, values in ends:
                values = [self.bind(value, after) for value in values]
                for target, value in zip(targets, values):
                    if target[0] == "name":
                        after.slots[scope[target[1]] if target[1] in scope else self.scope[target[1]]] = value
                        continue
                    [(after, (table, key))] = self.values([target[1], target[2]], scope, after, 2)
                    if not isinstance(table, Table) or not isinstance(key, Known):
                        raise Unsupported("an assignment")
                    after.tables[table.number][key.value] = value
                found.append((after, None))
            return found, False
        if kind == "call":
            ends = self.call(statement[1], scope, state, 0)
            return [(after, None) for after, _ in ends], False
        if kind == "return":
            return self.values(statement[1], scope, state), True
        if kind == "if":
            return self.if_(statement, scope, state, following)
        if kind == "while":
            return self.while_(statement, scope, state), False
        return self.deopt(state, statement[1]), False

    def if_(self, statement, scope, state, following):
        returns = has_return([statement])

        def arms(number, state):
            if number == len(statement[1]):
                return self.block(statement[2], scope, state, following if returns else [])
            condition, body = statement[1][number]
            run = lambda s: self.block(body, scope, s, following if returns else [])
            ends = []
            for after, value in self.value(condition, scope, state):
                truth = self.truth(value, after)
                if truth:
                    ends += run(after)
                elif truth is False:
                    ends += arms(number + 1, after)
                else:
                    sides = []
                    for is_true, side in ((True, run), (False, lambda s: arms(number + 1, s))):
                        fork = after.fork([])
                        self.assume(value, is_true, fork)
                        code = fork.code
                        try:
                            found = side(fork)
                        except Unsupported as what:
                            fork = after.fork([])
                            code, found = fork.code, self.deopt(fork, what)
                        sides.append((code, found))
                    ends += self.branches(value, *sides, after) if not returns else self.tree(value, *sides, after)
            return ends

        return arms(0, state), returns

    def tree(self, condition, yes, no, state):
        """An `if` whose ends stay apart: each has what follows it, up to the end of the function."""
        if not yes[1]:
            state.code += [("if", condition, yes[0], []), ("code", no[0])]
        elif not no[1]:
            negated = Unknown(f"(not {condition.text})", "boolean", False, ("not", condition))
            state.code += [("if", negated, no[0], []), ("code", yes[0])]
        else:
            state.code.append(("if", condition, yes[0], no[0]))
        return yes[1] + no[1]

    def while_(self, statement, scope, state):
        _, condition, body = statement
        [(state, first)] = self.value(condition, scope, state.fork(state.code)) or [(state, FALSE)]
        if self.truth(first, state) is False:
            return [(state, None)]
        slots = [scope[name] for name in assigned_in(body)]
        start, mark = state.fork([]), len(state.code)
        names = [self.new("m") for _ in slots]
        try:
            inner = start.fork([])
            for slot, name in zip(slots, names):
                if not is_number(state.slots[slot]):
                    raise Unsupported("a loop")
                inner.slots[slot] = Unknown(name, "number", True)
            tables = {number: dict(fields) for number, fields in inner.tables.items()}
            [(inner, value)] = self.value(condition, scope, inner)
            code = inner.code
            if code:
                raise Unsupported("statements in the condition of a loop")
            self.assume(value, True, inner)
            [(inner, returned)] = self.block(body, scope, inner, [])
            if returned is not None or any(not is_number(inner.slots[slot]) for slot in slots):
                raise Unsupported("a loop")
            if {n: inner.tables[n] for n in tables} != tables:
                raise Unsupported("a table that a loop changes")
        except (Unsupported, ValueError) as what:
            del state.code[mark:]
            leave = state.fork([])
            self.deopt(leave, what)
            if self.truth(first, state) is True:
                state.code += leave.code
                return []
            state.code.append(("if", first, leave.code, []))
            self.assume(first, False, state)
            return [(state, None)]
        for slot, name in zip(slots, names):
            state.code.append(("variable", name, state.slots[slot].text))
        inner.code.append(("assign", names, [inner.slots[slot].text for slot in slots]))
        state.code.append(("while", value.text, code))
        for slot, name in zip(slots, names):
            # Under another name, of which nothing was assumed.
            state.slots[slot] = self.bind(Unknown(name, "number"), state, False)
        state.wrote = state.wrote or inner.wrote
        return [(state, None)]


MANY = {"string.find", "string.match", "string.byte"}
# What kind a value has that is one of these.
MERGES = {"float": {"number", "float"}, "number?": {"number", "nil", "number?"}}
MERGES["text?"] = {"text", "nil", "text?"}
MERGES["float?"] = {"number", "float", "nil", "number?", "float?"}
METHODS = {"byte": "number", "sub": "text", "upper": "text", "lower": "text"}
REPLIES = {command: "number" for command in NUMBER_REPLIES} | {"TIME": "table", "ZRANGE": "table"}
BUILTINS = {"string.find": "any", "string.match": "any", "string.sub": "text", "string.byte": "number",
            "string.char": "text", "math.ceil": "float", "math.abs": "number", "tonumber": "float"}


def folded(op, a, b):
    if op == "==":
        return TRUE if Known(a) == Known(b) else FALSE
    if op == "..":
        return Known(Text(f"{a}{b}"))
    if op in ("<", "<="):
        return TRUE if (a < b if op == "<" else a <= b) else FALSE
    if op == "/" and b == 0:
        return Known(float("inf"))
    if not isinstance(a, float) or not isinstance(b, float):
        raise Unsupported("arithmetic")
    return Known({"+": a + b, "-": a - b, "*": a * b, "/": a / (b or 1), "%": a % (b or 1), "^": a**b if op == "^" else 0}[op])


def formatted(arguments):
    """string.format, with the arguments that are known in its text."""
    form, *values = arguments
    if not isinstance(form, Known):
        return Unknown(f"format({','.join(v.text for v in arguments)})", "text")
    parts = re.split(r"(%(?:%|[-+ #0]*\d*(?:\.\d+)?[a-z]))", form.value)
    kept = []
    for number in range(1, len(parts), 2):
        if parts[number] == "%%":
            continue
        value = values.pop(0)
        if isinstance(value, Known) and parts[number] in ("%d", "%s", "%.0f") and value.value is not None:
            parts[number] = str(value.value) if isinstance(value.value, Text) else f"{value.value:.0f}"
            parts[number] = parts[number].replace("%", "%%")
        else:
            kept.append(value.text)
    text = "".join(parts)
    if not kept:
        return Known(Text(text.replace("%%", "%")))
    return Unknown(f"format('{text}',{','.join(kept)})", "text")


def names_in(text):
    return re.findall(r"\b[vpm]\d+\b", re.sub(r"'(?:[^'\\]|\\.)*'", "", text))


def texts_of(code, in_loop=False):
    """The texts that use names: each with whether it is in a loop."""
    for entry in code:
        kind = entry[0]
        if kind == "code":
            yield from texts_of(entry[1], in_loop)
        elif kind == "if":
            yield entry[1].text, in_loop
            yield from texts_of(entry[2], in_loop)
            yield from texts_of(entry[3], in_loop)
        elif kind == "while":
            yield entry[1], True
            yield from texts_of(entry[2], True)
        elif kind == "assign":
            for text in entry[2]:
                yield text, True
        elif kind == "return":
            yield entry[1], in_loop
        elif entry[2] is not None:
            yield entry[2], in_loop


def without_unused(code):
    """Drops names that nothing uses, and puts a value that is used once where it is used."""
    while True:
        uses = {}
        for text, in_loop in texts_of(code):
            for name in names_in(text):
                uses[name] = uses.get(name, 0) + (2 if in_loop else 1)
        once, changed = {}, False

        def drop(entries):
            nonlocal changed
            kept = []
            for entry in entries:
                kind = entry[0]
                if kind == "code":
                    kept += drop(entry[1])
                elif kind == "if":
                    yes, no = drop(entry[2]), drop(entry[3])
                    if yes or no:
                        kept.append(("if", entry[1], yes, no))
                    else:
                        changed = True
                elif kind == "while":
                    kept.append(("while", entry[1], drop(entry[2])))
                elif kind == "set" and not uses.get(entry[1]):
                    changed = True
                elif kind == "local" and entry[3] and not any(uses.get(name) for name in entry[1]):
                    changed = True
                elif (
                    kind == "local" and entry[3] and entry[2] is not None and len(entry[1]) == 1
                    and uses.get(entry[1][0]) == 1 and not re.search(r"\b[mp]\d", entry[2])
                ):
                    once[entry[1][0]] = entry[2]
                    changed = True
                else:
                    kept.append(entry)
            return kept

        code = drop(code)
        if not changed:
            return code
        put = lambda text: re.sub(r"'(?:[^'\\]|\\.)*'|\bv\d+\b", lambda m: put(once[m[0]]) if m[0] in once else m[0], text)

        def replaced(entries):
            found = []
            for entry in entries:
                if entry[0] == "if":
                    found.append(("if", Unknown(put(entry[1].text)), replaced(entry[2]), replaced(entry[3])))
                elif entry[0] == "while":
                    found.append(("while", entry[1], replaced(entry[2])))
                elif entry[0] == "return":
                    found.append(("return", put(entry[1])))
                elif entry[0] == "assign":
                    found.append(entry)
                elif entry[2] is None:
                    found.append(entry)
                else:
                    found.append((entry[0], entry[1], put(entry[2]), *entry[3:]))
            return found

        code = replaced(code)


def bare(text):
    """Without parentheses around the whole."""
    if not text.startswith("("):
        return text
    depth = 0
    for at, part in enumerate(re.findall(r"'(?:[^'\\]|\\.)*'|[^']", text)):
        depth += (part == "(") - (part == ")")
        if depth == 0:
            whole = len("".join(re.findall(r"'(?:[^'\\]|\\.)*'|[^']", text)[: at + 1])) == len(text)
            return bare(text[1:-1]) if whole else text
    return text


def printed(code):
    lines = []
    for entry in code:
        kind = entry[0]
        if kind == "if":
            _, condition, yes, no = entry
            text = bare(condition.text)
            if not yes:
                text, yes, no = f"not {condition.text}", no, []
            if text.startswith("not (not "):
                text = bare(text[9:-1])
            lines += [f"if {text} then", *printed(yes), *(["else", *printed(no)] if no else []), "end"]
        elif kind == "while":
            lines += [f"while {bare(entry[1])} do", *printed(entry[2]), "end"]
        elif kind == "return":
            lines.append(f"return {bare(entry[1])}".rstrip())
        elif kind == "assign":
            lines.append(f"{','.join(entry[1])}={','.join(bare(text) for text in entry[2])}")
        elif kind == "set":
            lines.append(f"{entry[1]}={bare(entry[2])}")
        elif kind == "variable":
            lines.append(f"local {entry[1]}={bare(entry[2])}")
        elif entry[2] is None:
            lines.append(f"local {','.join(entry[1])}")
        elif entry[3] or any(True for _ in entry[1]):
            lines.append(f"local {','.join(entry[1])}={bare(entry[2])}")
    return lines


def text_in(value, state):
    """The code of a value; of a table with the elements of an array, a table."""
    if not isinstance(value, Table):
        return value.text
    fields = state.tables[value.number]
    return "{" + ",".join(fields[n].text for n in sorted(fields)) + "}"


def fast_path(items, name):
    """The body of a function of K and A that does what `name` does, or returns nothing before it has changed anything."""
    specialiser = Specialiser(items)
    state = specialiser.start
    function = state.slots[specialiser.scope[name]]
    for after, values in specialiser.inlined(function, [Unknown("K", "table", True), Unknown("A", "table", True)], state):
        after.code.append(("return", text_in(values[0], after)))
    lines = printed(without_unused(specialiser.code))
    text = "\n".join(lines)
    if "%.0f" in text:
        text = IF_SHORT_LONG + text.replace("%.0f", "%d")
    used = [name for name in sorted(BUILTINS) + ["string.format", "redis.call"] if re.search(rf"(?<![.:\w]){name.split('.')[-1]}\(", text)]
    locals_ = [name for name in used if "." in name]
    head = f"local {','.join(n.split('.')[-1] for n in locals_)}={','.join(locals_)}"
    return f"{head}\n{text}"
