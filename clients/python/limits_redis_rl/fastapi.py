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


def limit(limiter: AsyncLimiter, *limits: Given, key: Given = None, cost: Given = 1) -> Callable[..., Awaitable[None]]:
    """A dependency that limits a route: ``Depends(limit(limiter, "TOKEN 1m 60", key=user))``. The application needs
    :class:`limits_redis_rl.RateLimitMiddleware`, which replies to what is denied.

    :param limits: policies, each for `key` and `cost`; or tuples of a policy, a key of its own and a cost. All are
        charged, or none. A policy may be a dependency that returns one for this request, or ``None`` for no limit
    :param key: a dependency that returns who is limited. What it depends on, such as the authentication, comes first.
        Or a text: one limit for all
    :param cost: the units of a request, or a dependency that returns them
    """
    parameters = [inspect.Parameter("connection", inspect.Parameter.KEYWORD_ONLY, annotation=HTTPConnection)]

    def given(name: str, value: Given) -> Callable[[dict[str, Any]], Any]:
        if not callable(value):
            return lambda found: value
        parameters.append(inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=Depends(value)))
        return lambda found: found[name]

    made = []
    for number, each in enumerate(limits):
        policy, who, units = (*each, cost)[:3] if isinstance(each, tuple) else (each, key, cost)
        if not isinstance(who, (str, int)) and not callable(who):
            raise TypeError("key: expected a dependency that returns who is limited: key=user")
        fixed = policy if callable(policy) else limiter.fixed(policy)
        values = {"policy": fixed, "key": who, "cost": units}
        made.append([given(f"{name}_{number}", value) for name, value in values.items()])
    if not made:
        raise TypeError('limit: expected a policy: limit(limiter, "TOKEN 1m 60", key=user)')

    async def check(connection: HTTPConnection, **found: Any) -> None:
        admit = connection.scope.get(LIMIT)
        if admit is None:
            raise RuntimeError("limit: expected app.add_middleware(RateLimitMiddleware)")
        given_now = [tuple(value(found) for value in each) for each in made]
        await admit(limiter, [each for each in given_now if each[0] is not None])

    # FastAPI reads which dependencies there are.
    check.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    return check
