import redis.asyncio
from fastapi import Depends, FastAPI, Request
from limits_redis_rl import AsyncLimiter, RateLimitMiddleware, address_key
from limits_redis_rl.fastapi import limit

# retry=None, and no retry_on_error: a command that is sent again may be charged twice.
client = redis.asyncio.Redis(host="localhost", retry=None)
limiter = AsyncLimiter(client, prefix="app:")
app = FastAPI()
app.add_middleware(RateLimitMiddleware)


async def user(request: Request):  # any dependency, also the one that authenticates
    return address_key(request.client.host)


@app.get("/", dependencies=[Depends(limit(limiter, "TOKEN 1m 60", key=user))])
def index():
    return "hello"
