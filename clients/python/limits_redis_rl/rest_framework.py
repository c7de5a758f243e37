"""Throttles of Django REST framework in place of its own: the same rates and scopes, one limit for all processes.

``LIMITS_REDIS_RL = {"uri": "redis-rl://localhost"}`` in the settings has the arguments of
:class:`limits_redis_rl.RedisRlStorage`.
"""

from __future__ import annotations

import functools
from typing import Any

from django.conf import settings
from django.core.exceptions import ImproperlyConfigured
from limits.storage import storage_from_string
from rest_framework import throttling
from rest_framework.exceptions import APIException

from .errors import is_unavailable
from .policy import Policy


class Unavailable(APIException):  # type: ignore[misc]
    status_code = 503
    default_detail = "Service Unavailable"
    wait = 1


@functools.cache
def configured() -> Any:
    """The storage of the settings."""
    options = dict(getattr(settings, "LIMITS_REDIS_RL", {}))
    uri = options.pop("uri", None)
    if not isinstance(uri, str):
        raise ImproperlyConfigured('LIMITS_REDIS_RL: expected {"uri": "redis-rl://host:port"}')
    return storage_from_string(uri, **options)


class Throttle(throttling.SimpleRateThrottle):  # type: ignore[misc]
    """The base of those below: ``get_cache_key`` says who is limited, ``None`` is no limit."""

    algorithm = "ROLLING"
    options: dict[str, Any] = {}  # noqa: RUF012
    """More options of the policy, such as ``{"burst": 10}``."""

    def __init_subclass__(cls, **options: Any) -> None:
        """Checks what is constant when the application starts."""
        super().__init_subclass__(**options)
        try:
            cls._policy(60, 1)
        except ValueError as error:
            raise ImproperlyConfigured(f"{cls.__name__}: {error}") from None
        rate = getattr(cls, "rate", None) or cls.THROTTLE_RATES.get(cls.scope)
        if rate is not None:
            cls.parse_rate(cls.__new__(cls), rate)

    @classmethod
    def _policy(cls, window: int, limit: int) -> Policy:
        return Policy(cls.algorithm, window, limit, name=str(cls.algorithm).lower(), **cls.options)

    def parse_rate(self, rate: Any) -> Any:
        try:
            return super().parse_rate(rate)
        except (AttributeError, KeyError, ValueError, IndexError):
            raise ImproperlyConfigured(f"rate: expected one such as '60/min', not {rate!r}") from None

    def allow_request(self, request: Any, view: Any) -> bool:
        if self.rate is None or (ident := self.get_cache_key(request, view)) is None:
            return True
        limiter, policy = configured().limiter, self._policy(self.duration, self.num_requests)
        try:
            # The framework's key has the scope.
            decision = limiter.check(policy, ident)
        except Exception as error:
            if is_unavailable(error):
                raise Unavailable from error
            raise
        self.retry_after = decision.retry_after
        return bool(decision.allowed)

    def wait(self) -> float | None:
        found: float | None = self.retry_after
        return found


class AnonRateThrottle(throttling.AnonRateThrottle, Throttle): ...  # type: ignore[misc]


class UserRateThrottle(throttling.UserRateThrottle, Throttle): ...  # type: ignore[misc]


class ScopedRateThrottle(throttling.ScopedRateThrottle, Throttle): ...  # type: ignore[misc]
