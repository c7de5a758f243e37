"""The sources of ``limits_redis_rl._sync``, which ``generate`` makes from them."""
