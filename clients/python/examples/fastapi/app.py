import redis.asyncio
from fastapi import Depends, FastAPI, Request
from limits_redis_rl import RateLimitMiddleware
from limits_redis_rl.fastapi import limit

# retry=None, and no retry_on_error: a command that is sent again may be charged twice.
client = redis.asyncio.Redis(host="localhost", retry=None)
app = FastAPI()
app.add_middleware(RateLimitMiddleware, client=client)


def user(request: Request):  # any dependency, also the one that authenticates
    return request.client.host


@app.get("/", dependencies=[Depends(limit("TOKEN", "api", "1m", 60, key=user))])
def index():
    return "hello"
