"""Limits of a route of FastAPI, as a dependency."""

from __future__ import annotations

import inspect
from collections.abc import Awaitable, Callable
from typing import Any

from fastapi import Depends
from starlette.requests import HTTPConnection

from ._async.limiter import AsyncLimiter
from .asgi import LIMIT

# What it is, or a dependency that returns it.
Given = Any


def limit(limiter: AsyncLimiter, *limits: tuple[Given, ...]) -> Callable[..., Awaitable[None]]:
    """A dependency that limits a route: ``Depends(limit(limiter, ("TOKEN 1m 60", user)))``. The application needs
    :class:`limits_redis_rl.RateLimitMiddleware`, which replies to what is denied.

    :param limits: a policy, who is limited, and the units of a request, 1 if not given. Each may be a dependency that
        returns it; what that depends on, such as the authentication, comes first. All limits are charged, or none. A
        policy that is ``None`` for this request is no limit
    """
    parameters = [inspect.Parameter("connection", inspect.Parameter.KEYWORD_ONLY, annotation=HTTPConnection)]

    def given(value: Given) -> Callable[[dict[str, Any]], Any]:
        if not callable(value):
            return lambda found: value
        name = f"given_{len(parameters)}"
        parameters.append(inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=Depends(value)))
        return lambda found: found[name]

    made = []
    for each in limits or [()]:
        policy, who, *others = each if isinstance(each, tuple) and 2 <= len(each) <= 3 else (each, None)
        if not isinstance(who, (str, int)) and not callable(who):
            raise TypeError('limit: expected a policy and who is limited: limit(limiter, ("TOKEN 1m 60", user))')
        fixed = policy if callable(policy) else limiter.fixed(policy)
        made.append([given(value) for value in (fixed, who, *others)])

    async def check(connection: HTTPConnection, **found: Any) -> None:
        admit = connection.scope.get(LIMIT)
        if admit is None:
            raise RuntimeError("limit: expected app.add_middleware(RateLimitMiddleware)")
        given_now = [tuple(value(found) for value in each) for each in made]
        await admit(limiter, [each for each in given_now if each[0] is not None])

    # FastAPI reads which dependencies there are.
    check.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    return check
