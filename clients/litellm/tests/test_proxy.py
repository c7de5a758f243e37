"""The real proxy with the hook: limits, settlements, and how calls end."""

from __future__ import annotations

import base64
import contextlib
import http.client
import itertools
import json
import os
import pathlib
import re
import secrets
import signal
import socket
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from urllib.parse import quote

import pytest
import redis
from server import ROOT, Forwarder, Server, binaries, eventually, free_ports, spawn
from upstream import Upstream

HERE = pathlib.Path(__file__).parent
START = 300  # seconds, for the import on a machine with other work
NAMES = itertools.count()
# One window of a minute is longer than a test; no test waits for it.
TTL = "20s"


class Address(Forwarder):
    """The server, as the workers see it."""

    def leads_to(self, port):
        self.target = port
        self.end(self.ends)


class Gateway:
    """Four workers, a fifth that fails closed and whose reservations end soon, and one as in the example."""

    def __init__(self, stack):
        self.server = stack.enter_context(contextlib.closing(Server(binaries()[0])))
        self.address = stack.enter_context(contextlib.closing(Address(self.server.port)))
        self.directory = stack.enter_context(tempfile.TemporaryDirectory())
        # What connects to it is counted, and gets no reply.
        self.elsewhere = stack.enter_context(socket.create_server(("127.0.0.1", 0)))
        upstream, *self.ports = free_ports(7)
        self.upstream = Upstream(upstream)
        words = []
        for at, port in enumerate(self.ports):
            special = at == 4
            environment = {"RL_TTL": "2s" if special else TTL, "RL_FAIL_OPEN": "no" if special else "yes"}
            if at == 5:
                environment = {
                    "CONFIG_FILE_PATH": str(HERE.parent / "example/config.yaml"),
                    "GATEWAY_KEY": "sk-example",
                    "OPENAI_API_KEY": "none",
                    "OPENAI_BASE_URL": f"http://127.0.0.1:{upstream}",
                    "REDIS_URL": f"redis://127.0.0.1:{self.server.port}",
                }
            words += [str(port), json.dumps(environment)]
        os.environ.update(
            UPSTREAM=f"http://127.0.0.1:{upstream}",
            OPENAI_API_BASE=f"http://127.0.0.1:{upstream}",
            OPENAI_API_KEY="none",
            ELSEWHERE=str(self.elsewhere.getsockname()[1]),
            RL_PORT=str(self.address.port),
            LITELLM_MASTER_KEY=f"sk-{secrets.token_hex(32)}",
            PYTHONPATH=os.pathsep.join(map(str, [HERE, HERE.parent, ROOT / "clients/python"])),
        )
        command = [sys.executable, HERE / "workers.py", HERE / "config.yaml", self.directory, *words]
        self.process = spawn(command, self.directory, "log")
        stack.callback(self.stop)
        for port in self.ports:
            eventually(lambda port=port: self.is_ready(port), f"worker {port}:\n{self.log()[-3000:]}", START)

    def pid(self, port):
        return int((pathlib.Path(self.directory) / f"{port}.pid").read_text())

    def stop(self):
        for file in pathlib.Path(self.directory).glob("*.pid"):
            with contextlib.suppress(ProcessLookupError):
                os.kill(int(file.read_text()), signal.SIGKILL)
        self.process.kill()
        self.process.wait()

    def log(self):
        return (pathlib.Path(self.directory) / "log").read_text()

    def is_ready(self, port):
        assert self.process.poll() is None, self.log()[-3000:]
        try:
            connection = http.client.HTTPConnection("127.0.0.1", port, timeout=START)
            connection.request("GET", "/health/liveliness")
            return connection.getresponse().status == 200
        except OSError:
            return False


@pytest.fixture(scope="session")
def gateway():
    with contextlib.ExitStack() as stack:
        yield Gateway(stack)


def reply(connection):
    with contextlib.closing(connection):
        response = connection.getresponse()
        return response.status, {name.lower(): value for name, value in response.getheaders()}, response.read()


class Caller:
    """A user in a team of an organisation, with keys that no other test has."""

    def __init__(self, gateway, **limits):
        self.gateway, self.limits, self.more = gateway, limits, {}
        # The names need no care: a brace would end the hash tag.
        self.org = f"acme}}{next(NAMES)}"
        self.at = 0

    def headers(self):
        caller = {"user": "alice", "team": "search", "org": self.org, "limits": self.limits, **self.more}
        key = "sk-" + base64.urlsafe_b64encode(json.dumps(caller).encode()).decode()
        return {"Authorization": f"Bearer {key}", "Content-Type": "application/json"}

    def send(self, path, body, at=0):
        """Sends a call of any API, and returns the connection."""
        connection = http.client.HTTPConnection("127.0.0.1", self.gateway.ports[at], timeout=60)
        connection.request("POST", path, json.dumps(body), self.headers())
        return connection

    def open(self, at=0, stream=False, longest=64, model="fake", **wanted):
        body = {"model": model, "messages": [{"role": "user", "content": json.dumps(wanted)}], "max_tokens": longest}
        if stream:
            body |= {"stream": True, "stream_options": {"include_usage": True}}
        return self.send("/v1/chat/completions", body, at)

    def post(self, path, body):
        """The status, the headers and the body of a call of any API."""
        return reply(self.send(path, body))

    def call(self, **wanted):
        return reply(self.open(**wanted))

    def key(self, kind="user"):
        name = {"user": "alice", "team": "search", "org": self.org}[kind].replace("}", "%7D")
        return f"llm:{{{self.org.replace('}', '%7D')}}}:{kind}:{name}"

    def peek(self, what, kind="user"):
        call = self.gateway.server.call
        return call("RL.PEEK", "ROLLING", f"{self.key(kind)}:{what}", "1m", 10**9, "COST", 0)[1]

    def counted(self, kind="user"):
        """The requests, the tokens and the leases that are counted."""
        leases = self.gateway.server.call("ZCARD", f"{self.key(kind)}:concurrent")
        return self.peek("requests", kind), self.peek("tokens", kind), leases

    def spent(self):
        """The tokens of prompts and of outputs that are counted, and what they cost."""
        budget = self.gateway.server.call("GET", f"llm:{{{self.org}}}:budget")
        return self.peek("input"), self.peek("output"), int(budget or 0)

    def released(self):
        eventually(lambda: self.counted()[2] == 0, f"the lease is released:\n{self.gateway.log()[-3000:]}")
        return self.counted()

    def becomes(self, *expected, kind="user", patience=5):
        with contextlib.suppress(AssertionError):
            eventually(lambda: self.counted(kind) == expected, "counted", patience)
        assert self.counted(kind) == expected, self.gateway.log()[-3000:]


LIMITS = {"requests": 100, "tokens": 100_000, "concurrent": 10}


MESSAGES = [{"role": "user", "content": '{"usage": 700}'}]
# A name that the API may not know makes the estimate no smaller than that of a call that says nothing, 1024.
PASSED_ON = {"model": "fake", "messages": MESSAGES, "max_tokens": 1}
GEMINI = "/v1beta/models/gemini"


def contents(text):
    return {"contents": [{"role": "user", "parts": [{"text": text}]}]}


@pytest.mark.parametrize(
    ("send", "status", "tokens"),
    [
        (lambda caller: caller.call(usage=700), 200, range(700, 701)),
        (lambda caller: caller.call(stream=True, usage=700), 200, range(700, 701)),
        # The prompt and 50 words; the estimate is the prompt and 64 tokens.
        (lambda caller: caller.call(stream=True, words=50), 200, range(50, 90)),
        # A call that the model rejects uses no tokens, nor one to which there is no connection.
        *[
            (lambda caller, stream=stream, error=error: caller.call(stream=stream, status=error), error, range(1))
            for stream in (False, True)
            for error in (400, 429, 500)
        ],
        (lambda caller: caller.call(model="away"), 500, range(1)),
        (lambda caller: caller.post("/openai/chat/completions", PASSED_ON), 200, range(1024, 1074)),
        (
            lambda caller: caller.post("/openai/chat/completions", {**PASSED_ON, "stream": True}),
            200,
            range(1024, 1074),
        ),
        (lambda caller: caller.post(f"{GEMINI}:generateContent", contents("hi")), 200, range(700, 701)),
        (lambda caller: caller.post(f"{GEMINI}:streamGenerateContent", contents("hi")), 200, range(700, 701)),
        # Its usage at the beginning says 2, and 50 words come after it.
        (lambda caller: caller.post(f"{GEMINI}:streamGenerateContent", contents("early")), 200, range(52, 60)),
    ],
)
def test_the_tokens_that_are_settled(gateway, send, status, tokens):
    caller = Caller(gateway, user=LIMITS, team=LIMITS, org=LIMITS)
    for number in (1, 2):
        before = caller.counted()[1]
        found, headers, body = send(caller)
        assert found == status or status == 500 <= found, body
        if status == 200:
            assert b"word" in body
            assert headers["ratelimit-policy"].startswith('"user-requests";q=100;w=60, "user-tokens";q=100000;w=60')
        counted = caller.released()
        assert (counted[0], counted[1] - before in tokens) == (number, True), (counted, before)
        for kind in ("team", "org"):
            caller.becomes(*counted, kind=kind)


def test_teams_share_what_is_idle_of_a_model(gateway):
    caller = Caller(gateway, user={"requests": 100})
    key = f"llm:{{{quote(f'fake of {caller.org}', safe='')}}}:model"

    def call(team, **wanted):
        caller.more = {"team": team, "part": 1000, "whole": 2000}
        return caller.call(**wanted)

    def counted():
        """What is counted of the part of a team, and of the whole."""
        keys = [(f"{key}:ads", 1000), (key, 2000)]
        return [gateway.server.call("RL.PEEK", "TOKEN", at, "365d", limit, "COST", 0)[1] for at, limit in keys]

    def becomes(*expected):
        with contextlib.suppress(AssertionError):
            eventually(lambda: counted() == list(expected), "settled", 5)
        assert counted() == list(expected), gateway.log()[-3000:]

    status, headers, _ = call("ads", usage=900)
    assert (status, headers["ratelimit-policy"].split(";")[0]) == (200, '"user-requests"'), headers
    assert '"team-share";q=1000;w=31536000' in headers["ratelimit-policy"]
    becomes(900, 900)
    # A call that the model rejects uses no tokens.
    assert call("ads", status=400)[0] == 400
    becomes(900, 900)
    # What the others leave: the whole pays, and settles.
    status, headers, _ = call("ads", usage=1000, longest=200)
    assert (status, '"model";q=2000;w=31536000' in headers["ratelimit-policy"]) == (200, True), headers
    becomes(900, 1900)
    # If none allows, the request is not counted either.
    requests = caller.peek("requests")
    status, headers, body = call("ads", longest=200)
    assert (status, b"model" in body, "retry-after" in headers) == (429, True, True), body
    eventually(lambda: caller.peek("requests") == requests, "the reservation is cancelled")
    becomes(900, 1900)
    # Another team has its part all the same, streaming too.
    assert call("search", stream=True, usage=700)[0] == 200
    becomes(900, 2600)


def test_each_limit_counts_what_it_is_of(gateway):
    caller = Caller(gateway, user={"requests": 100, "input": 1000, "output": 1000, "concurrent": 5})
    caller.org = caller.org.replace("}", "-")
    caller.more = {"budget": 5_000}

    def spent(**wanted):
        """The tokens of the prompt and of the output that a call is charged, and what they cost."""
        before = caller.spent()
        assert caller.call(longest=200, **wanted)[0] == wanted.get("status", 200)
        caller.released()
        return tuple(after - since for after, since in zip(caller.spent(), before, strict=True))

    # 1 token of the prompt, and 100 of the output.
    assert spent(usage=101) == spent(usage=101, stream=True) == (1, 100, 401)
    # Without usage, the prompt and the words are counted.
    prompt, output, cost = spent(stream=True, words=50)
    assert (5 < prompt < 60, 50 <= output < 60, cost) == (True, True, prompt + 4 * output)
    # A rejected call costs nothing, and one that cannot be priced afterwards its estimate.
    assert spent(status=400) == (0, 0, 0)
    prompt, output, cost = spent(usage=14)
    assert prompt > 1  # the model reported 1
    assert (output, cost) == (200, prompt + 800)
    assert "the estimate of a call stays charged: ValueError: no price" in gateway.log()
    for budget, longest, name in [(9_000, 801, "user-output"), (2_000, 400, "budget")]:
        caller.more = {"budget": budget}
        status, headers, body = caller.call(longest=longest)
        assert (status, name in body.decode()) == (429, True), body
        assert f'"{name}"' in headers["ratelimit"]


@pytest.mark.parametrize(
    ("limits", "name"),
    [
        ({"user": {**LIMITS, "requests": 1}}, "user-requests"),
        ({"user": LIMITS, "team": {**LIMITS, "tokens": 150}}, "team-tokens"),
        ({"user": LIMITS, "team": LIMITS, "org": {**LIMITS, "concurrent": 1}}, "org-concurrent"),
    ],
)
def test_a_call_that_a_limit_denies(gateway, limits, name):
    caller = Caller(gateway, **limits)
    first = caller.open(before=3 if name == "org-concurrent" else 0, usage=80)
    if name == "org-concurrent":
        eventually(lambda: caller.counted()[2] == 1, "the first call runs")
    else:
        assert first.getresponse().status == 200
        caller.becomes(1, 80, 0)
    before = caller.counted(), gateway.upstream.calls
    status, headers, body = caller.call()
    assert (status, name in body.decode()) == (429, True), body
    assert json.loads(body)["error"]["code"] == "429"
    assert 1 <= int(headers["retry-after"]) <= 61
    assert f'"{name}"' in headers["ratelimit"]
    assert (caller.counted(), gateway.upstream.calls) == before
    first.close()


@pytest.mark.parametrize(
    ("path", "more"),
    [
        ("chat/completions", {"max_tokens": 2000}),
        ("chat/completions", {"max_tokens": 2000.0}),
        ("chat/completions", {"max_tokens": "2000"}),
        ("chat/completions", {"max_tokens": 10**30}),
        ("chat/completions", {"max_tokens": 2**63 - 1}),
        ("chat/completions", {"max_tokens": 2**62, "n": 2**62}),
        ("chat/completions", {"max_tokens": 2000, "max_completion_tokens": 1}),
        ("chat/completions", {"max_tokens": 20, "n": 100}),
        ("chat/completions", {"max_tokens": -1, "n": 2}),
        ("completions", {"max_tokens": 20, "best_of": 100, "prompt": "hi"}),
        ("completions", {"max_tokens": 20, "prompt": ["hi"] * 100}),
        ("completions", {"max_tokens": 1, "prompt": "word " * 2000, "messages": []}),
        ("responses", {"input": "hi", "max_output_tokens": 2000}),
        ("responses", {"input": "word " * 100}),  # and 1024 of an output that says nothing
        ("messages", {"max_tokens": 1, "system": "word " * 2000, "messages": MESSAGES}),
    ],
)
def test_a_call_that_may_need_more_tokens_than_are_left(gateway, path, more):
    caller, calls = Caller(gateway, user={**LIMITS, "tokens": 1100}), gateway.upstream.calls
    body = {"model": "fake"} | ({"messages": MESSAGES} if path == "chat/completions" else {}) | more
    status, _, reply = caller.post(f"/v1/{path}", body)
    assert (status, b"user-tokens" in reply) == (429, True), reply
    assert (caller.counted(), gateway.upstream.calls) == ((0, 0, 0), calls)


@pytest.mark.parametrize(
    "more",
    [
        {"num_retries": 4},
        {"router_settings_override": {"num_retries": 4}},
        {"model_group_retry_policy": {"fake": {"TimeoutErrorRetries": 4}}},
    ],
)
def test_a_caller_cannot_make_several_calls_of_one(gateway, more):
    caller, calls = Caller(gateway, user=LIMITS), gateway.upstream.calls
    messages = [{"role": "user", "content": '{"before": 60}'}]
    body = {"model": "fake", "messages": messages, "max_tokens": 500, "timeout": 0.5}
    assert caller.post("/v1/chat/completions", body | more)[0] == 408
    assert gateway.upstream.calls <= calls + 1
    assert caller.released()[1] > 500


def test_a_call_of_several_models(gateway):
    caller, calls = Caller(gateway, user={**LIMITS, "requests": 2}), gateway.upstream.calls
    status, _, body = caller.post("/v1/chat/completions", {"model": "fake,fake,fake", "messages": MESSAGES})
    assert (status, b"name one model" in body) == (400, True), body
    assert (caller.counted(), gateway.upstream.calls) == ((0, 0, 0), calls)


@pytest.mark.parametrize("named", ["an image", "a tokenizer"])
def test_what_a_caller_names_is_not_opened_before_the_limits(gateway, named):
    caller, elsewhere = Caller(gateway, user={**LIMITS, "requests": 0}), gateway.elsewhere
    url = f"http://127.0.0.1:{elsewhere.getsockname()[1]}/a.png"
    image = {"type": "image_url", "image_url": {"url": url, "detail": "high"}}
    messages = [{"role": "user", "content": [image]}] if named == "an image" else MESSAGES
    # litellm downloads the tokenizer of this model.
    model = "llama-3" if named == "a tokenizer" else "fake"
    elsewhere.settimeout(0.1)
    with ThreadPoolExecutor(1) as pool:
        reply = pool.submit(caller.post, "/v1/chat/completions", {"model": model, "messages": messages})
        while not reply.done():
            with contextlib.suppress(TimeoutError):
                elsewhere.accept()[0].close()
                pytest.fail("there is a connection")
    status, _, body = reply.result()
    assert (status, b"user-requests" in body) == (429, True), body


def test_a_lease_that_ends_before_the_call_is_logged(gateway):
    caller = Caller(gateway, user={**LIMITS, "lease": "1s"})
    calls = gateway.upstream.calls
    connection = caller.open(stream=True, words=1, before=2)
    eventually(lambda: gateway.upstream.calls > calls, "the model works", START)
    gateway.server.text("DEL", f"{caller.key()}:concurrent")
    assert b"word" in connection.getresponse().read()
    connection.close()
    eventually(lambda: "the lease of a call ended before the call" in gateway.log(), "the log has a line")


def test_the_example(gateway):
    port, key = gateway.ports[5], "sk-example"
    server = gateway.server

    def call(key):
        connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
        body = {"model": "gpt-4o", "messages": [{"role": "user", "content": '{"usage": 700}'}]}
        headers = {"Authorization": f"Bearer {key}", "Content-Type": "application/json"}
        connection.request("POST", "/v1/chat/completions", json.dumps(body), headers)
        status, headers, _ = reply(connection)
        return status, headers.get("ratelimit-policy", "").count(";q=")

    assert call("sk-other")[0] == 401
    # Its timeout is 0.1 s, and the first call imports for seconds.
    eventually(lambda: call(key) == (200, 9), f"three limits of each scope:\n{gateway.log()[-3000:]}", 30)
    tokens = ["RL.PEEK", "ROLLING", "llm:{acme}:team:search:tokens", "1m", 10**9, "COST", 0]
    eventually(lambda: server.call("ZCARD", "llm:{acme}:user:alice:concurrent") == 0, "the leases are released")
    eventually(lambda: server.call(*tokens)[1] % 700 == 0, "the tokens are settled")
    assert server.call(*tokens)[1] > 0


def test_the_readme_shows_the_example(gateway):
    page = (HERE.parent / "README.md").read_text()
    policies, *others = re.findall(r"```python\n(.*?)```", page, re.S)
    [budget] = [block for block in others if "budget" in block]
    assert not set(policies.splitlines()) - set((HERE.parent / "example/gateway.py").read_text().splitlines())
    found = {}
    exec(budget, found)
    reply = gateway.server.call(
        "RL.MULTI", 1, *(3500 if callable(word) else word for word in found["budget"]("readme"))
    )
    assert reply[0] == 1
    assert found["price"]("gpt-4o", 100, 10) == 450


def test_a_caller_who_hangs_up(gateway):
    for stream, before, pause, words, tokens in [
        (True, 0, 0.1, 600, range(1, 250)),  # the prompt, and what was streamed
        (True, 60, 0, 3, None),  # nothing was streamed: the estimate
        (False, 60, 0, 3, None),
    ]:
        caller = Caller(gateway, user=LIMITS)
        eventually(lambda: gateway.upstream.active == 0, "the calls before have ended")
        active = 0
        connection = caller.open(stream=stream, before=before, pause=pause, words=words, longest=5000)
        eventually(lambda active=active: gateway.upstream.active > active, "the model works", START)
        if tokens:
            connection.getresponse().read(500)
        requests, estimate, leases = caller.counted()
        assert (requests, leases) == (1, 1)
        assert estimate > 5000
        begin = time.monotonic()
        connection.sock.shutdown(2)
        connection.close()
        eventually(lambda caller=caller: caller.counted()[2] == 0, f"no lease:\n{gateway.log()[-3000:]}", 5)
        assert time.monotonic() - begin < 1
        charged = caller.counted()
        assert charged[0] == 1
        assert charged[1] in tokens if tokens else charged[1] == estimate
        eventually(lambda active=active: gateway.upstream.active <= active, f"the model stops: {(stream, before)}", 5)


def test_many_streams_of_many_workers_stay_below_the_limits(gateway):
    # So many streams have time to run at once.
    at_once, at_least, tokens, pause = 50, 40, 9_000, 0.6
    # Estimates are 100 tokens and the prompt; half of the calls use 40 more than that.
    user = {"requests": 1000, "tokens": tokens + 500, "concurrent": at_once + 5}
    team, org = {**user, "tokens": tokens}, {**user, "tokens": tokens + 2_500, "concurrent": at_once}
    caller = Caller(gateway, user=user, team=team, org=org)
    prompt = 60  # at most

    def stream(number):
        usage = 140 + prompt if number % 2 else 60
        return caller.call(at=number % 4, stream=True, longest=100, words=10, pause=pause, usage=usage)[0]

    for at in range(4):
        # The first call of a worker imports for seconds, and blocks all others.
        assert Caller(gateway).call(at=at, stream=True)[0] == 200
    before, gateway.upstream.most = gateway.upstream.tokens, 0
    with ThreadPoolExecutor(75) as pool:
        found = list(pool.map(stream, range(75)))
    assert "failing open" not in gateway.log()
    allowed = [number for number, status in enumerate(found) if status == 200]
    assert set(found) == {200, 429}, gateway.log()[-3000:]
    assert len(allowed) >= 15
    used = sum(140 + prompt if number % 2 else 60 for number in allowed)
    # What a call uses beyond its estimate, which is at least 100, is above the limit at most.
    excess = sum(40 + prompt for number in allowed if number % 2)
    assert used <= tokens + excess
    assert abs(gateway.upstream.tokens - before - used) < 1
    assert at_least <= gateway.upstream.most <= at_once
    for kind in ("user", "team", "org"):
        caller.becomes(len(allowed), used, 0, kind=kind)


OPEN, CLOSED = 0, 4  # workers that fail open and closed


def is_decided(caller, at):
    """Whether a call is decided by the server."""
    before = caller.counted()[0]
    return caller.call(at=at)[0] == 200 and caller.counted()[0] > before


# What begins it, what ends it, and what the log says. As docs/failure.md says.
CANNOT_DECIDE = {
    "no connection": (
        lambda it: it.address.leads_to(1),
        lambda it: it.address.leads_to(it.server.port),
        "ConnectionError",
    ),
    "it hangs": (lambda it: it.server.pause(), lambda it: it.server.resume(), "TimeoutError: no reply within 0.5 s"),
}


@pytest.mark.parametrize("fault", CANNOT_DECIDE)
def test_the_server_cannot_decide(gateway, fault):
    caller = Caller(gateway, user=LIMITS)
    for at in (OPEN, CLOSED):
        # The first call of a worker imports for seconds.
        eventually(lambda at=at: is_decided(caller, at), "the server decides", START)
    begins, ends, log = CANNOT_DECIDE[fault]
    begin, calls, caller.more = len(gateway.log()), gateway.upstream.calls, {"timeout": 0.5}
    begins(gateway)
    try:
        started = time.monotonic()
        assert caller.call(at=OPEN)[0] == 200
        status, _, body = caller.call(at=CLOSED)
        assert (status, b"cannot be checked" in body) == (503, True), body
        assert time.monotonic() - started < 3
    finally:
        ends(gateway)
    assert gateway.upstream.calls == calls + 1
    caller.more = {}
    for at in (OPEN, CLOSED):
        eventually(lambda at=at: is_decided(caller, at), f"{fault}: the server decides again")
    said = gateway.log()[begin:]
    for outcome in ("failing open", "failing closed"):
        assert f"no decision, {outcome}: {log}" in said, said


def test_a_call_without_a_reply_is_charged_once_or_not_at_all(gateway):
    address = gateway.address
    for at, status, expected in [(OPEN, 200, (1, 700, 0)), (CLOSED, 503, (0, 0, 0))]:
        caller = Caller(gateway, user=LIMITS)
        address.word, address.lost, address.times = b"RL.MULTI", 0, 1
        assert caller.call(at=at, usage=700)[0] == status
        assert address.lost == 1
        caller.becomes(*expected)


def rejected(caller, log):
    """Both workers reject the call, and the model is not called."""
    gateway = caller.gateway
    begin, calls = len(gateway.log()), gateway.upstream.calls
    for at in (OPEN, CLOSED):
        status, _, body = caller.call(at=at)
        assert (status, b"configured wrongly" in body) == (500, True), body
    assert gateway.upstream.calls == calls
    time.sleep(0.05)
    assert log in gateway.log()[begin:], gateway.log()[begin:]


@pytest.mark.parametrize(
    ("wrong", "log"),
    [
        ("a bucket", "ValueError: policy: TOKEN takes no reservation"),
        ("a window", "ValueError: window: expected a positive integer of seconds"),
        ("a policy", "ValueError: policy: expected an algorithm, a window and a limit"),
        ("a price", "KeyError: 'fake'"),
        ("one key", "ValueError: policies: two limits of one key"),
        ("two keys", "ResponseError: "),
        ("no policies", "TypeError: "),
    ],
)
def test_a_wrong_configuration_is_loud(gateway, wrong, log):
    time.sleep(1)  # the log has each kind of error once a second
    caller = Caller(gateway, user=LIMITS)
    caller.org = caller.org.replace("}", "-")
    caller.more = {"wrong": wrong}
    rejected(caller, f"a fault of the configuration: {log}")
    assert caller.counted() == (0, 0, 0)


def test_a_server_without_the_module(gateway):
    """Nothing undoes what a script has charged, so a settlement says what was reserved and when, and is sent once."""
    first, caller, begin = Caller(gateway, user=LIMITS), Caller(gateway, user=LIMITS), len(gateway.log())
    options = ("--slowlog-log-slower-than", "0", "--slowlog-max-len", "10000")
    with (
        contextlib.closing(Server(binaries()[0], *options, module=False)) as server,
        redis.Redis(port=server.port) as client,
    ):

        def sent(verb):
            """The words of the caller's scripts with a verb."""
            calls = [entry["command"].decode(errors="replace").split() for entry in client.slowlog_get(10_000)]
            scripts = [words for words in calls if words[0] == "EVALSHA" and words[3].startswith(caller.key())]
            return [words for words in scripts if verb in words]

        gateway.address.leads_to(server.port)
        try:
            for at in (OPEN, CLOSED):
                # The connections break once. Then the scripts decide.
                eventually(lambda at=at: first.call(at=at)[0] == 200, "the scripts decide")
            assert caller.call(at=CLOSED, usage=700)[0] == 200
            eventually(lambda: len(sent("SETTLE")) == 2 and sent("RELEASE"), f"it settles:\n{gateway.log()[begin:]}")
            [reserved], settled = sent("MULTI"), sent("SETTLE")
        finally:
            gateway.address.leads_to(gateway.server.port)
    estimate = reserved[reserved.index("COST") + 1]
    ends = {words[3].rsplit(":", 1)[1]: words[words.index("RESERVED") :] for words in settled}
    assert ends["tokens"][:5] == ["RESERVED", estimate, "ACTUAL", "700", "AT"]
    assert ends["requests"] == ["RESERVED", "1", "ACTUAL", "1", *ends["tokens"][4:]]
    assert abs(int(ends["tokens"][5]) - time.time() * 1000) < 60_000
    said = gateway.log()[begin:]
    assert said.count("no module: the Lua scripts decide") == 2, said  # once in each worker
    for at in (OPEN, CLOSED):
        eventually(lambda at=at: is_decided(caller, at), "the server decides again")


def test_messages_that_are_none_are_no_fault_of_the_configuration(gateway):
    caller = Caller(gateway, user=LIMITS)
    status, _, body = caller.post("/v1/chat/completions", {"model": "fake", "messages": [1, 2]})
    assert (status, b"configured wrongly" in body) != (500, True)
    caller.released()


def test_what_a_killed_worker_held_comes_back(gateway):
    caller = Caller(gateway, user={"requests": 2, "tokens": 200, "concurrent": 1, "lease": "1s"})
    connection = caller.open(at=4, stream=True, before=60, longest=100)
    eventually(lambda: caller.counted()[2] == 1, "the call runs")
    # Its lease is renewed.
    time.sleep(1.5)
    assert caller.counted()[2] == 1
    assert caller.call(longest=100)[0] == 429
    os.kill(gateway.pid(gateway.ports[4]), signal.SIGKILL)
    killed = time.monotonic()
    # Its reservations end 2 s after it began, its lease 1 s after it was renewed.
    eventually(lambda: caller.call(longest=100, usage=9)[0] == 200, "all is back", 10)
    assert time.monotonic() - killed < 3
    caller.becomes(1, 9, 0)
    # Nothing of it is counted later.
    time.sleep(0.5)
    assert caller.counted() == (1, 9, 0)
    connection.close()
