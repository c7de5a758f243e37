"""Limits of a route of FastAPI, as a dependency."""

from collections.abc import Awaitable, Callable, Iterator, Sequence
from typing import Annotated, Any

import fastapi.routing
from fastapi import Depends
from starlette.requests import HTTPConnection

from . import words
from .asgi import CHECKS, LIMIT
from .charge import Policy, listed
from .keys import bounded

# Where a dependency has its policies.
POLICIES = "limits_redis_rl_policies"


def limit(*policy: Any, key: Callable[..., Any]) -> Callable[..., Awaitable[None]]:
    """A dependency that limits a route: ``Depends(limit("TOKEN", "api", "1m", 60, key=user))``.

    The application needs :class:`limits_redis_rl.RateLimitMiddleware`, which has the client, replies to what is denied,
    and adds the headers to every response. When the application starts, it fails if a word of a limit is wrong.

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

    setattr(check, POLICIES, policies)
    return check


def wrong(app: Any) -> Iterator[str]:
    """The limits of the routes of an application that no server would accept, each with its route."""
    return _wrong(getattr(app, "routes", ()), "")


def _wrong(routes: Sequence[Any], prefix: str) -> Iterator[str]:
    # Newer versions of FastAPI keep the routes of an included router in the router.
    contexts: Any = getattr(fastapi.routing, "iter_route_contexts", iter)
    for route in contexts(routes):
        path = prefix + (getattr(route, "path", None) or "")
        yield from _wrong(getattr(route, "routes", None) or (), path)
        named = f"{' '.join(sorted(getattr(route, 'methods', None) or ['WebSocket']))} {path}"
        dependants = [getattr(route, "dependant", None)]
        while dependants:
            if (dependant := dependants.pop()) is None:
                continue
            dependants += dependant.dependencies
            for policy in getattr(dependant.call, POLICIES, ()):
                try:
                    words.check((*policy, "AS", policy[1]))
                except ValueError as error:
                    yield f"{named}: limit {policy[1]!r}: {error}"


CHECKS.append(wrong)
