"""The manifests of deploy/kubernetes: valid by the schemas of Kubernetes, fitting each other, and a server runs with them.

No cluster is needed, and none is used.
"""

import contextlib
import json
import os
import pathlib
import re
import subprocess
import tempfile
import unittest
import urllib.request

import kubernetes_validate
import yaml
from stack import OPS, ROOT, USER, eventually, free_ports, program, spawn
from test_ops import servers, service

MANIFESTS = ROOT / "deploy" / "kubernetes"
VERSIONS = ["1.29", "1.37"]


def manifests():
    """All of them: {(kind, name): manifest}."""
    found = {}
    for path in sorted(MANIFESTS.glob("*.yaml")):
        for manifest in yaml.safe_load_all(path.read_text()):
            key = manifest["kind"], manifest["metadata"]["name"]
            assert key not in found, f"{path}: {key} twice"
            found[key] = manifest
    return found


def responds(url):
    with contextlib.suppress(OSError), urllib.request.urlopen(url, timeout=10) as reply:
        return reply.status == 200
    return False


def wait_for(process, log, check):
    """Waits until `check` is true, while the process runs."""

    def ready():
        assert process.poll() is None, log.read_text(errors="replace")
        return check()

    eventually(ready, log, patience=20)


def bytes_of(text):
    """600mb of the server, 1Gi of Kubernetes."""
    number, unit = re.fullmatch(r"(\d+)(mb|gb|Mi|Gi)", text).groups()
    return int(number) << {"m": 20, "g": 30}[unit[0].lower()]


class Kubernetes(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.all = manifests()
        cls.pod = cls.all["StatefulSet", "redis-rl"]["spec"]["template"]
        [cls.container] = cls.pod["spec"]["containers"]
        names, values = cls.container["args"][::2], cls.container["args"][1::2]
        cls.options = dict(zip(names, values, strict=True))

    def test_schemas(self):
        self.assertEqual(len(self.all), 10)
        for version in VERSIONS:
            for key, manifest in self.all.items():
                with self.subTest(version=version, manifest=key):
                    kubernetes_validate.validate(manifest, version, strict=True)

    def selectors(self, name):
        """The labels by which the manifests of this name select pods."""
        kind = "Deployment" if ("Deployment", name) in self.all else "StatefulSet"
        return [
            self.all[kind, name]["spec"]["selector"]["matchLabels"],
            self.all["Service", name]["spec"]["selector"],
            self.all["PodDisruptionBudget", name]["spec"]["selector"]["matchLabels"],
            self.all["NetworkPolicy", name]["spec"]["podSelector"]["matchLabels"],
        ]

    def has_the_least_rights(self, pod, container):
        rights = container["securityContext"]
        self.assertTrue(pod["securityContext"]["runAsNonRoot"] and rights["readOnlyRootFilesystem"])
        self.assertFalse(rights["allowPrivilegeEscalation"] or pod["automountServiceAccountToken"])
        self.assertEqual(rights["capabilities"], {"drop": ["ALL"]})

    def test_they_fit_each_other(self):
        labels = self.pod["metadata"]["labels"]
        stateful_set = self.all["StatefulSet", "redis-rl"]["spec"]
        self.assertEqual(self.selectors("redis-rl"), [labels] * 4)
        self.assertEqual(self.container["ports"], [{"name": "redis", "containerPort": 6379}])
        [port] = self.all["Service", stateful_set["serviceName"]]["spec"]["ports"]
        self.assertEqual(port["targetPort"], "redis")
        [ingress] = self.all["NetworkPolicy", "redis-rl"]["spec"]["ingress"]
        self.assertEqual([port["port"] for port in ingress["ports"]], ["redis"])

        volumes = {volume["name"] for volume in self.pod["spec"]["volumes"]}
        volumes |= {claim["metadata"]["name"] for claim in stateful_set["volumeClaimTemplates"]}
        mounts = {mount["name"]: mount["mountPath"] for mount in self.container["volumeMounts"]}
        self.assertEqual(set(mounts), volumes)
        self.assertEqual(self.options["--aclfile"], f"{mounts['users']}/users.acl")
        self.has_the_least_rights(self.pod["spec"], self.container)

    def test_the_service(self):
        deployment = self.all["Deployment", "rlaas"]["spec"]
        pod = deployment["template"]
        labels = {"app.kubernetes.io/name": "rlaas"}
        self.assertEqual(self.selectors("rlaas"), [labels] * 4)
        [spread] = pod["spec"]["topologySpreadConstraints"]
        self.assertEqual(spread["labelSelector"]["matchLabels"], labels)
        [client] = self.all["NetworkPolicy", "redis-rl"]["spec"]["ingress"][0]["from"]
        wanted = {**labels, **client["podSelector"]["matchLabels"]}
        self.assertEqual(pod["metadata"]["labels"], wanted)

        [container] = pod["spec"]["containers"]
        ports = {port["name"]: port["containerPort"] for port in container["ports"]}
        for port in self.all["Service", "rlaas"]["spec"]["ports"]:
            self.assertEqual(port["port"], ports[port["targetPort"]])
        allowed = [[port["port"] for port in rule["ports"]] for rule in self.all["NetworkPolicy", "rlaas"]["spec"]["ingress"]]
        self.assertEqual(allowed, [["grpc", "http"], ["metrics"]])
        for text in self.all["ConfigMap", "rlaas"]["data"].values():
            rules = yaml.safe_load(text)
            self.assertEqual((rules["on_unavailable"], rules["instances"]), ("local", deployment["replicas"]))
        variables = {variable["name"]: variable.get("value") for variable in container["env"]}
        [mount] = container["volumeMounts"]
        self.assertEqual(mount["mountPath"], variables["RLAAS_RULES"])
        self.has_the_least_rights(pod["spec"], container)

        # It starts as the image does, with these variables and rules, and the probes say so.
        stage = (ROOT / "Dockerfile").read_text().partition(" AS service\n")[2].partition("\nFROM ")[0]
        [program, *arguments] = json.loads(re.search(r"^ENTRYPOINT (.*)$", stage, re.MULTILINE)[1])
        self.assertEqual(program, "rlaas")
        self.assertNotIn("command", container)
        self.assertIn(f"EXPOSE {' '.join(map(str, sorted(ports.values())))}\n", stage)
        arguments += container.get("args", [])
        with tempfile.TemporaryDirectory(prefix="rl-kubernetes-") as name:
            directory = pathlib.Path(name)
            for file, text in self.all["ConfigMap", "rlaas"]["data"].items():
                (directory / file).write_text(text)
            free = dict(zip(ports, free_ports(len(ports))))
            variables |= {f"RLAAS_{name.upper()}": f"127.0.0.1:{port}" for name, port in free.items()}
            variables |= {"RLAAS_RULES": name, "RLAAS_REDIS_PASSWORD": "CHANGE-ME"}
            log = directory / "..log"  # such names are no rules
            settings = [f"{name}={value}" for name, value in variables.items()]
            process = spawn(["env", "-i", *settings, service(), *arguments], directory, log.name)
            try:
                paths = [container[probe]["httpGet"]["path"] for probe in ("livenessProbe", "readinessProbe")]
                urls = [f"http://127.0.0.1:{free['http']}{path}" for path in paths]
                wait_for(process, log, lambda: all(map(responds, urls)))
            finally:
                process.terminate()
                self.assertEqual(process.wait(timeout=20), 0, log.read_text())

    def test_the_monitoring(self):
        """What is printed is what deploy/monitoring has, and the exporter fits it."""
        text = subprocess.run([MANIFESTS / "monitoring.py"], check=True, capture_output=True, text=True).stdout
        printed = {(m["kind"], m["metadata"]["name"]): m for m in yaml.safe_load_all(text)}
        config = yaml.safe_load((OPS / "prometheus.yml").read_text())["scrape_configs"]
        for name, job in [("redis-rl-exporter", 0), ("rlaas", 1)]:
            monitor = printed["PodMonitor", name]["spec"]
            pod = self.all["Deployment", name]["spec"]["template"]
            labels = monitor["selector"]["matchLabels"]
            self.assertLessEqual(labels.items(), pod["metadata"]["labels"].items())
            [endpoint] = monitor["podMetricsEndpoints"]
            self.assertIn(endpoint["port"], [port["name"] for port in pod["spec"]["containers"][0]["ports"]])
            self.assertEqual(endpoint["relabelings"][0], {"targetLabel": "job", "replacement": config[job]["job_name"]})
            wanted = [tuple(rule.values()) for rule in config[job].get("metric_relabel_configs", [])]
            self.assertEqual([tuple(rule.values()) for rule in endpoint["metricRelabelings"]], wanted)
            names = {name for rule in endpoint["metricRelabelings"] for name in rule}
            self.assertLessEqual(names, {"sourceLabels", "regex", "targetLabel", "replacement"})
        self.assertEqual(printed["PrometheusRule", "redis-rl"]["spec"], yaml.safe_load((OPS / "alerts.yml").read_text()))

        pod = self.all["Deployment", "redis-rl-exporter"]["spec"]["template"]
        [container] = pod["spec"]["containers"]
        self.has_the_least_rights(pod["spec"], container)
        [volume] = pod["spec"]["volumes"]
        script = printed["ConfigMap", volume["configMap"]["name"]]["data"]
        self.assertEqual(script, {"collect.lua": (OPS / "collect.lua").read_text()})
        self.assertIn("-script=/etc/redis-rl/collect.lua", container["args"])
        [client] = self.all["NetworkPolicy", "redis-rl"]["spec"]["ingress"][0]["from"]
        self.assertLessEqual(client["podSelector"]["matchLabels"].items(), pod["metadata"]["labels"].items())

    def test_the_memory_fits_the_limit(self):
        most = 0.6 * bytes_of(self.container["resources"]["limits"]["memory"])
        self.assertLessEqual(bytes_of(self.options["--maxmemory"]), most)

    def test_the_users_are_those_of_the_pages(self):
        example = (MANIFESTS / "users.acl.example").read_text()
        users = dict(re.findall(r"^user (\w+) (.+)$", example, re.MULTILINE))
        page = (ROOT / "docs" / "operations.md").read_text().replace("\\\n", "")
        for name in ["app", "operator"]:
            # Of `app` the page has a second one, for servers with categories, as the image is.
            [*_, words] = re.findall(rf"^redis-cli ACL SETUSER {name} (.+)$", page, re.MULTILINE)
            self.assertEqual(users[name].split(), re.sub(r"['\\]", "", words).split())
        self.assertEqual(users["exporter"], USER.replace(">secret", ">CHANGE-ME resetchannels"))
        self.assertIn(f"\n   ACL SETUSER exporter {USER}\n", (OPS / "README.md").read_text())

    def test_a_server_runs_with_them_and_the_probes_say_so(self):
        path = next(path for path in servers() if "valkey-8" in path or os.environ.get("SERVERS"))
        probes = [self.container[probe]["exec"]["command"] for probe in ("livenessProbe", "readinessProbe")]
        with tempfile.TemporaryDirectory(prefix="rl-kubernetes-") as name:
            directory, [port] = pathlib.Path(name), free_ports(1)
            (directory / "users.acl").write_text((MANIFESTS / "users.acl.example").read_text())
            # What the image starts with, at paths of this machine.
            for file in ["image.conf", "default.conf"]:
                config = (ROOT / "deploy" / "images" / file).read_text()
                config = config.replace("/usr/local/etc/redis-rl/redis.conf", str(ROOT / "redis.conf"))
                config = config.replace("/usr/local/etc/redis-rl/", f"{directory}/").replace("dir /data", f"dir {directory}")
                (directory / file).write_text(config.replace("/usr/lib/redis/modules/libredis_rl.so", os.environ["RL_MODULE"]))
            environment = {**os.environ, "REDIS_RL_PORT": str(port), "REDIS_RL_USER": "probe"}
            environment["REDISCLI_AUTH"] = environment["VALKEYCLI_AUTH"] = "CHANGE-ME"

            def check(arguments):
                program = ROOT / "deploy" / "images" / arguments[0]
                return subprocess.run([program, *arguments[1:]], env=environment, check=False).returncode

            self.assertEqual([check(probe) for probe in probes], [1, 1])
            # Reachable from this machine only, whatever the configuration says.
            own = {"--aclfile": f"{directory}/users.acl", "--port": port, "--bind": "127.0.0.1"}
            options = [word for option in (self.options | own).items() for word in option]
            server = spawn([path, "default.conf", *options], directory, "log")
            try:
                wait_for(server, directory / "log", lambda: check(probes[1]) == 0)
                self.assertEqual(check(probes[0]), 0)

                def send(user, *words):
                    cli = [program("redis-cli"), "-p", str(port), "--no-auth-warning", "--user", user]
                    run = subprocess.run([*cli, *words], env=environment, capture_output=True, text=True, check=False)
                    return run.stdout.split("\n")

                self.assertEqual(send("app", "RL.TOKEN", "limit:a", "1m", "5")[0], "1")
                self.assertIn("NOPERM", send("app", "INFO")[0])
                self.assertIn("# rl", send("exporter", "INFO", "rl")[0])
                for words in [("RL.TOP",), ("INFO", "rl"), ("CONFIG", "SET", "rl.shadow", "no")]:
                    self.assertNotIn("NOPERM", send("operator", *words)[0])
                self.assertEqual(send("operator", "CONFIG", "GET", "appendonly")[1], "yes")
                self.assertIn("NOPERM", send("probe", "RL.TOKEN", "limit:a", "1m", "5")[0])
            finally:
                server.kill()
                server.wait()


class Compose(unittest.TestCase):
    def test_what_it_builds_and_mounts_exists(self):
        stages = re.findall(r"^FROM \S+ AS (\S+)$", (ROOT / "Dockerfile").read_text(), re.MULTILINE)
        path = ROOT / "service" / "examples" / "envoy" / "docker-compose.yml"
        for service in yaml.safe_load(path.read_text())["services"].values():
            if build := service.get("build"):
                self.assertEqual((path.parent / build["context"]).resolve(), ROOT)
                self.assertIn(build["target"], stages)
            for volume in service.get("volumes", []):
                self.assertTrue(volume.startswith("data:") or (path.parent / volume.split(":")[0]).exists(), volume)
            for port in service.get("ports", []):
                self.assertTrue(port.startswith("127.0.0.1:"), port)


if __name__ == "__main__":
    unittest.main()
