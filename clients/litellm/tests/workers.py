"""Workers of litellm's proxy, forked from one process, since the import takes longest.

python3 workers.py CONFIG DIRECTORY PORT ENVIRONMENT [PORT ENVIRONMENT …]
"""

import json
import os
import sys
import time

import uvicorn

CONFIG, DIRECTORY, *WORKERS = sys.argv[1:]
os.environ.update(CONFIG_FILE_PATH=CONFIG, LITELLM_LOCAL_MODEL_COST_MAP="True", LITELLM_LOG="ERROR")

from litellm.proxy.proxy_server import app  # noqa: E402

for port, environment in zip(WORKERS[::2], WORKERS[1::2], strict=True):
    if (pid := os.fork()) == 0:
        os.environ.update(json.loads(environment))
        with open(f"{DIRECTORY}/{port}.pid.new", "w") as file:
            file.write(str(os.getpid()))
        os.rename(file.name, f"{DIRECTORY}/{port}.pid")
        uvicorn.run(app, host="127.0.0.1", port=int(port), log_level="warning")
        os._exit(0)
while True:
    try:
        os.wait()
    except ChildProcessError:
        break
    time.sleep(0.01)
