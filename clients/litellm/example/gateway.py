"""Beside config.yaml: who calls, and what its limits are."""

import os

import redis.asyncio
from fastapi import HTTPException, Request
from litellm.proxy._types import UserAPIKeyAuth

from litellm_redis_rl import RateLimitHook, scope

KEYS = {os.environ["GATEWAY_KEY"]: ("alice", "search", "acme")}


async def authenticate(request: Request, api_key: str) -> UserAPIKeyAuth:
    caller = KEYS.get(api_key.removeprefix("Bearer "))
    if caller is None:
        raise HTTPException(401, "unknown key")
    user, team, organisation = caller
    return UserAPIKeyAuth(api_key=api_key, user_id=user, team_id=team, org_id=organisation)


def policies(caller: UserAPIKeyAuth):
    organisation = caller.org_id or ""
    return [
        *scope(organisation, "user", caller.user_id or "", requests=60, tokens=20_000, concurrent=5),
        *scope(organisation, "team", caller.team_id or "", requests=600, tokens=100_000, concurrent=20),
        *scope(organisation, "org", organisation, requests=3_000, tokens=500_000, concurrent=100),
    ]


# retry=None: the hook sends again what may be sent again.
client = redis.asyncio.Redis.from_url(os.environ.get("REDIS_URL", "redis://localhost"), retry=None)
hook = RateLimitHook(client, policies)
