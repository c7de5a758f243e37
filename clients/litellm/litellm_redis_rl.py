"""A hook for litellm's proxy: the limits of a call in one RL.MULTI before it, settled after it.

Every limit is a reservation or a lease, so a call that is sent again is charged once, and what a killed worker holds
comes back by itself. One RL.SHARE after it charges what teams share of a model, which is no reservation.
"""

from __future__ import annotations

import asyncio
import contextlib
import contextvars
import json
import logging
from collections.abc import AsyncIterator, Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import quote

import litellm
import openai
import redis
from fastapi import HTTPException
from limits_redis_rl import AsyncLimiter, AsyncReservation, Limit, Policy, is_unavailable
from limits_redis_rl.calls import Call
from limits_redis_rl.decision import Decisions
from limits_redis_rl.keys import bounded
from litellm.integrations.custom_logger import CustomLogger
from litellm.proxy._types import UserAPIKeyAuth

#: The units of a call: of its model, as the caller names it, the tokens of its prompt, and those of its output.
Units = Callable[[str, int, int], int]
#: The words of a limit in RL.MULTI. A cost that depends on the call is a function: before the call it gets the
#: estimates, and after it what was used.
PolicyWords = tuple[str | bytes | int | Units, ...]


def TOKENS(model: str, prompt: int, output: int) -> int:
    """All tokens of a call: ``("COST", TOKENS)``."""
    return prompt + output


def INPUT(model: str, prompt: int, output: int) -> int:
    """The tokens of the prompt."""
    return prompt


def OUTPUT(model: str, prompt: int, output: int) -> int:
    """The tokens of the output."""
    return output


def scope(
    tag: str,
    kind: str,
    name: str,
    *,
    requests: int | None = None,
    tokens: int | None = None,
    input: int | None = None,
    output: int | None = None,
    concurrent: int | None = None,
    window: str = "1m",
    lease: str = "30s",
) -> list[PolicyWords]:
    """The policies of a user, a team or an organisation.

    :param tag: the hash tag, the same in all scopes of a call: the organisation
    :param kind: what has these limits, as the headers name it: ``user``
    :param name: which of them
    :param requests: requests in the window
    :param tokens: tokens in the window
    :param input: tokens of prompts in the window
    :param output: tokens of outputs in the window
    :param concurrent: calls at the same time
    :param lease: how long a call counts after its worker was killed
    """
    tag, name = (bounded(quote(part, safe="")) for part in (tag, name))
    key = f"llm:{{{tag}}}:{kind}:{name}"
    policies: list[PolicyWords] = []
    if requests is not None:
        policies.append(("ROLLING", f"{key}:requests", window, requests, "AS", f"{kind}-requests"))
    for limit, units, what in [(tokens, TOKENS, "tokens"), (input, INPUT, "input"), (output, OUTPUT, "output")]:
        if limit is not None:
            policies.append(("ROLLING", f"{key}:{what}", window, limit, "COST", units, "AS", f"{kind}-{what}"))
    if concurrent is not None:
        policies.append(("LEASE", f"{key}:concurrent", lease, concurrent, "AS", f"{kind}-concurrent"))
    return policies


def share(
    model: str, team: str, *, part: int, whole: int, burst: int | None = None, window: str = "1m"
) -> list[PolicyWords]:
    """The tokens of a model that teams share: each has its part, and what the others leave of the whole.

    :param model: which quota it is; the model's name, or that of its provider's account
    :param team: who has the part
    :param part: tokens in the window that the team has in any case, if the parts together are at most the whole
    :param whole: tokens of the model in the window
    :param burst: how many tokens of the whole may be used at once, and of the part in proportion; all if not given. The
        model gets at most `whole` and the bursts in a window
    """
    tag, name = (bounded(quote(each, safe="")) for each in (model, team))
    key = f"llm:{{{tag}}}:model"
    policies: list[PolicyWords] = []
    for at, limit, named in [(f"{key}:{name}", part, "team-share"), (key, whole, "model")]:
        at_once = () if burst is None else ("BURST", max(1, burst * limit // whole))
        policies.append(("TOKEN", at, window, limit, *at_once, "COST", TOKENS, "AS", named))
    return policies


@dataclass(eq=False)
class _Shared:
    """What a call was charged of limits that share: that of the one that paid, and of the wider ones."""

    policies: list[PolicyWords]
    limits: list[Limit]
    decision: Decisions

    def settlements(self, cost: Callable[[Units], int]) -> list[Call]:
        """What corrects the charges to what was used."""
        found = []
        for policy, limit, decision in zip(self.policies, self.limits, self.decision.limits, strict=True):
            units = _cost(policy)
            # Without the server nothing is charged.
            if decision.charged and callable(units):
                words = "RESERVED", str(decision.charged), "ACTUAL", str(cost(units)), "AT", str(decision.at)
                found.append(Call("SETTLE", [limit.correction(*words)]))
        return found


@dataclass(eq=False)
class _Call:
    """One call: its reservation, and what is known of its tokens."""

    reservation: AsyncReservation | None
    shared: _Shared | None
    units: Mapping[Any, Units]
    model: str
    prompt: int
    task: asyncio.Task[Any] | None
    was_called: bool = True
    is_over: bool = False
    text: list[str] = field(default_factory=list)
    rest: bytes = b""
    usage: tuple[int, int] | None = None
    was_rejected: bool = False
    is_streaming: bool = False

    def heard(self, chunk: Any) -> None:
        """Remembers what a part of a stream says."""
        if isinstance(chunk, (bytes, str)):
            self.heard_raw(chunk.encode() if isinstance(chunk, str) else chunk)
            return
        usage = _usage(chunk, self.prompt)
        if usage is not None:
            # It is of all that was streamed so far. More may follow: some models begin with one.
            self.usage = usage
            self.text.clear()
        else:
            self.text += _texts(chunk)

    def heard_raw(self, part: bytes) -> None:
        """Remembers what a part of a stream of events says that litellm passes on as it is."""
        *lines, self.rest = (self.rest + part).split(b"\n")
        for line in lines:
            if line.startswith(b"data:"):
                with contextlib.suppress(ValueError):
                    event = json.loads(line[5:])
                    if isinstance(event, dict):
                        self.heard(event)

    def used(self) -> tuple[int, int] | None:
        """The tokens of the prompt and of the output, if they are known: the last usage and what came after it."""
        if not self.text:
            return self.usage
        prompt, output = self.usage or (self.prompt, 0)
        return prompt, output + _tokens(self.model, text="".join(self.text))

    def decision(self) -> Decisions:
        """What the headers say."""
        limits = [] if self.reservation is None else self.reservation.decision.limits
        return Decisions(True, [*limits, *([] if self.shared is None else [self.shared.decision.deciding])], None)

    def end(self) -> list[Call]:
        """Settles the reservation in the background, with the tokens that are known. Returns what settles the shared
        limits. The estimate stays charged where nothing is known."""
        if self.is_over:
            return []
        self.is_over = True
        used = self.used()
        was_called = self.was_called or self.was_rejected or used is not None
        try:
            if self.reservation is not None and self.was_rejected:
                self.reservation.report(0)
            elif self.reservation is not None and used is not None:
                self.reservation.report({key: units(self.model, *used) for key, units in self.units.items()})
            if self.shared is None:
                return []
            if self.was_rejected or not was_called:
                return self.shared.settlements(lambda _: 0)
            return [] if used is None else self.shared.settlements(lambda units: int(units(self.model, *used)))
        finally:
            # Without a report, the estimate of a call stays charged.
            if self.reservation is not None:
                self.reservation.close(charged=was_called)


# A call and all tasks that litellm starts for it have one context.
_current: contextvars.ContextVar[_Call | None] = contextvars.ContextVar("redis_rl_call", default=None)


class RateLimitHook(CustomLogger):  # type: ignore[misc]
    """Limits the calls of litellm's proxy: an entry of ``litellm_settings.callbacks``."""

    def __init__(
        self,
        client: Any,
        policies: Callable[[UserAPIKeyAuth], Iterable[PolicyWords]],
        *,
        shares: Callable[[UserAPIKeyAuth, str], Iterable[PolicyWords]] | None = None,
        ttl: str = "15m",
        output: int = 1024,
        fail_open: bool = False,
        timeout: float = 0.1,
        module: str = "optional",
    ) -> None:
        """
        :param client: the connection to the server, made with ``retry=None``
        :param policies: the limits of a caller, none if it is not limited
        :param shares: what a caller shares of a model, the narrowest limit first; none if it shares nothing: ``share``
        :param ttl: after which time the tokens of a killed worker come back; longer than the longest call
        :param output: the tokens of an output whose longest length the call does not say
        :param fail_open: whether a call is allowed if the server cannot decide; else it gets 503
        :param timeout: how many seconds a call waits for the server at most
        :param module: ``optional``: without the module, the Lua scripts decide; ``required``: each call gets 500
        """
        super().__init__()
        self.policies = policies
        self.shares = shares
        self._settling: set[asyncio.Task[None]] = set()
        self.ttl = ttl
        self.output = output
        unavailable = "allow" if fail_open else "error"
        self.limiter = AsyncLimiter(client, unavailable=unavailable, timeout=timeout, module=module)
        self._log = self.limiter.log

    async def async_pre_call_hook(
        self, user_api_key_dict: UserAPIKeyAuth, cache: Any, data: dict[str, Any], call_type: Any
    ) -> None:
        task = asyncio.current_task()
        current = _current.get()
        if current is not None and current.task is task and not current.is_over:
            return  # litellm prepares the same call again, for another model
        _current.set(None)  # a pipelined request has the context of the one before
        try:
            model = str(data.get("model") or "")
            policies = list(self.policies(user_api_key_dict))
            shares = [] if self.shares is None else list(self.shares(user_api_key_dict, model))
            if not policies and not shares:
                return
            if call_type == "acompletion" and "," in model:
                # litellm calls each of them, and says the usage of one or of none.
                raise HTTPException(400, "One call may name one model.")
            if call_type not in UNKNOWN:
                _leave_out_repeats(data)
            prompt = await asyncio.to_thread(_prompt_tokens, model, data, call_type)
            output = _longest_output(data, call_type, self.output)
            units = _units(policies)
            limits, shared_limits = (
                [_limit(policy, model, prompt, output) for policy in each] for each in (policies, shares)
            )
            reservation = await self.limiter.reserve(limits, self.ttl) if limits else None
            shared = None
            if shared_limits and (reservation is None or reservation.allowed):
                try:
                    shared = _Shared(shares, shared_limits, await self.limiter.share(shared_limits))
                finally:
                    # Also where there is no decision, or the caller hangs up.
                    if reservation is not None and (shared is None or not shared.decision.allowed):
                        reservation.close(charged=False)
        except HTTPException:
            raise  # what `policies` says, or the call above
        except Exception as error:
            # The log has the error. A client learns nothing of the server.
            if is_unavailable(error):
                text = "The rate limits cannot be checked now."
                raise HTTPException(503, text, headers={"retry-after": "1"}) from None
            if not isinstance(error, (redis.RedisError, redis.exceptions.RedisClusterException)):
                # The limiter knows the others.
                self.limiter.counters.faults += 1
                self._log.write(logging.ERROR, "the limits of a call are wrong, a fault of the configuration", error)
            raise HTTPException(500, "The rate limits are configured wrongly.") from None
        if reservation is not None and not reservation.allowed:
            denied = [
                _name(policy)
                for policy, limit in zip(policies, reservation.decision.limits, strict=True)
                if not limit.allowed
            ]
            raise _exceeded(denied, reservation.decision.headers())
        if shared is not None and not shared.decision.allowed:
            raise _exceeded([_name(shares[-1])], shared.decision.headers())
        call = _Call(reservation, shared, units, model, prompt, task)
        if call_type in TELL_OF_THE_CALL:
            call.was_called = False  # until litellm calls the model
        _current.set(call)
        if task is not None:
            # For what ends a call without any of the hooks below.
            task.add_done_callback(lambda _: None if call.is_streaming else self._end(call))

    async def async_pre_call_deployment_hook(self, kwargs: dict[str, Any], call_type: Any) -> None:
        call = _current.get()
        if call is not None:
            call.was_called = True

    async def async_post_call_response_headers_hook(
        self, data: dict[str, Any], user_api_key_dict: UserAPIKeyAuth, response: Any, *_: Any, **__: Any
    ) -> dict[str, str] | None:
        call = _current.get()
        return None if call is None else _lower(call.decision().headers())

    async def async_post_call_success_hook(
        self, data: dict[str, Any], user_api_key_dict: UserAPIKeyAuth, response: Any
    ) -> None:
        call = _current.get()
        if call is not None:
            call.was_called = True
            call.heard(response)
            self._end(call)

    async def async_post_call_streaming_iterator_hook(
        self, user_api_key_dict: UserAPIKeyAuth, response: Any, request_data: dict[str, Any]
    ) -> AsyncIterator[Any]:
        call = _current.get()
        if call is None:
            async for chunk in response:
                yield chunk
            return
        call.is_streaming = True
        call.was_called = True
        try:
            async for chunk in response:
                call.heard(chunk)
                yield chunk
        finally:
            # Also if the caller hangs up.
            self._end(call)

    async def async_post_call_failure_hook(
        self,
        request_data: dict[str, Any],
        original_exception: Exception,
        user_api_key_dict: UserAPIKeyAuth,
        traceback_str: str | None = None,
    ) -> None:
        call = _current.get()
        if call is None or call.is_over:
            return
        call.was_rejected = not call.text and call.usage is None and _was_rejected(original_exception)
        self._end(call)

    def _end(self, call: _Call) -> None:
        if call.reservation is not None and call.reservation.is_lost and not call.is_over:
            lost = RuntimeError("other calls may have had its place")
            self._log.write(logging.WARNING, "the lease of a call ended before the call", lost)
        try:
            if calls := call.end():
                task = asyncio.create_task(self._settle(calls))
                self._settling.add(task)
                task.add_done_callback(self._settling.discard)
        except Exception as error:
            self.limiter.counters.faults += 1
            self._log.write(logging.ERROR, "the estimate of a call stays charged", error)

    async def _settle(self, calls: list[Call]) -> None:
        """Settles what a call shares, once: sent again, it could be charged twice."""
        for call in calls:
            try:
                await self.limiter.link.call(call)
            except Exception as error:
                self.limiter.counters.unsettled += 1
                self._log.write(logging.WARNING, "the estimate of what a call shares stays charged", error)


def _limit(policy: PolicyWords, model: str, prompt: int, output: int) -> Limit:
    """The limit of a call, with the estimate of what it costs."""
    algorithm, key, *words = policy
    cost = None
    if "COST" in words:
        at = words.index("COST")
        units = words[at + 1]
        cost = int(units(model, prompt, output) if callable(units) else units)
        del words[at : at + 2]
    # What the keys begin with has the hash tag, so they are not those of the limiter.
    return Limit(Policy.of(" ".join(str(word) for word in [algorithm, *words])), str(key), cost)


def _cost(policy: PolicyWords) -> Any:
    """What follows COST."""
    return policy[policy.index("COST") + 1] if "COST" in policy else None


def _units(policies: Iterable[PolicyWords]) -> dict[Any, Units]:
    """What each key counts whose cost is settled."""
    found: dict[Any, Units] = {}
    for policy in policies:
        for word in policy:
            if callable(word) and found.setdefault(policy[1], word) != word:
                raise ValueError("policies: two limits of one key count different things")
    return found


def _exceeded(denied: Iterable[str], headers: Mapping[str, str]) -> HTTPException:
    return HTTPException(429, f"Rate limit exceeded: {', '.join(denied)}", headers=_lower(headers))


def _was_rejected(error: Exception) -> bool:
    """Whether the model has done no work: its reply was an error, or there was no connection to it."""
    # A timeout is no APIStatusError: the model may have worked.
    return isinstance(error, openai.APIStatusError)


def _name(policy: PolicyWords) -> str:
    words = [str(word) for word in policy]
    return words[words.index("AS") + 1] if "AS" in words else words[0].lower()


def _lower(headers: Mapping[str, str]) -> dict[str, str]:
    return {name.lower(): value for name, value in headers.items()}


#: The types of calls for which litellm calls `async_pre_call_deployment_hook` before the model. All others count as
#: sent to the model at once.
TELL_OF_THE_CALL = frozenset(
    {
        "acompletion",
        "aembedding",
        "agenerate_content",
        "agenerate_content_stream",
        "anthropic_messages",
        "aresponses",
        "aspeech",
        "atext_completion",
        "image_generation",
        "moderation",
        "rerank",
        "transcription",
    }
)
#: What litellm passes on as it is, and connections: their output is not known before, and litellm says no usage after.
UNKNOWN = frozenset({"pass_through_endpoint", "allm_passthrough_route", "_arealtime", "_aresponses_websocket"})
#: How often litellm calls the models for one call. A caller who sets a short timeout too would get much work for it.
REPEATS = ("num_retries", "max_retries", "max_fallbacks", "retry_policy", "model_group_retry_policy")
#: Types of calls whose input leads to no tokens of output.
NO_OUTPUT = frozenset({"aembedding", "aspeech", "moderation"})
#: What the APIs call the tokens of a call.
TAKEN = ("prompt_tokens", "input_tokens", "promptTokenCount", "prompt_token_count")
GIVEN = ("completion_tokens", "output_tokens")
TOTAL = ("total_tokens", "totalTokenCount", "total_token_count")


def _attribute(value: Any, name: str) -> Any:
    return value.get(name) if isinstance(value, Mapping) else getattr(value, name, None)


def _usage(response: Any, prompt: int) -> tuple[int, int] | None:
    """The tokens of the prompt and of the output of a response, or of the last part of a stream, if it says so."""
    # The last event of the Responses API has the response.
    found = [_attribute(response, name) for name in ("usage", "usageMetadata", "usage_metadata")]
    usage = next((each for each in found if each), None) or _attribute(_attribute(response, "response"), "usage")

    def first(names: tuple[str, ...]) -> int | None:
        values = [_attribute(usage, name) for name in names]
        return next((value for value in values if isinstance(value, int) and value >= 0), None)

    taken, given, total = first(TAKEN), first(GIVEN), first(TOTAL)
    if total is None:
        if given is None:
            return None
        total = (prompt if taken is None else taken) + given
    # Whatever the parts are called, the total is what the model reports.
    taken = min(total, prompt if taken is None else taken)
    return taken, total - taken


def _texts(chunk: Any) -> list[str]:
    """What a part of a stream adds to the output."""
    found = []
    choices = _attribute(chunk, "choices")
    for choice in choices if isinstance(choices, list) else []:
        delta = _attribute(choice, "delta")
        found += [_attribute(delta, "content"), _attribute(delta, "reasoning_content"), _attribute(choice, "text")]
        for call in _attribute(delta, "tool_calls") or []:
            function = _attribute(call, "function")
            found += [_attribute(function, "name"), _attribute(function, "arguments")]
    # The Responses API, and the Messages API
    delta = _attribute(chunk, "delta")
    found += [delta, *(_attribute(delta, name) for name in ("text", "thinking", "partial_json"))]
    candidates = _attribute(chunk, "candidates")
    for candidate in candidates if isinstance(candidates, list) else []:
        parts = _attribute(_attribute(candidate, "content"), "parts")
        found += [_attribute(part, "text") for part in (parts if isinstance(parts, list) else [])]
    return [text for text in found if isinstance(text, str)]


#: What has the prompt, in one API or another.
PROMPT = ("system", "instructions", "input", "prompt", "contents", "systemInstruction", "system_instruction")
#: What has no text: an image, a sound, a file.
BINARY = frozenset({"data", "file_data", "image_url"})
#: The name of a model is the caller's. litellm would download a tokenizer for some names.
TOKENIZER = {"type": "openai_tokenizer", "tokenizer": None}


def _tokens(model: str, **what: Any) -> int:
    """What litellm counts, without a connection to anything that a caller names."""
    return int(
        litellm.token_counter(model=model, custom_tokenizer=TOKENIZER, use_default_image_token_count=True, **what)
    )


def _prompt_tokens(model: str, data: Mapping[str, Any], call_type: Any) -> int:
    names = [*PROMPT, "messages", "tools"]
    if call_type == "pass_through_endpoint":  # a body of any API
        names = [name for name in data if not name.startswith("litellm_")]
    count, messages = 0, data.get("messages")
    if isinstance(messages, list):
        # What is no message is counted as text. litellm rejects it afterwards.
        with contextlib.suppress(Exception):
            count = _tokens(model, messages=messages, tools=data.get("tools"))
            names = [name for name in names if name not in ("messages", "tools")]
    texts: list[str] = []
    left = [data.get(name) for name in names]
    while left:
        each = left.pop()
        if isinstance(each, Mapping):
            left += [value for name, value in each.items() if name not in BINARY]
            count += litellm.constants.DEFAULT_IMAGE_TOKEN_COUNT * len(BINARY & each.keys())
        elif isinstance(each, list):
            left += each
        elif isinstance(each, (str, int, float)):
            texts.append(str(each))
    return count + (_tokens(model, text="\n".join(texts)) if texts else 0)


def _number(value: Any) -> int | None:
    """A number that some API takes as one: 10, 10.0, 1e30, "10". To some, 0 and less mean no limit."""
    if isinstance(value, (int, float, str)) and not isinstance(value, bool):
        with contextlib.suppress(ValueError, OverflowError):
            return int(value) if int(value) > 0 else None
    return None


def _leave_out_repeats(data: dict[str, Any]) -> None:
    """Leaves to the configuration what is in `REPEATS`, unless it is 0."""
    for name in REPEATS:
        if data.get(name):
            del data[name]
    sent = _attribute(data.get("proxy_server_request"), "body")
    if isinstance(sent, Mapping) and "router_settings_override" in sent:  # else it is of the key or the team
        data.pop("router_settings_override", None)


def _longest_output(data: Mapping[str, Any], call_type: Any, otherwise: int) -> int:
    """The longest output that the call allows."""
    found = [data.get(name) for name in ("max_completion_tokens", "max_output_tokens", "max_tokens")]
    for name in ("generationConfig", "generation_config", "config"):
        found += [_attribute(data.get(name), each) for each in ("maxOutputTokens", "max_output_tokens")]
    # Not every API rejects two of them.
    value = max((_number(each) or 0 for each in found), default=0)
    if call_type in UNKNOWN:
        # The API may not know the name, and there is no usage afterwards.
        value = max(value, otherwise)
    elif value == 0:
        # What has no prompt has no output of tokens: an embedding, a list of files.
        has_prompt = any(data.get(name) for name in ("messages", "prompt", "instructions", "contents"))
        value = otherwise if has_prompt or (data.get("input") and call_type not in NO_OUTPUT) else 0
    choices = max(_number(data.get("n")) or 1, _number(data.get("best_of")) or 1)
    prompts = data.get("prompt")
    if isinstance(prompts, list) and prompts and not isinstance(prompts[0], int):
        choices *= len(prompts)
    return value * choices
