"""Limits of a route of FastAPI, as a dependency."""

from collections.abc import Awaitable, Callable
from typing import Annotated, Any

from fastapi import Depends
from starlette.requests import HTTPConnection

from .asgi import LIMIT
from .charge import Policy, listed
from .guard import bounded


def limit(*policy: Any, key: Callable[..., Any]) -> Callable[..., Awaitable[None]]:
    """A dependency that limits a route: ``Depends(limit("TOKEN", "api", "1m", 60, key=user))``.

    The application needs :class:`limits_redis_rl.RateLimitMiddleware`, which has the client, replies to what is denied,
    and adds the headers to every response.

    :param policy: an algorithm, the name of the limit, a window, a limit, and options; or several of these, each a
        tuple, which are charged all or none. The key in the server is ``<name>:{<user>}``
    :param key: a dependency that returns who is limited: ``str``, ``bytes`` or ``int``. What it depends on, such as
        the authentication, comes first
    """
    policies = listed([policy] if policy and isinstance(policy[0], str) else policy)
    if not policies:
        raise TypeError('limit: expected an algorithm, a name, a window and a limit: limit("TOKEN", "api", "1m", 60)')
    if not callable(key):
        raise TypeError("key: expected a dependency that returns who is limited: key=user")

    def policy_of(user: Any, algorithm: Any, name: Any, *rest: Any) -> Policy:
        return (algorithm, bounded(name) + b":{" + bounded(user) + b"}", *rest, "AS", name)

    async def check(connection: HTTPConnection, user: Annotated[Any, Depends(key)]) -> None:
        admit = connection.scope.get(LIMIT)
        if admit is None:
            raise RuntimeError("limit: expected app.add_middleware(RateLimitMiddleware, client=client) before")
        await admit(policy_of(user, *policy) for policy in policies)

    return check
