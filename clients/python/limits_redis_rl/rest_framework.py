"""Throttles of Django REST framework, in place of its own: the same rates and scopes, one limit for all processes.

``LIMITS_REDIS_RL = {"uri": "redis-rl://localhost"}`` in the settings has the arguments of
:class:`limits_redis_rl.RedisRlStorage`, and ``fail_open``.
"""

from __future__ import annotations

import functools
from typing import Any

from django.conf import settings
from django.core.exceptions import ImproperlyConfigured
from rest_framework import throttling
from rest_framework.exceptions import APIException

from ._sync.storage import RedisRlClusterStorage, RedisRlStorage
from .storage import Figures
from .threads import send


class Unavailable(APIException):  # type: ignore[misc]
    """The server cannot decide."""

    status_code = 503
    default_detail = "Service temporarily unavailable, try again later."
    wait = 1


@functools.cache
def configured() -> tuple[RedisRlStorage, bool]:
    """The storage of the settings, and whether a request is allowed if the server cannot decide."""
    options = dict(getattr(settings, "LIMITS_REDIS_RL", None) or {})
    if not isinstance(uri := options.pop("uri", None), str):
        raise ImproperlyConfigured('LIMITS_REDIS_RL: expected {"uri": "redis-rl://host:port"}')
    if not isinstance(fail_open := options.pop("fail_open", False), bool):
        raise ImproperlyConfigured("LIMITS_REDIS_RL: fail_open: expected True or False")
    kind = RedisRlClusterStorage if uri.startswith("redis-rl+cluster") else RedisRlStorage
    return kind(uri, **options), fail_open


class Throttle(throttling.SimpleRateThrottle):  # type: ignore[misc]
    """The base of those below. ``get_cache_key`` says who is limited; ``None`` is no limit."""

    algorithm = "ROLLING"
    """TOKEN, GCRA, COUNTER, WINDOW, ROLLING, SLIDING or FIXED."""
    options: tuple[str | int, ...] = ()
    """Of the command, such as ``("BURST", 10)``."""
    retry_after: float | None = None

    def parse_rate(self, rate: Any) -> tuple[int | None, int | None]:
        try:
            parsed: tuple[int | None, int | None] = super().parse_rate(rate)
        except (AttributeError, KeyError, ValueError, IndexError):
            raise ImproperlyConfigured(f"rate: expected one such as '60/min', not {rate!r}") from None
        return parsed

    def allow_request(self, request: Any, view: Any) -> bool:
        if self.rate is None or (ident := self.get_cache_key(request, view)) is None:
            return True
        storage, fail_open = configured()
        key = storage._key(self.algorithm, ident)
        words = (f"RL.{self.algorithm}", key, self.duration, self.num_requests, *self.options, "FULL")
        client = storage.storage
        try:
            figures = Figures.of(send(storage.guard, client, key, lambda: client.execute_command(*words)))
        except Exception as error:
            allowed = storage.guard.undecided(error, fail_open)
            if allowed is None:
                raise
            if not allowed:
                raise Unavailable from error
            return True
        storage.guard.decided(figures.allowed)
        self.retry_after = figures.retry_after
        return figures.allowed

    def wait(self) -> float | None:
        """The seconds for ``Retry-After``; ``None`` if the request can never be allowed."""
        return self.retry_after


class AnonRateThrottle(throttling.AnonRateThrottle, Throttle):  # type: ignore[misc]
    """As that of Django REST framework."""


class UserRateThrottle(throttling.UserRateThrottle, Throttle):  # type: ignore[misc]
    """As that of Django REST framework."""


class ScopedRateThrottle(throttling.ScopedRateThrottle, Throttle):  # type: ignore[misc]
    """As that of Django REST framework."""
