"""Throttles of Django REST framework in place of its own: the same rates and scopes, one limit for all processes."""

from __future__ import annotations

from typing import Any

from django.conf import settings
from rest_framework import throttling
from rest_framework.exceptions import APIException

from .errors import is_unavailable
from .policy import Policy


class Unavailable(APIException):  # type: ignore[misc]
    status_code = 503
    default_detail = "Service Unavailable"
    wait = 1


class Throttle(throttling.SimpleRateThrottle):  # type: ignore[misc]
    """The base of those below: ``get_cache_key`` says who is limited, ``None`` is no limit."""

    algorithm = "ROLLING"
    options: dict[str, Any] = {}  # noqa: RUF012

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        cls._policy(60, 1)  # a wrong one is an error when the application starts

    @classmethod
    def _policy(cls, window: int, limit: int) -> Policy:
        return Policy(cls.algorithm, window, limit, name=str(cls.algorithm).lower(), **cls.options)

    def allow_request(self, request: Any, view: Any) -> bool:
        if self.rate is None or (ident := self.get_cache_key(request, view)) is None:
            return True
        try:
            # The framework's key has the scope.
            decision = settings.LIMITS_REDIS_RL.check(self._policy(self.duration, self.num_requests), ident)
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
