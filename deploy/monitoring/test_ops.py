"""Sends known traffic to real servers and asks a real Prometheus for the figures, and for all of the dashboard.

It runs on the servers that SERVERS names, else on those in target/servers.
"""

import contextlib
import json
import os
import re
import subprocess
import sys
import time
import unittest
import urllib.error
import urllib.request

from stack import OPS, ROOT, Stack, program

CAPABILITIES = json.loads((ROOT / "vectors/capabilities.json").read_text())["algorithms"]
ALGORITHMS = [word.lower() for word in CAPABILITIES]
# As a client may name it, and as its label is: whatever is not printable ASCII is escaped, and \ too.
HOT_KEY = r'"hot \xc3\xa9\xff\n\\ outcome=near;key=x"'
HOT_LABEL = r"hot \xc3\xa9\xff\x0a\x5c outcome=near;key=x"

# Panels of what the traffic does not cause.
MAY_BE_ZERO = {"Error bound", "Connections rejected or evicted", "Clocks, ahead of Prometheus"}
MAY_BE_EMPTY = {"Connections that rlaas ended"}

SERVICE_METRICS = {
    prefix + name
    for file in (ROOT / "service" / "src").rglob("*.rs")
    for prefix, found in [("", r'"(rlaas_\w+)"'), ("ratelimit_service_rate_limit_", r'of_limits\(\s*"(\w+)"')]
    for name in re.findall(found, file.read_text())
}


def service():
    path = os.environ.get("RLAAS") or ROOT / "target" / "debug" / "rlaas"
    return str(path) if os.path.exists(path) else sys.exit(f"{path} is missing: cargo build --package rlaas")


def servers():
    if os.environ.get("SERVERS", "").strip():
        return [path for path in re.split("[ :]", os.environ["SERVERS"]) if path]
    found = sorted((ROOT / "target" / "servers").glob("*/*-server"))
    found = [str(path) for path in found if not path.parent.name.startswith("redis-6")]  # too old for the module
    return found or sys.exit("no server in target/servers: run make servers")


RULES = """
domain: web
descriptors:
  - {key: user, rate_limit: {unit: year, requests_per_unit: 2}}
  - {key: other, rate_limit: {unit: year, requests_per_unit: 9}}
"""
OPEN_RULES = """
domain: open
on_unavailable: allow
descriptors: [{key: user, rate_limit: {unit: year, requests_per_unit: 9}}]
"""


def traffic():
    """Commands to begin with, more commands, and the figures that they make: {(metric, algorithm, outcome): value},
    {key: denials}."""
    commands, figures, denials = [], {}, {}

    def send(times, command, *counted, key=None):
        commands.extend(command.replace("%", str(n)) for n in range(times))
        for figure in counted:
            figures[figure] = figures.get(figure, 0) + times
        if key:
            denials[key] = denials.get(key, 0) + times

    def requests(algorithm, outcome):
        return ("rl_requests_total", algorithm, outcome)

    def of(name, outcome=None):
        return (f"rl_{name}_total", None, outcome)

    def hot(times):
        send(times, f"RL.TOKEN {HOT_KEY} 1h 0", requests("token", "denied"), key=("token", HOT_LABEL))

    hot(1)
    # The server rejects these before the module sees them.
    send(1, "CONFIG SET min-replicas-to-write 9")
    send(1, "RL.TOKEN rejected 1h 9")
    first = len(commands)
    send(60, "RL.TOKEN rejected 1h 9")
    send(1, "CONFIG SET min-replicas-to-write 0")
    hot(59)

    counter = requests("counter", "allowed")
    send(1, "RL.COUNTER reserved:a 1h 1000 RESERVE soon 1ms", counter, of("reservations", "made"))
    send(4, "RL.COUNTER reserved:b 1h 1000 RESERVE id-% 1h", counter, of("reservations", "made"))
    send(3, "RL.COUNTER reserved:b 1h 1000 RESERVE id-0 1h", counter, of("reservations", "repeated"))
    settle = "RL.SETTLE COUNTER reserved:b 1h 1000 RESERVATION id-% ACTUAL 2"
    send(2, settle, of("settlements"), of("reservations", "settled"))

    # Every algorithm and outcome has a number of its own.
    for n, name in enumerate(ALGORITHMS):
        lease = " ID %" if name == "lease" else ""
        calls = {
            "allowed": f"allowed:{name} 1h 1000{lease}",
            "near": f"near:{name}:% 1h 1{lease}",
            "denied": f"denied:{name} 1h 0{lease}",
            "shadow_denied": f"denied:{name} 1h 0{lease} SHADOW",
            "errors": f"errors:{name} 1h x{lease}",
        }
        for m, (outcome, call) in enumerate(calls.items()):
            denied = (name, f"denied:{name}") if "denied" in outcome else None
            send(1 + 5 * n + m, f"RL.{name} {call}", requests(name, outcome), key=denied)

    allowed = [requests("token", "allowed"), requests("fixed", "allowed")]
    send(1, "RL.MULTI 2 TOKEN m 1h 1000 FIXED m 1h 1000", *allowed, of("multi", "allowed"))
    send(2, "RL.MULTI 2 TOKEN m 1h 1000 GCRA m:% 1h 1", allowed[0], requests("gcra", "near"), of("multi", "near"))
    denied = [requests("token", "allowed"), requests("rolling", "denied"), of("multi", "denied")]
    send(3, "RL.MULTI 2 TOKEN m 1h 1000 ROLLING m:r 1h 0", *denied, key=("rolling", "m:r"))
    shadow = [requests("counter", "shadow_denied"), of("multi", "shadow_denied")]
    send(4, "RL.MULTI 1 COUNTER m:c 1h 0 SHADOW", *shadow, key=("counter", "m:c"))
    send(5, "RL.MULTI 1 LEAKY m 1h x", of("multi", "errors"))

    send(1, "RL.SHARE 2 TOKEN m 1h 1000 FIXED m 1h 1000", allowed[0], of("share", "own"))
    send(2, "RL.SHARE 2 TOKEN s 1h 0 FIXED m 1h 1000", allowed[1], of("share", "borrowed"))
    denied = [requests("rolling", "denied"), of("share", "denied")]
    send(3, "RL.SHARE 2 TOKEN s 1h 0 ROLLING m:r 1h 0", *denied, key=("rolling", "m:r"))
    shadow[1] = of("share", "shadow_denied")
    send(4, "RL.SHARE 2 TOKEN s 1h 0 COUNTER m:c 1h 0 SHADOW", *shadow, key=("counter", "m:c"))
    send(5, "RL.SHARE 2 TOKEN s 1h 0 FIXED m 1h x", of("share", "errors"))

    send(6, "RL.PEEK TOKEN m 1h 1000", of("peeks"))
    send(7, "RL.REFUND TOKEN m 1h 1000", of("refunds"))
    send(8, "RL.SETTLE TOKEN m 1h 1000 RESERVED 1 ACTUAL 2", of("settlements"))
    # By now the reservation of a millisecond has ended.
    send(1, "RL.COUNTER reserved:a 1h 1000 RESERVE id 1h", counter, *(of("reservations", x) for x in ("made", "ended")))

    # More keys than are exported, each denied less often than any above.
    send(30, "RL.FIXED other:% 1h 0", requests("fixed", "denied"))

    # At maxmemory, and then without keys: they are evicted.
    send(1, "CONFIG SET maxmemory 1")
    for times, setting, outcome, own in [(2, "error", "error", "errors"), (3, "allow", "allowed", "allowed")]:
        send(1, f"CONFIG SET rl.on-oom {setting}")
        send(times, "RL.TOKEN new 1h 10", of("oom", outcome), requests("token", own))
    send(1, "CONFIG SET rl.on-oom deny")
    send(4, "RL.TOKEN new 1h 10", of("oom", "denied"), requests("token", "denied"), key=("token", "new"))
    send(1, "CONFIG SET maxmemory-policy allkeys-random")
    send(1, "SET k 1")
    for figure in [of("server_evicted_clients"), of("server_flushes"), of("reservations", "lost")]:
        figures[figure] = 0
    return commands[:first], commands[first:], figures, denials


class Ops(unittest.TestCase):
    maxDiff = None

    @classmethod
    def setUpClass(cls):
        cls.paths = servers()
        # The last one is without the module.
        stack = Stack([*((path, True) for path in cls.paths), (cls.paths[0], False)], service=(service(), RULES))
        cls.stack = cls.enterClassContext(stack)
        cls.service = f"127.0.0.1:{cls.stack.service_ports[-1]}"
        *cls.with_module, cls.without_module = [f"127.0.0.1:{exporter}" for *_, exporter in cls.stack.servers]

        # A scrape before and one after make a rate. RL.TOP has no series of a key before its first denial, and the
        # exporter none of an error before the first one.
        begin, more, cls.figures, cls.denials = traffic()
        cls.begin_service()
        cls.send(begin)
        cls.wait_for_a_scrape_of_all()
        for _ in range(60):
            cls.ask("web", "user", 429)
            cls.ask_without_redis()
        (cls.stack.dir / "rules" / "rules.yaml").write_text("domain: [")
        cls.send(more)
        cls.wait_for_a_scrape_of_all()

    @classmethod
    def begin_service(cls):
        """One request of each kind. Then the service has no server, and what it remembers as denied stays denied."""
        (cls.stack.dir / "rules" / "open.yaml").write_text(OPEN_RULES)
        generation = f'rlaas_rules_generation{{instance="{cls.service}"}} > 0'
        cls.stack.wait_for("the service", lambda: cls.stack.query(generation))
        cls.stack.wait_for("a decision", lambda: cls.status("open", "user") == 200)
        for status in [200, 200, 429]:
            cls.ask("web", "user", status)
        cls.stack.end("rlaas-server")
        cls.ask_without_redis()

    @classmethod
    def ask_without_redis(cls):
        cls.ask("web", "other", 503)
        cls.ask("open", "user", 200)
        cls.ask("nowhere", "user", 200)
        cls.ask("open", "nothing", 200)

    @classmethod
    def ask(cls, domain, key, status):
        found = cls.status(domain, key)
        assert found == status, f"{domain} {key}: {found}"

    @classmethod
    def status(cls, domain, key):
        body = {"domain": domain, "descriptors": [{"entries": [{"key": key, "value": "x"}]}]}
        url = f"http://127.0.0.1:{cls.stack.service_ports[2]}/json"
        try:
            with urllib.request.urlopen(url, json.dumps(body).encode(), timeout=30) as reply:
                return reply.status
        except urllib.error.HTTPError as error:
            with error:
                return error.code

    @classmethod
    def send(cls, commands):
        for _, module, port, _ in cls.stack.servers:
            if module:
                redis_cli = [program("redis-cli"), "-p", str(port)]
                text = "\n".join([*commands, ""])
                subprocess.run(redis_cli, input=text, text=True, stdout=subprocess.DEVNULL, check=True, timeout=60)

    @classmethod
    def wait_for_a_scrape_of_all(cls):
        now = time.time()
        for what, count in [("redis_up", len(cls.stack.servers)), ("rlaas_rules_generation", 1)]:
            scraped = f"count(timestamp({what}) > {now}) == {count}"
            cls.stack.wait_for("a scrape of all", lambda scraped=scraped: cls.stack.query(scraped))

    def query(self, expression):
        try:
            return self.stack.query(expression)
        except urllib.error.HTTPError as error:
            self.fail(f"{expression}: {error.read().decode()}")

    def test_every_figure_is_in_prometheus(self):
        for instance in self.with_module:
            with self.subTest(instance=instance):
                found = {
                    (labels["__name__"], labels.get("algorithm"), labels.get("outcome")): value
                    for labels, value in self.query(f'{{__name__=~"rl_.+_total", instance="{instance}"}}')
                }
                self.assertEqual(found, self.figures)
                [(info, one)] = self.query(f'rl_info{{instance="{instance}"}}')
                version = re.search(r'^version = "(.+)"', (ROOT / "Cargo.toml").read_text(), re.MULTILINE)[1]
                # What git says of the build may follow.
                self.assertEqual((info["version"].split("+")[0], one), (version, 1))
                self.assertIn(info["missing_api"], ["none", "acl-categories", "acl-categories,cached-time"])

    def test_the_keys_denied_most(self):
        for instance in self.with_module:
            with self.subTest(instance=instance):
                top = self.query(f'rl_top_denied{{instance="{instance}"}}')
                self.assertEqual(len(top), 20)
                others = {labels["key"] for labels, value in top if labels["key"].startswith("other:") and value == 1}
                found = {(labels["algorithm"], labels["key"]): value for labels, value in top}
                found = {key: value for key, value in found.items() if key[1] not in others}
                self.assertEqual(found, self.denials)
                self.assertEqual(len(others), 20 - len(self.denials))
                for metric, expected in [("rl_top_error_bound", 0), ("rl_top_keys", len(self.denials) + 30)]:
                    [(_, value)] = self.query(f'{metric}{{instance="{instance}"}}')
                    self.assertEqual(value, expected, metric)

    def test_metrics_have_no_other_labels(self):
        for labels, _ in self.query('{__name__=~"rl_.+"}'):
            known = {"__name__", "instance", "job", "algorithm", "outcome", "key", "version", "missing_api"}
            self.assertLessEqual(set(labels), known)
            self.assertEqual("key" in labels, labels["__name__"] == "rl_top_denied", labels)
        self.assertEqual(self.query("redis_script_values"), [])

    def test_every_panel_of_the_dashboard_has_data(self):
        panels = json.loads((OPS / "dashboard.json").read_text())["panels"]
        self.assertEqual(len({panel["id"] for panel in panels}), len(panels))
        expressions = [(panel["title"], target["expr"]) for panel in panels for target in panel.get("targets", [])]
        self.assertGreater(len(expressions), 20)
        for title, expression in expressions:
            with self.subTest(panel=title):
                variables = {"$__rate_interval": "1m", "$instance": "|".join(map(re.escape, self.with_module))}
                for name, value in variables.items():
                    expression = expression.replace(name, value.replace("\\", "\\\\"))
                self.assertNotIn("$", expression)
                values = [value for _, value in self.query(expression)]
                self.assertTrue(values or title in MAY_BE_EMPTY, expression)
                if title not in {*MAY_BE_EMPTY, *MAY_BE_ZERO}:
                    self.assertGreater(max(values), 0, expression)

    def test_alerts(self):
        """The alerts that the traffic causes, and no others. That each one fires in time is in test_alerts.py."""

        def rules():
            return [rule for group in self.stack.api("rules")["groups"] for rule in group["rules"]]

        self.stack.wait_for("an evaluation", lambda: all(rule["health"] != "unknown" for rule in rules()))
        for rule in rules():
            self.assertEqual((rule["health"], rule.get("lastError")), ("ok", None), rule["name"])
            # An expression whose metric no exporter has would never fire.
            for metric in re.findall(r"\b(?:rl|rlaas|ratelimit|redis)_\w+", re.sub(r'"[^"]*"', "", rule["query"])):
                # Some of rlaas have no series before their first event.
                known = metric in SERVICE_METRICS or self.query(f"count({metric})")
                self.assertTrue(known, f"{rule['name']}: {metric}")
            for text in ["summary", "description"]:
                self.assertTrue(rule["annotations"][text], rule["name"])

        def active():
            instances = {rule["name"]: set() for rule in rules()}
            for labels, _ in self.query("ALERTS"):
                instances[labels["alertname"]].add(labels.get("instance"))
            return instances

        with_module = set(self.with_module)
        expected = dict.fromkeys(active(), set()) | {
            "RlCallsRejected": with_module,
            "RlDecisionsAtMaxmemory": with_module,
            "RlKeysEvicted": with_module,
            "RlModuleMissing": {self.without_module},
            "RlaasDecisionsWithoutRedis": {self.service},
            "RlaasRequestErrors": {self.service},
            "RlaasRulesWrong": {self.service},
        }
        with contextlib.suppress(TimeoutError):
            self.stack.wait_for("the alerts", lambda: active() == expected)
        self.assertEqual(active(), expected)
        for alert in self.stack.api("alerts")["alerts"]:
            for text in alert["annotations"].values():
                self.assertNotRegex(text, "error expanding|<no value>|{{")

    def test_without_the_module_and_then_without_the_server(self):
        """The last test, since it ends a server."""
        of_it = f'instance="{self.without_module}"'
        self.assertEqual(self.query(f'{{__name__=~"rl_.+", {of_it}}}'), [])
        self.assertEqual([value for _, value in self.query(f"redis_up{{{of_it}}}")], [1])

        *_, port, _ = self.stack.servers[-1]
        self.stack.end(f"server-{port}")
        self.stack.wait_for("RlServerDown", lambda: self.query(f'ALERTS{{alertname="RlServerDown", {of_it}}}'))


if __name__ == "__main__":
    unittest.main()
