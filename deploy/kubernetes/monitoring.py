#!/usr/bin/env python3
"""Prints what the Prometheus Operator takes: the alerts, and what scrapes exporter.yaml and rlaas. And the exporter's script.

`deploy/kubernetes/monitoring.py | kubectl apply -f -`. All comes from deploy/monitoring; Debian's python3-yaml reads it.
"""

import pathlib
import re

import yaml

MONITORING = pathlib.Path(__file__).resolve().parent.parent / "monitoring"


def manifest(kind, name, version="monitoring.coreos.com/v1", **rest):
    labels = {"app.kubernetes.io/name": name}
    return {"apiVersion": version, "kind": kind, "metadata": {"name": name, "labels": labels}, **rest}


def camel(rule):
    return {re.sub("_(.)", lambda found: found[1].upper(), name): value for name, value in rule.items()}


def monitor(pod, job, rules):
    """The alerts name the job; a pod keeps its name when it gets another address."""
    relabel = [
        {"targetLabel": "job", "replacement": job},
        {"sourceLabels": ["__meta_kubernetes_pod_name"], "targetLabel": "instance"},
    ]
    endpoint = {"port": "metrics", "relabelings": relabel, "metricRelabelings": [camel(rule) for rule in rules]}
    selector = {"matchLabels": {"app.kubernetes.io/name": pod}}
    return manifest("PodMonitor", pod, spec={"selector": selector, "podMetricsEndpoints": [endpoint]})


def manifests():
    read = {name: yaml.safe_load((MONITORING / name).read_text()) for name in ["alerts.yml", "prometheus.yml"]}
    jobs = {job["job_name"]: job.get("metric_relabel_configs", []) for job in read["prometheus.yml"]["scrape_configs"]}
    yield manifest("PrometheusRule", "redis-rl", spec=read["alerts.yml"])
    yield manifest("ConfigMap", "redis-rl-exporter", "v1", data={"collect.lua": (MONITORING / "collect.lua").read_text()})
    for pod, job in [("redis-rl-exporter", "redis-rl"), ("rlaas", "rlaas")]:
        yield monitor(pod, job, jobs[job])


if __name__ == "__main__":
    print(yaml.safe_dump_all(manifests(), sort_keys=False, width=1000), end="")
