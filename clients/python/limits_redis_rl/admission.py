"""What the middlewares for asyncio share: all limits of a request in one decision."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable
from dataclasses import dataclass, field

from ._async.limiter import AsyncLimiter, OneLimit
from .errors import is_unavailable


@dataclass(eq=False)
class Rejected(Exception):
    """The request is not allowed."""

    status: int
    """429, 500 or 503."""
    headers: dict[str, str] = field(default_factory=dict)
    violated: list[str] = field(default_factory=list)
    """The names of the policies that deny it."""


async def admitted(limiter: AsyncLimiter, limits: Iterable[OneLimit] | None) -> dict[str, str]:
    """The headers of the limits, when the request may go on. A request that LEAKY allows is held for its delay.

    Raises :exc:`Rejected`; the log has why.
    """
    try:
        found = limiter.all([] if limits is None else limits)
    except Exception as error:
        limiter.log.rejected(error)
        raise Rejected(500) from error
    if not found:
        return {}
    try:
        decisions = await limiter.decide("MULTI" if len(found) > 1 else "CHECK", found)
    except Exception as error:
        raise (Rejected(503, {"Retry-After": "1"}) if is_unavailable(error) else Rejected(500)) from error
    if not decisions.allowed:
        raise Rejected(429, decisions.headers(), decisions.violated)
    if decisions.delay:
        await asyncio.sleep(decisions.delay)
    return decisions.headers()
