"""As example/gateway.py. The key of a test says who calls, and what its limits are."""

import base64
import json
import os

import redis.asyncio
from litellm.proxy._types import UserAPIKeyAuth

from litellm_redis_rl import RateLimitHook, scope


async def authenticate(request, api_key):
    caller = json.loads(base64.urlsafe_b64decode(api_key.removeprefix("Bearer ").removeprefix("sk-")))
    return UserAPIKeyAuth(
        api_key=api_key, user_id=caller["user"], team_id=caller["team"], org_id=caller["org"], metadata=caller
    )


def policies(caller):
    names = {"user": caller.user_id, "team": caller.team_id, "org": caller.org_id}
    for kind, limits in caller.metadata["limits"].items():
        yield from scope(caller.org_id, kind, names[kind], **limits)


hook = RateLimitHook(
    redis.asyncio.Redis(port=int(os.environ["RL_PORT"]), retry=None),
    policies,
    timeout=float(os.environ["RL_TIMEOUT"]),
    ttl=os.environ["RL_TTL"],
    fail_open=os.environ["RL_FAIL_OPEN"] == "yes",
)
