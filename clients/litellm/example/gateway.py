"""Beside config.yaml: who calls, and what its limits are."""

import os

import redis.asyncio
from fastapi import Request
from litellm.proxy._types import UserAPIKeyAuth

from litellm_redis_rl import RateLimitHook, scope

KEYS = {os.environ["GATEWAY_KEY"]: ("alice", "search", "acme")}


async def authenticate(request: Request, api_key: str) -> UserAPIKeyAuth:
    user, team, organisation = KEYS[api_key.removeprefix("Bearer ")]  # an unknown key: 401
    return UserAPIKeyAuth(api_key=api_key, user_id=user, team_id=team, org_id=organisation)


def policies(caller: UserAPIKeyAuth):
    organisation = caller.org_id or ""
    return [
        *scope(organisation, "user", caller.user_id or "", requests=60, tokens=20_000, concurrent=5),
        *scope(organisation, "team", caller.team_id or "", requests=600, tokens=100_000, concurrent=20),
        *scope(organisation, "org", organisation, requests=3_000, tokens=500_000, concurrent=100),
    ]


# retry=None: the hook sends again what may be sent again.
client = redis.asyncio.Redis(host=os.environ.get("REDIS_HOST", "localhost"), retry=None)
hook = RateLimitHook(client, policies)
