"""Limits of the tools of a FastMCP server."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from fastmcp.server.dependencies import get_access_token
from fastmcp.server.middleware import CallNext, Middleware, MiddlewareContext
from mcp import MCPError

from ._async.limiter import AsyncLimiter, OneLimit
from .asgi import Rejected, admitted

# The codes of JSON-RPC, and the texts. That of a denial is the one of other gateways of MCP.
ERRORS = {429: (-32029, "rate limit exceeded"), 500: (-32603, "internal error"), 503: (-32000, "service unavailable")}


def subject(context: MiddlewareContext[Any]) -> str:
    """The user of the access token: its subject, or without one its client."""
    token = get_access_token()
    if token is None:
        raise TypeError("user: the request has no access token, so ToolLimits needs a function of the context")
    return token.subject or token.claims.get("sub") or token.client_id


class ToolLimits(Middleware):
    """Limits the calls of tools by user and by tool.

    :param policies: the limits of a call, by the user and the name of the tool; ``None`` if it is not limited
    :param user: who calls
    """

    def __init__(
        self,
        *,
        limiter: AsyncLimiter,
        policies: Callable[[str, str], Iterable[OneLimit] | None],
        user: Callable[[MiddlewareContext[Any]], str] = subject,
    ) -> None:
        self.limiter = limiter
        self.policies = policies
        self.user = user

    async def on_call_tool(self, context: MiddlewareContext[Any], call_next: CallNext[Any, Any]) -> Any:
        try:
            await admitted(self.limiter, self.policies(self.user(context), context.message.name))
        except Rejected as rejected:
            code, text = ERRORS[rejected.status]
            data: dict[str, Any] = {"violatedPolicies": rejected.violated}
            if seconds := rejected.headers.get("Retry-After"):
                data["retryAfterSeconds"] = int(seconds)
            raise MCPError(code=code, message=text, data=data) from None
        return await call_next(context)
