"""A gateway before a model that streams: how many tokens pass a limit of 10,000 a minute.

Once it checks before each request and charges after it, once it reserves and commits. The load is the same.

    cargo build --release && cargo build --profile service --package rlaas
    python3 service/examples/llm-gateway/gateway.py

SERVER, RL_MODULE and RLAAS name other programs than valkey-server or redis-server and those in target.
"""

import json
import os
import random
import shutil
import socket
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

LIMIT = 10_000
REQUESTS, AT_ONCE = 200, 50
ESTIMATE = 600
RULES = f"""domain: llm
descriptors:
  - {{key: checked, rate_limit: {{unit: year, requests_per_unit: {LIMIT}}}}}
  - {{key: reserved, rate_limit: {{unit: year, requests_per_unit: {LIMIT}}}}}
"""


def stream(seed):
    """A model: the tokens of a response, known when it has ended."""
    tokens = random.Random(seed).randint(50, 550)
    time.sleep(tokens / 2_000)
    return tokens


class Gateway:
    def __init__(self, rlaas):
        self.rlaas = rlaas

    def call(self, path, key, **fields):
        body = {"domain": "llm", "descriptors": [{"entries": [{"key": key, "value": "team"}], **fields.pop("of", {})}]}
        request = urllib.request.Request(f"http://{self.rlaas}{path}", json.dumps({**body, **fields}).encode())
        try:
            with urllib.request.urlopen(request) as response:
                return json.load(response)
        except urllib.error.HTTPError as error:
            if error.code == 429:
                return None
            raise

    def check_then_charge(self, seed):
        # Hits of 0 look, and charge nothing.
        if self.call("/json", "checked", of={"hitsAddend": "0"}) is None:
            return 0
        tokens = stream(seed)
        self.call("/json", "checked", of={"hitsAddend": str(tokens)})
        return tokens

    def reserve_and_commit(self, seed):
        reserved = self.call("/reserve", "reserved", amount=str(ESTIMATE), ttl="30s")
        if reserved is None:
            return 0
        tokens = stream(seed)
        self.call("/commit", "reserved", reservationId=reserved["reservationId"], actualAmount=str(tokens))
        return tokens


def free_port():
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return listener.getsockname()[1]


def wait_for(port, process):
    for _ in range(200):
        if process.poll() is not None:
            sys.exit(f"{process.args[0]} has ended: {process.returncode}")
        try:
            return socket.create_connection(("127.0.0.1", port)).close()
        except OSError:
            time.sleep(0.05)
    sys.exit(f"{process.args[0]} does not listen")


def main():
    target = Path(__file__).resolve().parents[3] / "target"
    server = os.environ.get("SERVER") or shutil.which("valkey-server") or shutil.which("redis-server")
    module = os.environ.get("RL_MODULE") or target / "release" / "libredis_rl.so"
    rlaas = os.environ.get("RLAAS") or target / "service" / "rlaas"
    if not server:
        sys.exit("no valkey-server or redis-server: SERVER names one")
    processes = []
    with tempfile.TemporaryDirectory() as directory:
        rules = Path(directory, "rules")
        rules.mkdir()
        (rules / "llm.yaml").write_text(RULES)
        ports = [free_port() for _ in range(4)]

        def start(port, *command):
            process = subprocess.Popen([str(word) for word in command], cwd=directory, stdout=subprocess.DEVNULL,
                                       stderr=subprocess.DEVNULL)
            processes.append(process)
            wait_for(port, process)

        try:
            start(ports[0], server, "--port", ports[0], "--save", "", "--loadmodule", module)
            local = [f"127.0.0.1:{port}" for port in ports]
            start(ports[1], rlaas, "serve", "--redis", f"redis://{local[0]}", "--rules", rules, "--http", local[1],
                  "--grpc", local[2], "--metrics", local[3], "--timeout", "5s", "--max-lag", "5s")
            while not is_ready(local[1]):
                time.sleep(0.1)
            gateway = Gateway(local[1])
            for name, serve in [("check, then charge", gateway.check_then_charge),
                                ("Reserve and Commit", gateway.reserve_and_commit)]:
                with ThreadPoolExecutor(AT_ONCE) as threads:
                    tokens = list(threads.map(serve, range(REQUESTS)))
                passed = sum(1 for each in tokens if each)
                print(f"{name}: {sum(tokens):6,} tokens of {LIMIT:,} passed, in {passed} of {REQUESTS} requests")
        finally:
            for process in reversed(processes):
                process.terminate()
                process.wait()


def is_ready(address):
    try:
        return urllib.request.urlopen(f"http://{address}/ready").status == 200
    except urllib.error.HTTPError:
        return False


if __name__ == "__main__":
    main()
