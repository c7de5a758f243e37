"""A model: the prompt says how many words it replies, and how. It knows what it has done."""

import asyncio
import json
import threading
import time

import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, StreamingResponse
from starlette.routing import Route


class Upstream:
    def __init__(self, port):
        self.active = self.most = self.calls = self.tokens = 0
        # litellm passes on the second path as it is, and the others are Gemini's.
        app = Starlette(
            routes=[
                Route("/chat/completions", self.completions, methods=["POST"]),
                Route("/v1/chat/completions", self.completions, methods=["POST"]),
                Route("/{path:path}:generateContent", self.generate, methods=["POST"]),
                Route("/{path:path}:streamGenerateContent", self.generate, methods=["POST"]),
            ]
        )
        # A connection that it closes while litellm sends on it would be an error of the call.
        config = uvicorn.Config(app, host="127.0.0.1", port=port, log_level="warning", timeout_keep_alive=600)
        self.server = uvicorn.Server(config)
        threading.Thread(target=self.server.run, daemon=True).start()

    def begin(self):
        self.calls += 1
        self.active += 1
        self.most = max(self.most, self.active)

    def end(self):
        self.active -= 1

    async def completions(self, request: Request):
        body = await request.json()
        wanted = json.loads(body["messages"][-1]["content"])
        words, pause, usage = wanted.get("words", 3), wanted.get("pause", 0), wanted.get("usage")
        self.begin()
        if status := wanted.get("status"):
            self.end()
            return JSONResponse({"error": {"message": "no", "type": "error", "code": status}}, status)
        part = {"id": "1", "created": 1, "model": "fake"}
        reported = usage and {"prompt_tokens": 1, "completion_tokens": usage - 1, "total_tokens": usage}
        if not body.get("stream"):
            try:
                await sleep_while_connected(request, wanted.get("before", 0) + pause * words)
                self.tokens += usage or words
            finally:
                self.end()
            message = {"role": "assistant", "content": " word" * words}
            choices = [{"index": 0, "message": message, "finish_reason": "stop"}]
            return JSONResponse({**part, "object": "chat.completion", "choices": choices, "usage": reported})

        async def stream():
            try:
                await asyncio.sleep(wanted.get("before", 0))
                for _ in range(words):
                    self.tokens += (usage or words) / words
                    choices = [{"index": 0, "delta": {"role": "assistant", "content": " word"}, "finish_reason": None}]
                    yield line({**part, "object": "chat.completion.chunk", "choices": choices})
                    await asyncio.sleep(pause)
                choices = [{"index": 0, "delta": {}, "finish_reason": "stop"}]
                yield line({**part, "object": "chat.completion.chunk", "choices": choices})
                if reported:
                    yield line({**part, "object": "chat.completion.chunk", "choices": [], "usage": reported})
                yield "data: [DONE]\n\n"
            finally:
                self.end()

        return StreamingResponse(stream(), media_type="text/event-stream")

    async def generate(self, request: Request):
        self.calls += 1
        content = {"role": "model", "parts": [{"text": "word"}]}
        usage = {"promptTokenCount": 1, "candidatesTokenCount": 9, "thoughtsTokenCount": 690, "totalTokenCount": 700}
        reply = {"candidates": [{"content": content, "finishReason": "STOP", "index": 0}], "usageMetadata": usage}
        if "stream" not in request.url.path:
            return JSONResponse(reply)
        events = [reply]
        if "early" in str(await request.json()):
            more = {"candidates": [{"content": {"role": "model", "parts": [{"text": " word"}]}, "index": 0}]}
            events = [{**reply, "usageMetadata": {"promptTokenCount": 1, "totalTokenCount": 2}}, *[more] * 50]
        return StreamingResponse(map(line, events), media_type="text/event-stream")


async def sleep_while_connected(request, seconds):
    """Only the response of a stream is cancelled when the caller is gone."""
    end = time.monotonic() + seconds
    while time.monotonic() < end and not await request.is_disconnected():
        await asyncio.sleep(min(0.05, max(0, end - time.monotonic())))


def line(value):
    return f"data: {json.dumps(value)}\n\n"
