"""Sends commands: to the module or, where the server has none, to the Lua scripts."""

from __future__ import annotations

from typing import Any

import redis

from ..charge import Words, worst
from ..errors import NO_MODULE, NoModule
from ..guard import Guard, logger
from ..scripts import Call, Scripts, script


async def execute(guard: Guard, client: Any, calls: list[Words]) -> list[Any]:
    """The replies to calls that are sent together, or the error of the one that decides whether they are sent again.

    No call is sent again after a reply that may be lost.
    """
    scripts = guard.scripts
    if not scripts.decide():
        try:
            replies = await _sent(client, calls)
        except redis.RedisError as error:
            # A client of a cluster asks the server for the keys of a command.
            if not NO_MODULE.search(str(error)):
                raise
        else:
            scripts.are_used = False
            return replies
        if scripts.required:
            raise NoModule from None
        if scripts.begin():
            logger.warning("no module: the Lua scripts decide; docs/install.md says how to load it")
    return await _by_scripts(scripts, client, calls)


async def _sent(client: Any, calls: list[Words]) -> list[Any]:
    if len(calls) == 1:
        return [await client.execute_command(*calls[0])]
    return worst(await _replies(client, calls))


async def _replies(client: Any, calls: list[Words]) -> list[Any]:
    """The replies; an error reply is one of them."""
    if len(calls) == 1:
        try:
            return [await client.execute_command(*calls[0])]
        except redis.ResponseError as error:
            return [error]
    pipeline = client.pipeline(transaction=False)
    for words in calls:
        pipeline.execute_command(*words)
    replies: list[Any] = await pipeline.execute(raise_on_error=False)
    return replies


async def _by_scripts(scripts: Scripts, client: Any, calls: list[Words]) -> list[Any]:
    scripts.is_cluster |= hasattr(client, "nodes_manager")
    replies: list[Any] = [None] * len(calls)
    left = list(range(len(calls)))
    for _ in range(2):
        made = {at: scripts.made(calls[at]) for at in left}
        if not all(script(call.name) for call in made.values()):
            raise NoModule
        for at, reply in zip(left, await _evaluated(scripts, client, list(made.values())), strict=True):
            replies[at] = reply
            scripts.note(reply)
        left = [at for at in left if scripts.learns(replies[at], made[at].windows)]
        if not left:
            break
    return worst(replies)


async def _evaluated(scripts: Scripts, client: Any, calls: list[Call]) -> list[Any]:
    """The replies. A server that does not know a script gets its text.

    That call would come after those that follow it. So several calls bring the texts that this client has not sent yet.
    """
    whole = [len(calls) > 1 and call.name not in scripts.known for call in calls]
    replies = await _replies(client, [call.words(text) for call, text in zip(calls, whole, strict=True)])
    unknown = [at for at, reply in enumerate(replies) if isinstance(reply, redis.exceptions.NoScriptError)]
    if unknown:
        texts = await _replies(client, [calls[at].words(whole=True) for at in unknown])
        for at, reply in zip(unknown, texts, strict=True):
            replies[at] = reply
    scripts.known.update(call.name for call in calls)
    return replies
