"""The recipe for Celery with a worker."""

from __future__ import annotations

import pathlib
import subprocess
import sys

import redis
from faults import replaced
from server import ROOT, eventually, spawn

from .conftest import needs_module

TASK = """

@app.task(base=Limited, bind=True, default_retry_delay=0)
def call(self, fails):
    client.rpush("ran", client.time()[0] * 1000 + client.time()[1] // 1000)
    if fails and not self.request.retries:
        raise self.retry()
"""


@needs_module
def test_tasks_run_at_their_rate_and_are_charged_once(port: int, raw: redis.Redis, tmp_path: pathlib.Path) -> None:
    changes = {
        "localhost:6379": f"127.0.0.1:{port}",
        "redis.Redis(": f"redis.Redis(port={port}, ",
        '"1m", 60': '"1s", 5',
        "timeout=0.1": "timeout=30",
    }
    (tmp_path / "tasks.py").write_text(replaced((ROOT / "clients/recipes/celery_tasks.py").read_text(), changes) + TASK)
    raw.execute_command("CONFIG", "RESETSTAT")
    subprocess.run([sys.executable, "-c", "from tasks import *; [call.delay(n) for n in (0, 0, 0, 1)]"], cwd=tmp_path)
    options = ["--pool", "solo", "--without-mingle", "--without-gossip"]
    worker = spawn([sys.executable, "-m", "celery", "-A", "tasks", "worker", *options], tmp_path, "log")
    try:
        eventually(lambda: raw.llen("ran") == 5, "five runs", 30)
    finally:
        worker.kill()
        worker.wait()
    ran = sorted(map(int, raw.lrange("ran", 0, -1)))
    # One each 200 ms; the first may have started late.
    assert ran[-1] - ran[0] >= 4 * 200 - 150
    # Four tasks, and one of them was retried.
    assert raw.info("commandstats")["cmdstat_RL.LEAKY"]["calls"] == 5
