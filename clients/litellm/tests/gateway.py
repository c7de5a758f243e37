"""As example/gateway.py. The key of a test says who calls, and what its limits are."""

import base64
import json
import os
import socket

import litellm
import redis.asyncio
from litellm.proxy._types import UserAPIKeyAuth

from litellm_redis_rl import INPUT, OUTPUT, RateLimitHook, scope, share


def download(*_):
    socket.create_connection(("127.0.0.1", int(os.environ["ELSEWHERE"]))).close()
    raise OSError("no tokenizer")


# The tests have not all packages with which litellm downloads a tokenizer.
assert callable(litellm.utils._load_huggingface_tokenizer)
litellm.utils._load_huggingface_tokenizer = download


async def authenticate(request, api_key):
    caller = json.loads(base64.urlsafe_b64decode(api_key.removeprefix("Bearer ").removeprefix("sk-")))
    return UserAPIKeyAuth(
        api_key=api_key, user_id=caller["user"], team_id=caller["team"], org_id=caller["org"], metadata=caller
    )


def price(model, prompt, output):
    if output == 13:
        raise ValueError("no price")
    return prompt + 4 * output


def policies(caller):
    hook.limiter.link.timeout = caller.metadata.get("timeout", 30)
    names = {"user": caller.user_id, "team": caller.team_id, "org": caller.org_id}
    for kind, limits in caller.metadata["limits"].items():
        yield from scope(caller.org_id, kind, names[kind], **limits)
    key = f"llm:{{{caller.org_id}}}:budget"
    if budget := caller.metadata.get("budget"):
        yield ("WINDOW", key, "1d", budget, "COST", price, "AS", "budget")
    yield from {
        None: [],
        "a bucket": [("TOKEN", key, "1m", 60)],
        "a window": [("ROLLING", key, "1min", 60)],
        "a policy": [("ROLLING", key)],
        "a price": [("WINDOW", key, "1d", 100, "COST", lambda model, prompt, output: {}[model])],
        "one key": [("FIXED", key, "day", 100, "COST", INPUT), ("FIXED", key, "month", 100, "COST", OUTPUT)],
        "two keys": [("WINDOW", key, "1d", 100), ("WINDOW", key, "1d", 100)],
        "no policies": None,
    }[caller.metadata.get("wrong")]


def shares(caller, model):
    if part := caller.metadata.get("part"):
        more = {"whole": caller.metadata["whole"], "window": "365d"}
        yield from share(f"{model} of {caller.org_id}", caller.team_id, part=part, **more)


hook = RateLimitHook(
    redis.asyncio.Redis(port=int(os.environ["RL_PORT"]), retry=None),
    policies,
    shares=shares,
    ttl=os.environ["RL_TTL"],
    fail_open=os.environ["RL_FAIL_OPEN"] == "yes",
)
