import os

import redis.asyncio
from fastapi import FastAPI
from limits_redis_rl import RateLimitMiddleware, keyed_hash

# retry=None, and no retry_on_error: a command that is sent again may be charged twice.
client = redis.asyncio.Redis(host="localhost", retry=None)
hashed = keyed_hash(os.environ["RATE_LIMIT_SECRET"])  # the same in all processes


def policies(scope):
    peer = scope["client"]  # None behind a Unix socket
    caller = hashed(peer[0] if peer else "unknown")
    return [
        ("TOKEN", f"limit:{{{caller}}}:second", "1s", 10, "BURST", 50, "AS", "burst"),
        ("COUNTER", f"limit:{{{caller}}}:day", "1d", 10000, "AS", "daily"),
    ]


app = FastAPI()
app.add_middleware(RateLimitMiddleware, client=client, policies=policies, timeout=0.1)


@app.get("/")
def index():
    return "hello"
