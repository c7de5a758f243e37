<?php
// A middleware for routes of Laravel with phpredis, and 'timeout' => 0.1, 'read_timeout' => 0.1 in config/database.php.
use Illuminate\Http\Exceptions\ThrottleRequestsException;
use Illuminate\Support\Facades\Redis;

class LimitRate
{
    public function handle($request, Closure $next)
    {
        try {
            $reply = Redis::executeRaw(['RL.ROLLING', 'api:'.$request->ip(), '1m', 100]);
        } catch (RedisException) {
            return $next($request); // the server cannot decide
        }
        [$allowed, , $ttl] = $reply ?: throw new RuntimeException(Redis::client()->getLastError());
        if (!$allowed) throw new ThrottleRequestsException('Too many requests', null, ['Retry-After' => $ttl]);
        return $next($request);
    }
}
