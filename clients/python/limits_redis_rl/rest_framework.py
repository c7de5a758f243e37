"""Throttles of Django REST framework in place of its own: the same rates and scopes, one limit for all processes.

``LIMITS_REDIS_RL = {"uri": "redis-rl://localhost"}`` in the settings has the arguments of
:class:`limits_redis_rl.RedisRlStorage`, and ``fail_open``.
"""

from __future__ import annotations

import functools
from typing import Any

from django.conf import settings
from django.core.exceptions import ImproperlyConfigured
from limits.storage import storage_from_string
from rest_framework import throttling
from rest_framework.exceptions import APIException

from . import words as grammar
from ._sync.execute import execute
from .storage import Figures
from .threads import send


class Unavailable(APIException):  # type: ignore[misc]
    status_code = 503
    default_detail = "Service Unavailable"
    wait = 1


@functools.cache
def configured() -> tuple[Any, bool]:
    """The storage of the settings, and whether a request is allowed if the server cannot decide."""
    options = dict(getattr(settings, "LIMITS_REDIS_RL", {}))
    uri, fail_open = options.pop("uri", None), options.pop("fail_open", False)
    if not isinstance(uri, str) or not isinstance(fail_open, bool):
        raise ImproperlyConfigured('LIMITS_REDIS_RL: expected {"uri": "redis-rl://host:port", "fail_open": False}')
    return storage_from_string(uri, **options), fail_open


class Throttle(throttling.SimpleRateThrottle):  # type: ignore[misc]
    """The base of those below: ``get_cache_key`` says who is limited, ``None`` is no limit."""

    algorithm = "ROLLING"
    options: tuple[str | int, ...] = ()
    """More words of the command, such as ``("BURST", 10)``."""

    def __init_subclass__(cls, **options: Any) -> None:
        """Checks the words that are constant when the application starts."""
        super().__init_subclass__(**options)
        try:
            grammar.check((cls.algorithm, "key", 60, 1, *cls.options))
        except ValueError as error:
            raise ImproperlyConfigured(f"{cls.__name__}: {error}") from None
        rate = getattr(cls, "rate", None) or cls.THROTTLE_RATES.get(cls.scope)
        if rate is not None:
            cls.parse_rate(cls.__new__(cls), rate)

    def parse_rate(self, rate: Any) -> Any:
        try:
            return super().parse_rate(rate)
        except (AttributeError, KeyError, ValueError, IndexError):
            raise ImproperlyConfigured(f"rate: expected one such as '60/min', not {rate!r}") from None

    def allow_request(self, request: Any, view: Any) -> bool:
        if self.rate is None or (ident := self.get_cache_key(request, view)) is None:
            return True
        (storage, fail_open), algorithm = configured(), self.algorithm
        client, guard, key = storage.storage, storage.guard, storage._key(algorithm, ident)
        words = (f"RL.{algorithm}", key, self.duration, self.num_requests, *self.options, "FULL")
        try:
            [reply] = send(guard, client, key, lambda: execute(guard, client, [list(words)]))
            figures = Figures.of(reply)
        except Exception as error:
            allowed: bool | None = guard.undecided(error, fail_open)
            if allowed is None:
                raise
            if not allowed:
                raise Unavailable from error
            return True
        guard.decided(figures.allowed)
        self.retry_after = figures.retry_after
        return figures.allowed

    def wait(self) -> float | None:
        return self.retry_after


class AnonRateThrottle(throttling.AnonRateThrottle, Throttle): ...  # type: ignore[misc]


class UserRateThrottle(throttling.UserRateThrottle, Throttle): ...  # type: ignore[misc]


class ScopedRateThrottle(throttling.ScopedRateThrottle, Throttle): ...  # type: ignore[misc]
