#!/usr/bin/env -S python3 -B
"""Tests alerts.yml with the cases of alerts_test.yml, by promtool. Debian's python3-yaml reads them."""

import pathlib
import re
import subprocess
import tempfile
import unittest

import yaml

OPS = pathlib.Path(__file__).resolve().parent
ALERTS = [rule["alert"] for group in yaml.safe_load((OPS / "alerts.yml").read_text())["groups"] for rule in group["rules"]]
# Every value as it is written: 0x60 is no number, but 61 times 0.
CASES = yaml.load((OPS / "alerts_test.yml").read_text(), yaml.BaseLoader)


def promtool_test(alert, lines):
    """The test as promtool reads it."""
    firing = f'sum without (alertname, alertstate, severity) (ALERTS{{alertname="{alert}", alertstate="firing"}})'
    series, expected = [], []
    for name, value in lines.items():
        if isinstance(value, str):
            series.append({"series": name, "values": value})
        else:
            labels = ["{" + ", ".join(f'{label}="{text}"' for label, text in found.items()) + "}" for found in value]
            samples = [{"labels": text, "value": 1} for text in labels]
            expected.append({"expr": firing, "eval_time": name, "exp_samples": samples})
    return {"interval": "1m", "input_series": series, "promql_expr_test": expected}


class Alerts(unittest.TestCase):
    def promtool(self, *arguments):
        run = subprocess.run(["promtool", *arguments], cwd=OPS, text=True, capture_output=True, check=False)
        self.assertEqual(run.returncode, 0, run.stdout + run.stderr)

    def test_syntax(self):
        self.promtool("check", "config", "prometheus.yml")
        self.promtool("check", "rules", "--lint-fatal", "alerts.yml")

    def test_every_alert_fires_when_it_should_and_not_else(self):
        self.assertEqual(list(CASES), ALERTS)
        for alert, lines in CASES.items():
            fires = [bool(value) for value in lines.values() if isinstance(value, list)]
            self.assertEqual(set(fires), {True, False}, alert)
        tests = [promtool_test(*case) for case in CASES.items()]
        with tempfile.NamedTemporaryFile("w", suffix=".yml") as file:
            yaml.safe_dump({"rule_files": [str(OPS / "alerts.yml")], "evaluation_interval": "1m", "tests": tests}, file)
            file.flush()
            self.promtool("test", "rules", file.name)


if __name__ == "__main__":
    unittest.main()
