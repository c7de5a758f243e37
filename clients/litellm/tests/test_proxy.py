"""The real proxy with the hook: limits, settlements, and how calls end."""

from __future__ import annotations

import base64
import contextlib
import http.client
import itertools
import json
import os
import pathlib
import secrets
import signal
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor

import pytest
from server import ROOT, LosingReplies, Server, binaries, eventually, free_port, free_ports, spawn
from upstream import Upstream

HERE = pathlib.Path(__file__).parent
START = 120  # seconds, for the import on a machine with other work
NAMES = itertools.count()
# One window of a minute is longer than a test; no test waits for it.
TTL = "20s"


class Address(LosingReplies):
    """The server, as the workers see it."""

    def __init__(self, port):
        self.real = port
        super().__init__(port, b"RL.SETTLE", 0)

    def leads_to(self, port):
        self.target = port
        for end in self.ends:
            with contextlib.suppress(OSError):
                end.shutdown(2)


class Gateway:
    """Four workers, and a fifth that fails closed and whose reservations end soon."""

    def __init__(self, stack):
        self.server = stack.enter_context(contextlib.closing(Server(binaries()[0])))
        self.address = stack.enter_context(contextlib.closing(Address(self.server.port)))
        self.directory = stack.enter_context(tempfile.TemporaryDirectory())
        upstream, *self.ports = free_ports(6)
        self.upstream = Upstream(upstream)
        words = []
        for at, port in enumerate(self.ports):
            special = at == 4
            environment = {"RL_TTL": "2s" if special else TTL, "RL_FAIL_OPEN": "no" if special else "yes"}
            words += [str(port), json.dumps(environment)]
        os.environ.update(
            UPSTREAM=f"http://127.0.0.1:{upstream}",
            RL_PORT=str(self.address.port),
            RL_TIMEOUT="30",
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


class Caller:
    """A user in a team of an organisation, with keys that no other test has."""

    def __init__(self, gateway, **limits):
        self.gateway, self.limits = gateway, limits
        # The names need no care: a brace would end the hash tag.
        self.org = f"acme}}{next(NAMES)}"
        self.at = 0

    def headers(self):
        caller = {"user": "alice", "team": "search", "org": self.org, "limits": self.limits}
        key = "sk-" + base64.urlsafe_b64encode(json.dumps(caller).encode()).decode()
        return {"Authorization": f"Bearer {key}", "Content-Type": "application/json"}

    def open(self, at=0, stream=False, longest=64, **wanted):
        """Sends a call, and returns the connection."""
        connection = http.client.HTTPConnection("127.0.0.1", self.gateway.ports[at], timeout=60)
        body = {"model": "fake", "messages": [{"role": "user", "content": json.dumps(wanted)}], "max_tokens": longest}
        if stream:
            body |= {"stream": True, "stream_options": {"include_usage": True}}
        connection.request("POST", "/v1/chat/completions", json.dumps(body), self.headers())
        return connection

    def call(self, **wanted):
        """The status, the headers and the body of a call."""
        connection = self.open(**wanted)
        try:
            response = connection.getresponse()
            return response.status, {name.lower(): value for name, value in response.getheaders()}, response.read()
        finally:
            connection.close()

    def counted(self, kind="user"):
        """The requests, the tokens and the leases that are counted."""
        name = {"user": "alice", "team": "search", "org": self.org}[kind].replace("}", "%7D")
        key = f"llm:{{{self.org.replace('}', '%7D')}}}:{kind}:{name}"
        call = self.gateway.server.call
        peek = [
            call("RL.PEEK", "ROLLING", f"{key}:{what}", "1m", 10**9, "COST", 0)[1] for what in ("requests", "tokens")
        ]
        return (*peek, call("ZCARD", f"{key}:concurrent"))

    def becomes(self, *expected, kind="user", patience=5):
        with contextlib.suppress(AssertionError):
            eventually(lambda: self.counted(kind) == expected, "counted", patience)
        assert self.counted(kind) == expected, self.gateway.log()[-3000:]


LIMITS = {"requests": 100, "tokens": 100_000, "concurrent": 10}


@pytest.mark.parametrize("stream", [False, True])
def test_the_tokens_that_the_model_reports_are_settled(gateway, stream):
    caller = Caller(gateway, user=LIMITS, team=LIMITS, org=LIMITS)
    for number in (1, 2):
        status, headers, body = caller.call(stream=stream, usage=700)
        assert status == 200, body
        assert headers["ratelimit-policy"].startswith('"user-requests";q=100;w=60, "user-tokens";q=100000;w=60')
        for kind in ("user", "team", "org"):
            caller.becomes(number, 700 * number, 0, kind=kind)


def test_a_stream_without_usage_is_counted(gateway):
    caller = Caller(gateway, user=LIMITS)
    status, _, body = caller.call(stream=True, words=50)
    assert (status, body.count(b" word")) == (200, 50)
    eventually(lambda: caller.counted()[2] == 0, "the lease is released")
    # The prompt and 50 words; the estimate is the prompt and 64 tokens.
    requests, tokens, _ = caller.counted()
    assert requests == 1
    assert 50 < tokens < 90


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


@pytest.mark.parametrize("stream", [False, True])
def test_a_call_that_the_model_rejects_uses_no_tokens(gateway, stream):
    caller = Caller(gateway, user=LIMITS)
    for number, status in enumerate((400, 429, 500), 1):
        assert caller.call(stream=stream, status=status)[0] >= 400
        caller.becomes(number, 0, 0)


def test_a_caller_who_hangs_up(gateway):
    for stream, before, pause, words, tokens in [
        (True, 0, 0.1, 600, range(1, 250)),  # the prompt, and what was streamed
        (True, 60, 0, 3, None),  # nothing was streamed: the estimate
        (False, 60, 0, 3, None),
    ]:
        caller = Caller(gateway, user=LIMITS)
        active = gateway.upstream.active
        connection = caller.open(stream=stream, before=before, pause=pause, words=words, longest=5000)
        eventually(lambda active=active: gateway.upstream.active > active, "the model works")
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
        eventually(lambda active=active: gateway.upstream.active <= active, "the model stops", 5)


def test_many_streams_of_many_workers_stay_below_the_limits(gateway):
    # Estimates are 100 tokens and the prompt; half of the calls use 40 more than that.
    user = {"requests": 1000, "tokens": 4_000, "concurrent": 20}
    team, org = {**user, "tokens": 3_500}, {**user, "tokens": 6_000, "concurrent": 15}
    caller = Caller(gateway, user=user, team=team, org=org)
    prompt = 60  # at most

    def stream(number):
        usage = 140 + prompt if number % 2 else 60
        return caller.call(at=number % 4, stream=True, longest=100, words=10, pause=0.02, usage=usage)[0]

    for at in range(4):
        # The first call of a worker imports for seconds, and blocks all others.
        assert Caller(gateway).call(at=at, stream=True)[0] == 200
    before, gateway.upstream.most = gateway.upstream.tokens, 0
    with ThreadPoolExecutor(50) as pool:
        found = list(pool.map(stream, range(75)))
    assert "failing open" not in gateway.log()
    allowed = [number for number, status in enumerate(found) if status == 200]
    assert set(found) == {200, 429}, gateway.log()[-3000:]
    assert len(allowed) >= 15
    used = sum(140 + prompt if number % 2 else 60 for number in allowed)
    # What a call uses beyond its estimate, which is at least 100, is above the limit at most.
    excess = sum(40 + prompt for number in allowed if number % 2)
    assert used <= 3_500 + excess
    assert abs(gateway.upstream.tokens - before - used) < 1
    assert 0 < gateway.upstream.most <= 15
    for kind in ("user", "team", "org"):
        caller.becomes(len(allowed), used, 0, kind=kind)


def test_a_settlement_whose_reply_was_lost_is_counted_once(gateway):
    caller = Caller(gateway, user=LIMITS)
    address = gateway.address
    address.lost, address.times = 0, 2
    try:
        assert caller.call(usage=700)[0] == 200
        eventually(lambda: address.lost == 2, "both replies are lost")
        caller.becomes(1, 700, 0)
        time.sleep(0.3)  # the third settlement is on its way
        assert caller.counted() == (1, 700, 0)
    finally:
        address.times = 0


def test_the_server_is_away_or_lacks_the_module(gateway):
    caller, address = Caller(gateway, user=LIMITS), gateway.address

    def recovers():
        for at in (0, 4):
            before = caller.counted()[0]
            eventually(lambda at=at, before=before: caller.call(at=at)[0] == 200 and caller.counted()[0] > before, "it")

    address.leads_to(free_port())
    try:
        assert caller.call()[0] == 200  # it fails open
        status, _, body = caller.call(at=4)  # it fails closed
        assert (status, b"cannot be checked" in body) == (503, True), body
    finally:
        address.leads_to(address.real)
    recovers()
    with contextlib.closing(Server(binaries()[0], module=False)) as server:
        address.leads_to(server.port)
        try:
            for at in (0, 4):
                # The connections break once.
                eventually(lambda at=at: caller.call(at=at)[0] == 500, "the call is rejected")
            before = gateway.upstream.calls
            for at in (0, 4):
                status, _, body = caller.call(at=at)
                assert (status, b"configured wrongly" in body) == (500, True), body
            assert gateway.upstream.calls == before
            assert "unknown command" in gateway.log()
        finally:
            address.leads_to(address.real)
    recovers()


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
