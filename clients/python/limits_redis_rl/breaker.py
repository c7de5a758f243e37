"""When calls stop going to a server that does not reply, and when they begin again: docs/failure.md has it in words,
vectors/breaker.json as a table."""

from __future__ import annotations

import threading

# How long no call has a reply before a call without one opens it, in milliseconds.
SILENCE = 250.0


class Breaker:
    """One for each server. Times are milliseconds of a clock that never goes back."""

    def __init__(self, timeout: float) -> None:
        self.is_open = False
        self._timeout = timeout  # a call that tries and is older no longer counts
        self._since: float | None = None  # when the first call was sent after the last reply
        self._tried: float | None = None
        self._lock = threading.Lock()

    def request(self, now: float) -> bool:
        """Whether a call may be sent."""
        with self._lock:
            if self.is_open and self._tried is not None and now - self._tried <= self._timeout:
                return False
            if self.is_open:
                self._tried = now
            if self._since is None:
                self._since = now
            return True

    def reply(self) -> None:
        """A call has a reply, an error too, however late."""
        self.is_open = False
        self._since = self._tried = None

    def timed_out(self, now: float) -> None:
        since = self._since
        if since is not None and now - since >= max(SILENCE, self._timeout):
            self.is_open = True

    def left(self, sent: float) -> None:
        """The call that was sent then has ended. If it tried, the next one tries, and finds the same fault."""
        if self._tried == sent:
            self._tried = None

    def broken(self) -> None:
        """The connection broke, or cannot be opened."""
        self.is_open = True
        self._tried = None
