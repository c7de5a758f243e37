# Made by clients/python/generate from _async/__init__.py. Do not edit.
"""The sources of ``limits_redis_rl._sync``, which ``generate`` makes from them."""
