#!/usr/bin/env -S python3 -B
"""Runs the examples of docs/clients.md as they stand there: with a server, without, and while it hangs.

python3 examples.py python | node

None ends with an error, waits for long, or charges a request twice.

With node, also those of clients/node/examples for the frameworks of Node.js, where the package is installed.

python3 examples.py PROGRAM runs clients/rust/examples/axum, built as that program: the sixth login within five minutes
gets 429.
"""

import contextlib
import http.client
import pathlib
import re
import subprocess
import sys
import tempfile
import time

from faults import CLIENTS, NODE, PYTHON, App, Run, example, replaced
from server import Server, binaries, eventually, free_port, spawn

LONGEST = 1.5  # seconds, after the imports, on a machine with other work
PAGE = "docs/clients.md"
# The language of each example, what it has, how its client names the server, and what that becomes.
EXAMPLES = [
    ("python", "redis.AuthenticationError", "redis.Redis(", "redis.Redis(port={port}, "),
    ("js", 'from "ioredis"', "new Redis({", "new Redis({{ host: '127.0.0.1', port: {port},"),
]
BEGIN = {
    "python": "import time\nimport redis\nbegin = time.monotonic()\n",
    "js": "const begin = performance.now();\n",  # the imports come first wherever they are
}
OUTCOME = {
    "python": '\nprint("allowed:", int(allowed), "after", time.monotonic() - begin)\n',
    "js": '\nconsole.log("allowed:", Number(allowed), "after", (performance.now() - begin) / 1000);\nprocess.exit();\n',
}


def run(language, text):
    """How many seconds the example takes. It allows the request."""
    if language == "python":
        directory, name, program = None, "main.py", PYTHON / "python"
    else:
        directory, name, program = NODE, "main.mjs", "node"
    with tempfile.TemporaryDirectory(dir=directory) as place:
        path = pathlib.Path(place) / name
        path.write_text(BEGIN[language] + text + OUTCOME[language])
        process = spawn([program, path], place, "log")
        try:
            eventually(lambda: process.poll() is not None, f"{path} ends", 60)
        finally:
            process.kill()
        output = (pathlib.Path(place) / "log").read_text()
        assert process.returncode == 0, output
        found = re.search(r"^allowed: 1 after (\S+)$", output, re.MULTILINE)
        assert found, output
        return float(found[1])


def axum(program):
    port = free_port()
    with contextlib.closing(Server(binaries()[0])) as server:
        for user, expected, logged in (("", [200] * 5 + [429], ""), ("nobody:wrong@", [500] * 6, "WRONGPASS")):
            url = f"redis://{user}127.0.0.1:{server.port}/"
            with contextlib.closing(App([program], {}, port, REDIS_URL=url, ADDRESS=f"127.0.0.1:{port}")) as app:
                statuses = []
                for _ in expected:
                    with contextlib.closing(http.client.HTTPConnection("127.0.0.1", port, timeout=60)) as connection:
                        connection.request("POST", "/login")
                        statuses.append(connection.getresponse().status)
                assert statuses == expected, statuses
                assert logged in app.log(), app.log()
    print("clients/rust/examples/axum: the sixth login gets 429; with a wrong password the log says why")


def frameworks(server):
    """100 requests get 200, then one gets 429."""
    # NestJS needs a newer Node.js than the package, and than Debian has.
    node = CLIENTS / "node/node_modules/.bin/node"
    for name in ("fastify/app.mjs", "hono/app.mjs", "nestjs/main.ts"):
        server.text("FLUSHALL")
        source, port = CLIENTS / "node/examples" / name, free_port()
        patient = {"prefix: 'api:'": "prefix: 'api:', timeout: 5000"}
        changes = {"localhost:6379": f"127.0.0.1:{server.port}", "3000": str(port), **patient}
        with tempfile.TemporaryDirectory(dir=NODE) as place:
            program = pathlib.Path(place) / source.name
            program.write_text(replaced(source.read_text(), changes))
            if program.suffix == ".ts":
                flags = re.search(r"npx tsc (.+) main\.ts", source.read_text())[1].split()
                subprocess.run([node, NODE / "node_modules/.bin/tsc", *flags, "--types", "node", program], cwd=place, check=True)
                program = program.with_suffix(".js")
            with contextlib.closing(App([node, program], {}, port)) as app:
                statuses = [app.get()[0] for _ in range(100)]
                while statuses[-1] == 200 and len(statuses) < 200:  # a token comes back in 600 ms
                    statuses.append(app.get()[0])
        assert statuses[:100] == [200] * 100, statuses
        assert statuses[-1] == 429, statuses
        print(f"clients/node/examples/{name}: 429 after {len(statuses) - 1}")


def main():
    if sys.argv[1] not in ("python", "node"):
        return axum(pathlib.Path(sys.argv[1]).resolve())
    with contextlib.closing(Server(binaries()[0])) as server:
        wanted = {"python": "python", "node": "js"}[sys.argv[1]]
        for language, words, old, new in EXAMPLES:
            if language != wanted:
                continue
            text = example(PAGE, wanted, words)
            assert text.count(old) == 1, f"{PAGE}: {old}"
            calls = text.count('"RL.TOKEN"')

            def at(port, text=text, old=old, new=new):
                return text.replace(old, new.format(port=port))

            server.text("CONFIG", "RESETSTAT")
            # With a timeout for a machine with other work.
            patient, changed = re.subn(
                r"(timeout\w*[=(:]\s*)(0\.1|100)\b", r"\g<1>5\g<2>", at(server.port), flags=re.I
            )
            assert changed, f"{PAGE}: the example has no timeout"
            run(wanted, patient)
            sent = Run.decisions(server)
            assert sent == calls, f"{PAGE}: {sent} sent for {calls} requests"

            took = run(wanted, at(free_port()))
            assert took < LONGEST, f"{PAGE}: {took:.1f} s without a server"

            server.text("CONFIG", "RESETSTAT")
            server.pause()
            try:
                took = run(wanted, at(server.port))
            finally:
                server.resume()
            assert took < LONGEST, f"{PAGE}: {took:.1f} s with a server that hangs"
            # What the server then executes is at most each request once.
            time.sleep(0.2)
            sent = Run.decisions(server)
            assert sent <= calls, f"{PAGE}: {sent} sent for {calls} requests"
            print(f"{PAGE}: the example with {words.strip()}: with a server, without it, and while it hangs")
        if wanted == "js":
            frameworks(server)


if __name__ == "__main__":
    main()
