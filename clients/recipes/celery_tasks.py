"""A limit over all workers of Celery: @app.task(base=Limited) limits a task. No worker waits: a task whose turn comes later
goes back to the queue. Each attempt is charged. When 600 wait (BURST), or without a reply, a task comes again later. A delay
must be shorter than the visibility_timeout of the broker (Redis: 1 h), or the task runs twice."""

import redis
from celery import Celery, Task
from celery.exceptions import Ignore

app = Celery("tasks", broker="redis://localhost:6379/1")
client = redis.Redis(decode_responses=True, protocol=3, socket_timeout=0.1, retry=None)


class Limited(Task):
    def before_start(self, task_id, args, kwargs):
        headers = dict(self.request.headers or {})
        if headers.get("paid") == self.request.retries:
            return  # it was charged, and has waited
        try:
            reply = client.execute_command("RL.LEAKY", self.name, "1m", 60, "BURST", 600, "FULL")
        except (redis.ConnectionError, redis.TimeoutError):
            reply = {"allowed": 0, "retry_after_ms": 1000}
        wait = reply["delay_ms"] if reply["allowed"] else reply["retry_after_ms"]
        if reply["allowed"]:
            headers["paid"] = self.request.retries
        if wait:
            self.signature_from_request(countdown=wait / 1000, headers=headers).apply_async()
            raise Ignore
