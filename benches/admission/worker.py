"""A process of `make bench-admission` that asks a package of PyPI: python worker.py <package> <URL> <limit> <seconds>.

It prints "ready". Then it reads jobs, a line of JSON at a time, does them side by side, and prints a list for each with
what each request was: [sent, reply received, allowed, seconds to wait that the denied caller was told or null]. Times
are seconds since 1970. A job is [kind, time to begin, key, count]:

  burst     so many requests at once
  sequence  so many requests, one after the other
  retry     requests until one is denied, and one more 10 ms after the time it was told: these two
  poll      requests until one is denied, then every 20 ms until one is allowed: these two
"""

import asyncio
import concurrent.futures
import json
import os
import sys
import time

NAME, LIMIT, SECONDS = sys.argv[1], int(sys.argv[3]), int(sys.argv[4])
URL = f"{sys.argv[2]}?max_connections=200"  # the default of redis-py is 100, and then an error
OWN_URL = URL.replace("://", "-rl://")
RATE = f"{LIMIT} per {SECONDS} second"


def client():
    import redis.asyncio

    return redis.asyncio.Redis.from_url(URL)


def asgi(application):
    """Asks an ASGI application with a request of a user."""

    async def ask(key):
        response = {}
        headers = [(b"host", b"localhost"), (b"x-user", key.encode())]
        scope = {"type": "http", "asgi": {"version": "3.0"}, "http_version": "1.1", "method": "GET", "scheme": "http",
                 "path": "/", "raw_path": b"/", "root_path": "", "query_string": b"", "headers": headers,
                 "client": ("127.0.0.1", 1), "server": ("127.0.0.1", 80)}  # fmt: skip

        async def receive():
            return {"type": "http.request"}

        async def send(message):
            response.update(message)

        await application(scope, receive, send)
        assert response["status"] in (200, 429), response
        after = dict(response["headers"]).get(b"retry-after")
        return response["status"] == 200, after and float(after)

    return ask


def fastapi(**options):
    from fastapi import FastAPI

    application = FastAPI(**options)
    application.get("/")(lambda: "hello")
    return application


async def naive():
    """What a limiter must not do: it reads a counter, and then writes it."""
    redis = client()

    async def ask(key):
        used = int(await redis.get(key) or 0)
        if used < LIMIT:
            await redis.set(key, used + 1, ex=SECONDS)
        return used < LIMIT, None

    return ask


async def window():
    redis = client()

    async def ask(key):
        allowed, _, ttl = await redis.execute_command("RL.WINDOW", key, SECONDS, LIMIT)
        return allowed == 1, ttl

    return ask


def limits(strategy):
    async def make():
        from limits import parse
        from limits.aio import strategies
        from limits.storage import storage_from_string

        storage = storage_from_string(f"async+{URL}", implementation="redispy")
        limiter, rate = strategies.STRATEGIES[strategy](storage), parse(RATE)

        async def ask(key):
            if await limiter.hit(rate, key):
                return True, None
            return False, (await limiter.get_window_stats(rate, key)).reset_time - time.time()

        return ask

    return make


def slowapi(strategy, uri=URL, **options):
    async def make():
        if not uri.startswith("redis://"):
            import limits_redis_rl  # noqa: F401
        from slowapi import Limiter, _rate_limit_exceeded_handler
        from slowapi.errors import RateLimitExceeded
        from slowapi.middleware import SlowAPIMiddleware

        limiter = Limiter(lambda request: request.headers["x-user"], storage_uri=uri, storage_options=options,
                          strategy=strategy, default_limits=[RATE], headers_enabled=True)  # fmt: skip
        application = fastapi()
        application.state.limiter = limiter
        application.add_exception_handler(RateLimitExceeded, _rate_limit_exceeded_handler)
        application.add_middleware(SlowAPIMiddleware)
        return asgi(application)

    return make


async def fastapi_limiter():
    from fastapi import Depends
    from fastapi_limiter.depends import RateLimiter
    from pyrate_limiter import Duration, Limiter, Rate, RedisBucket

    redis, of_key = client(), {}

    async def application(key):
        bucket = await RedisBucket.init([Rate(LIMIT, Duration.SECOND * SECONDS)], redis, key)
        return asgi(fastapi(dependencies=[Depends(RateLimiter(limiter=Limiter(bucket)))]))

    async def ask(key):
        if key not in of_key:  # a limiter has one key
            of_key[key] = asyncio.ensure_future(application(key))
        return await (await of_key[key])(key)

    return ask


async def litellm():
    os.environ.update(LITELLM_RATE_LIMIT_WINDOW_SIZE=str(SECONDS), LITELLM_LOCAL_MODEL_COST_MAP="True")
    from fastapi import HTTPException
    from litellm.caching.caching import DualCache, RedisCache
    from litellm.proxy.hooks import parallel_request_limiter_v3 as v3
    from litellm.proxy.utils import InternalUsageCache

    cache = InternalUsageCache(DualCache(redis_cache=RedisCache(url=URL)))
    handler = v3._PROXY_MaxParallelRequestsHandler_v3(cache)

    async def ask(key):
        """What its hook of a proxy does for a key with `rpm_limit`."""
        limit = {"requests_per_unit": LIMIT, "window_size": SECONDS}
        descriptors = [{"key": "api_key", "value": key, "rate_limit": limit}]
        response = await handler.should_rate_limit(descriptors)
        if response["overall_code"] == "OK":
            return True, None
        try:
            handler._handle_rate_limit_error(response, descriptors)
        except HTTPException as error:
            return False, float(error.headers["retry-after"])

    return ask


async def django_ratelimit():
    import django
    from django.conf import settings

    caches = {"default": {"BACKEND": "django_redis.cache.RedisCache", "LOCATION": URL}}
    settings.configure(CACHES=caches, ALLOWED_HOSTS=["*"])
    django.setup()
    from django.test import RequestFactory
    from django_ratelimit.decorators import ratelimit
    from django_ratelimit.exceptions import Ratelimited

    @ratelimit(key="header:x-user", rate=f"{LIMIT}/{SECONDS}s")
    def view(request):
        pass

    async def ask(key):
        request = RequestFactory().get("/", headers={"x-user": key})
        try:
            await asyncio.to_thread(view, request)
        except Ratelimited:  # becomes 403
            return False, None
        return True, None

    return ask


async def middleware():
    from limits_redis_rl import RateLimitMiddleware
    from redis.asyncio import Redis

    def policies(scope):
        return [("COUNTER", dict(scope["headers"])[b"x-user"].decode(), str(SECONDS), LIMIT)]

    application = fastapi()
    redis = Redis.from_url(URL, retry=None)
    application.add_middleware(RateLimitMiddleware, client=redis, policies=policies, timeout=5)
    return asgi(application)


PACKAGES = {
    "GET, then SET": naive,
    "RL.WINDOW": window,
    "limits, fixed-window": limits("fixed-window"),
    "limits, moving-window": limits("moving-window"),
    "limits, sliding-window-counter": limits("sliding-window-counter"),
    "slowapi": slowapi("fixed-window"),
    "slowapi, moving-window": slowapi("moving-window"),
    "fastapi-limiter + pyrate-limiter": fastapi_limiter,
    "litellm": litellm,
    "django-ratelimit + django-redis": django_ratelimit,
    "slowapi + limits-redis-rl, moving-window": slowapi("moving-window", OWN_URL, socket_timeout=5),
    "limits-redis-rl, COUNTER": middleware,
}


async def run(ask, kind, begin, key, count):
    async def timed():
        sent = time.time()
        allowed, told = await ask(key)
        return sent, time.time(), allowed, told

    async def until(allowed, pause):
        while (request := await timed())[2] != allowed:
            await asyncio.sleep(pause)
        return request

    await asyncio.sleep(max(0, begin - time.time()))
    if kind == "burst":
        return await asyncio.gather(*[timed() for _ in range(count)])
    if kind == "sequence":
        return [await timed() for _ in range(count)]
    denied = await until(False, 0)
    if kind == "poll":
        return [denied, await until(True, 0.02)]
    if (told := denied[3]) is None:
        return [denied]
    await asyncio.sleep(told + 0.01)
    return [denied, await timed()]


async def main():
    loop = asyncio.get_running_loop()
    loop.set_default_executor(concurrent.futures.ThreadPoolExecutor(40))  # as many as Starlette and gunicorn would have
    ask = await PACKAGES[NAME]()
    await ask("warm")
    print("ready", flush=True)
    while line := await loop.run_in_executor(None, sys.stdin.readline):
        print(json.dumps(await asyncio.gather(*[run(ask, *job) for job in json.loads(line)])), flush=True)


asyncio.run(main())
