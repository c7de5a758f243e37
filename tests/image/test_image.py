#!/usr/bin/env -S python3 -B
"""Uses the images as their users do: without arguments, with options, with a volume.

Needs a Docker engine, and RL_IMAGE and RLAAS_IMAGE, which name the images: make test-image provides all of them.
"""

import contextlib
import os
import pathlib
import re
import subprocess
import tempfile
import time
import unittest
import urllib.error
import urllib.request
import uuid

DOCKER = pathlib.Path(__file__).resolve().parents[2] / "docker"
IMAGE, SERVICE_IMAGE = os.environ["RL_IMAGE"], os.environ["RLAAS_IMAGE"]
PATIENCE = 60  # seconds
CLI = 'exec "$(command -v valkey-cli || command -v redis-cli)" "$@" 2>&1'
OWN_CONFIG = """include /usr/local/etc/redis-rl/image.conf
loadmodule /usr/lib/redis/modules/libredis_rl.so
maxmemory 64mb
"""
RULES = """domain: web
authorize: {descriptors: [[{key: remote_address, client_address: true}]]}
descriptors: [{key: remote_address, rate_limit: {unit: year, requests_per_unit: 2}}]
"""


def docker(*words, status=0):
    """What it prints, errors too."""
    ran = subprocess.run(["docker", *words], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
    assert status is None or ran.returncode == status, f"{words}: {ran.stdout}"
    return ran.stdout.strip()


def eventually(what, check):
    """What `check` returns, as soon as that is true."""
    end = time.monotonic() + PATIENCE
    while not (found := check()):
        assert time.monotonic() < end, f"no {what} within {PATIENCE} s"
        time.sleep(0.05)
    return found


class Container:
    """Ends with the test. `ready` is a line of its log; `files` are copied into it before it starts."""

    def __init__(self, test, *arguments, options=(), image=IMAGE, ready="Ready to accept connections", files=None):
        self.id = docker("create", *options, image, *arguments)
        test.addCleanup(docker, "rm", "--force", "--volumes", self.id, status=None)
        for path, text in (files or {}).items():
            with tempfile.NamedTemporaryFile("w") as file:
                file.write(text)
                file.flush()
                os.chmod(file.name, 0o644)
                docker("cp", file.name, f"{self.id}:{path}")
        docker("start", self.id)
        eventually(ready, lambda: ready in self.log() or self.ended())
        assert ready in self.log(), self.log()

    def log(self):
        return docker("logs", self.id)

    def ended(self):
        return docker("inspect", "--format", "{{.State.Running}}", self.id) == "false"

    def run(self, *command, status=0, options=()):
        return docker("exec", *options, self.id, *command, status=status)

    def status(self, *command):
        return subprocess.run(["docker", "exec", self.id, *command], capture_output=True, check=False).returncode

    def call(self, *words, password=""):
        """What the client in the container prints."""
        options = ["--env", f"REDISCLI_AUTH={password}", "--env", f"VALKEYCLI_AUTH={password}"] if password else []
        return self.run("sh", "-c", CLI, "sh", *words, status=None, options=options)

    def allows(self, algorithm, key, limit):
        """Whether it allows a request in a window that does not end within a test, and the count."""
        allowed, count, ttl = map(int, self.call(f"RL.{algorithm}", key, "1d", str(limit)).split())
        assert ttl > 0, algorithm
        return allowed == 1, count

    def algorithms(self):
        """Those that take a limit of units, by what INFO counts."""
        found = re.findall(r"rl_(\w+)_near:", self.call("INFO", "rl"))
        assert len(set(found) - {"lease", "multi"}) > 5, found
        return sorted(set(found) - {"lease", "multi"})

    def setting(self, name):
        return self.call("CONFIG", "GET", name).partition("\n")[2]

    def stop(self):
        """As `docker stop`. It must end by itself, well before Docker kills it after ten seconds."""
        begun = time.monotonic()
        docker("stop", self.id)
        assert time.monotonic() - begun < 5, "it takes too long to stop"
        assert docker("inspect", "--format", "{{.State.ExitCode}}", self.id) == "0", self.log()

    def start_again(self):
        docker("start", self.id)
        eventually("a reply", lambda: re.search("PONG|NOAUTH", self.call("PING")))

    def remove(self):
        docker("rm", self.id)

    def get(self, port, path):
        """The status of a response. None without one."""
        address = docker("port", self.id, str(port))
        with contextlib.suppress(OSError):
            try:
                with urllib.request.urlopen(f"http://{address}{path}", timeout=PATIENCE) as response:
                    return response.status
            except urllib.error.HTTPError as error:
                with error:
                    return error.code


class Test(unittest.TestCase):
    def container(self, *arguments, **how):
        return Container(self, *arguments, **how)

    def volume(self, command=None):
        """A volume at /data. A shell command changes what is in it."""
        name = f"redis-rl-test-{uuid.uuid4()}"
        self.addCleanup(docker, "volume", "rm", "--force", name, status=None)
        if command:
            # Docker gives an empty volume the mode and the owner of the image's directory again.
            docker("run", "--rm", "--volume", f"{name}:/data", IMAGE, "sh", "-c", f"touch /data/used && {command}")
        return name

    def server_in_network(self):
        """A network, and the name of a server in it."""
        network, name = f"redis-rl-test-{uuid.uuid4()}", f"server-{uuid.uuid4()}"
        docker("network", "create", network)
        self.addCleanup(docker, "network", "rm", network, status=None)
        self.container(options=["--network", network, "--name", name])
        return network, name

    def says(self, image, fields):
        for field, expected in fields.items():
            self.assertRegex(docker("image", "inspect", "--format", field, image), f"^{expected}$", field)


def label(name):
    return f'{{{{index .Config.Labels "org.opencontainers.image.{name}"}}}}'


class Server(Test):
    def test_without_arguments_every_algorithm_allows_and_denies(self):
        server = self.container()
        for algorithm in server.algorithms():
            allowed = [server.allows(algorithm, algorithm, 2)[0] for _ in range(3)]
            self.assertEqual(allowed, [True, True, False], algorithm)

    def test_health(self):
        healthy = self.container()
        status = ["inspect", "--format", "{{.State.Health.Status}}", healthy.id]
        eventually("healthy", lambda: docker(*status) == "healthy")
        check = "redis-rl-healthcheck"
        self.assertEqual(self.container("--requirepass", "secret").status(check), 0)
        self.assertEqual(self.container("--port", "7000").status(check), 1)
        # One who may not list modules.
        self.assertEqual(self.container("--user", "default", "on", "nopass", "-@all", "+ping").status(check), 0)
        for password in ["", "requirepass secret\n"]:
            files = {"/etc/my.conf": f"bind *\nprotected-mode no\n{password}"}
            without_module = self.container("/etc/my.conf", files=files)
            # Valkey 9.1 asks for the password before it looks a command up, so nobody can tell.
            can_tell = "NOAUTH" not in without_module.call("RL.NOTHING")
            self.assertEqual(without_module.status(check), int(can_tell), password)
            self.assertEqual(without_module.status(check, "live"), 0)

    def test_options_and_variables(self):
        by_variable = self.container(options=["--env", "MAXMEMORY=64mb"])
        self.assertEqual(by_variable.setting("maxmemory"), str(64 << 20))
        self.assertEqual(by_variable.setting("maxmemory-clients"), "10%")
        # Alone, and behind the server's name, as with the official images. They win over the variable.
        options = ["--maxmemory", "32mb", "--maxmemory-policy", "volatile-ttl", "--save", ""]
        for arguments in [options, ["redis-server", *options]]:
            server = self.container(*arguments, options=["--env", "MAXMEMORY=64mb"])
            found = [server.setting(name) for name in ("maxmemory", "maxmemory-policy", "save")]
            self.assertEqual(found, [str(32 << 20), "volatile-ttl", ""])
            self.assertTrue(server.allows("FIXED", "key", 1)[0])
        own = self.container("/etc/my.conf", files={"/etc/my.conf": OWN_CONFIG})
        self.assertEqual(own.setting("maxmemory"), str(64 << 20))
        self.assertTrue(own.allows("GCRA", "key", 1)[0])

    def test_other_commands(self):
        self.assertEqual(docker("run", "--rm", IMAGE, "sh", "-c", "echo as it is"), "as it is")
        for arguments in [["--version"], ["-v"], ["redis-server", "--version"]]:
            self.assertIn(" server v=", docker("run", "--rm", IMAGE, *arguments))
        for arguments in [["--help"], ["-h"], ["valkey-server", "--help"]]:
            self.assertTrue(docker("run", "--rm", IMAGE, *arguments, status=None).startswith("Usage: "), arguments)

    def test_it_runs_as_the_servers_own_user(self):
        # Another's volume, as one mounts a directory of the machine, is handed over.
        foreign = self.volume("chown -R 0:0 /data")
        for options in [[], ["--user", "999:999"], ["--volume", f"{foreign}:/data"]]:
            server = self.container(options=options)
            [user, name] = server.run("stat", "-c", "%u %U", "/proc/1").split()
            self.assertIn(name, ["redis", "valkey"])
            self.assertEqual(server.run("stat", "-c", "%u", "/data"), user)
            capabilities = re.search(r"CapEff:\s+(\w+)", server.run("cat", "/proc/1/status"))[1]
            self.assertEqual(int(capabilities, 16), 0)

    def test_what_was_counted_outlives_the_container_in_its_volume(self):
        keeps = ["--volume", f"{self.volume()}:/data"]
        first = self.container(options=keeps)
        algorithms = first.algorithms()
        self.assertTrue(all(first.allows(algorithm, algorithm, 1)[0] for algorithm in algorithms))
        first.stop()
        first.remove()
        second = self.container(options=keeps)
        self.assertEqual([algorithm for algorithm in algorithms if second.allows(algorithm, algorithm, 1)[0]], [])

    def test_any_user_can_keep_data_and_settings_in_a_new_volume(self):
        for user in ["1000", "1000:1000", "0"]:
            options = ["--user", user, "--volume", f"{self.volume()}:/data"]
            first = self.container(options=options)
            self.assertTrue(first.allows("SLIDING", "key", 1)[0])
            self.assertEqual(first.call("SAVE"), "OK", user)
            self.assertEqual(first.allows("FIXED", "key", 2), (True, 1))
            self.assertEqual([first.call("CONFIG", "SET", "rl.on-oom", "allow"), first.call("CONFIG", "REWRITE")], ["OK"] * 2)
            first.stop()
            first.remove()
            # A second rewrite meets what the first has written. Options still win over the file.
            second = self.container("--maxmemory", "64mb", options=options)
            self.assertEqual([second.setting("rl.on-oom"), second.setting("maxmemory")], ["allow", str(64 << 20)], user)
            self.assertFalse(second.allows("SLIDING", "key", 1)[0])
            self.assertEqual(second.allows("FIXED", "key", 2), (True, 2), "the snapshot at shutdown has the last request")
            self.assertEqual([second.call("CONFIG", "SET", "rl.on-oom", "deny"), second.call("CONFIG", "REWRITE")], ["OK"] * 2)
            second.stop()
            second.start_again()
            self.assertEqual(second.setting("rl.on-oom"), "deny", user)
            self.assertEqual(second.status("redis-rl-healthcheck"), 0)

    def test_the_password_of_an_option_wins_over_a_rewritten_configuration(self):
        keeps = ["--volume", f"{self.volume()}:/data"]
        first = self.container(options=keeps)
        self.assertEqual(first.call("CONFIG", "REWRITE"), "OK")
        first.stop()
        first.remove()
        for password in ["secret", "another"]:
            guarded = self.container("--requirepass", password, options=keeps)
            self.assertIn("NOAUTH", guarded.call("PING"))
            self.assertEqual(guarded.call("PING", password=password), "PONG")
            self.assertEqual(guarded.call("CONFIG", "REWRITE", password=password), "OK")
            guarded.stop()
            guarded.start_again()
            self.assertIn("NOAUTH", guarded.call("PING"))
            guarded.stop()
            guarded.remove()

    def test_a_failing_snapshot_stops_neither_the_limiter_nor_docker_stop(self):
        volume = self.volume("chown 0:0 /data && chmod 755 /data")
        server = self.container(options=["--user", "1000", "--volume", f"{volume}:/data"])
        self.assertTrue(server.allows("FIXED", "key", 9)[0])
        server.call("BGSAVE")
        eventually("failed snapshot", lambda: "rdb_last_bgsave_status:err" in server.call("INFO", "persistence"))
        for algorithm in server.algorithms():
            self.assertTrue(server.allows(algorithm, algorithm, 1)[0], algorithm)
        self.assertIn("user 1000 cannot write to /data", server.log())
        server.stop()

    def test_the_example_application_is_denied_now_and_then_and_ends_at_sigterm(self):
        network, server = self.server_in_network()
        options = ["--network", network, "--entrypoint", "sh", "--env", f"SERVER={server}", "--env", f"REPLICA={server}"]
        files = {"/app": (DOCKER / "example-app").read_text()}
        app = self.container("/app", options=options, files=files, ready="denied, again in")
        # It now sleeps until it may ask again.
        app.stop()
        self.assertEqual(app.log().count(": allowed, "), 5, app.log())

    def test_it_says_what_it_is(self):
        self.says(IMAGE, {
            label("title"): "redis-rl",
            label("licenses"): "MIT",
            label("version"): ".+",
            "{{json .Config.Volumes}}": '{"/data":{}}',
            "{{json .Config.ExposedPorts}}": '{"6379/tcp":{}}',
            "{{json .Config.Healthcheck.Test}}": r'\["CMD","redis-rl-healthcheck"\]',
        })  # fmt: skip
        # It adds the module and a few short files to the server's image. The newest layers come first.
        history = docker("history", "--no-trunc", "--human=false", "--format", "{{.Size}} {{.CreatedBy}}", IMAGE).splitlines()
        base = next(n for n, layer in enumerate(history) if "org.opencontainers.image.title" in layer)
        self.assertTrue(100_000 < sum(int(layer.split()[0]) for layer in history[:base]) < 4_000_000)


class Service(Test):
    def test_it_limits_by_the_rules_that_are_mounted(self):
        """As deploy/kubernetes/rlaas.yaml starts it: another user, nothing to write to, and no capabilities."""
        network, server = self.server_in_network()
        rules = self.volume(f"rm /data/used && echo '{RULES}' >/data/web.yaml && chmod -R a+rX /data")
        variables = {"RLAAS_REDIS": f"redis://{server}:6379", "RLAAS_TIMEOUT": "10s", "RLAAS_MAX_LAG": "10s"}
        options = [word for name, value in variables.items() for word in ("--env", f"{name}={value}")]
        options += ["--network", network, "--volume", f"{rules}:/etc/rlaas/rules", "--read-only", "--cap-drop", "ALL"]
        options += ["--user", "65534:65534", "--publish", "127.0.0.1::8080", "--publish", "127.0.0.1::9090"]
        service = self.container(image=SERVICE_IMAGE, options=options, ready="HTTP listens")
        eventually("valid rules", lambda: service.get(8080, "/ready") == 200)
        # 503 until it has a connection to the server.
        eventually("first decision", lambda: service.get(8080, "/authorize/web") == 200)
        self.assertEqual([service.get(8080, "/authorize/web") for _ in range(2)], [200, 429])
        self.assertEqual(service.get(9090, "/metrics"), 200)
        service.stop()

    def test_it_says_what_it_is(self):
        self.says(SERVICE_IMAGE, {
            label("title"): "rlaas",
            label("licenses"): "MIT",
            label("version"): ".+",
            "{{.Config.User}}": "65532:65532",
            "{{json .Config.ExposedPorts}}": '{"8080/tcp":{},"8081/tcp":{},"9090/tcp":{}}',
        })  # fmt: skip
        # Flags follow the image's name.
        self.assertIn("--redis", docker("run", "--rm", SERVICE_IMAGE, "--help"))


if __name__ == "__main__":
    unittest.main()
