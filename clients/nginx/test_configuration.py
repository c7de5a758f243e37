"""example.conf as a whole configuration of nginx, for the tests."""

import pathlib
import re
import shutil

HERE = pathlib.Path(__file__).resolve().parent
MODULES = "/usr/lib/nginx/modules"
# In the directory of nginx.conf. Debian has nginx where it is not in every user's PATH.
COMMAND = [shutil.which("nginx") or "/usr/sbin/nginx", "-p", ".", "-c", "nginx.conf", "-e", "stderr"]

# Around example.conf: a whole configuration, and the upstream. One process: a worker would outlive a killed master.
MAIN = """
load_module {modules}/ndk_http_module.so;
load_module {modules}/ngx_http_lua_module.so;
daemon off;
master_process off;
pid nginx.pid;
events {{}}
http {{
    access_log off;
    client_body_temp_path body;
    proxy_temp_path proxy;
    fastcgi_temp_path fastcgi;
    uwsgi_temp_path uwsgi;
    scgi_temp_path scgi;
    {example}
    server {{
        listen 127.0.0.1:{upstream};
        location / {{ return 200 "application\\n"; }}
    }}
}}
"""


def configuration(server, port, upstream, locations=""):
    """The text of nginx.conf: with the ports of the server, of nginx and of the upstream, and with more locations."""
    example = (HERE / "example.conf").read_text()
    for old, new in {
        "/etc/nginx/lua/": f"{HERE}/",
        "listen 8080": f"listen 127.0.0.1:{port}",
        "127.0.0.1:8000": f"127.0.0.1:{upstream}",
        "127.0.0.1:6379": f"127.0.0.1:{server}",
    }.items():
        assert old in example, f"example.conf has no {old}"
        example = example.replace(old, new)
    if locations:
        # The last brace of the example is the end of its server.
        example = re.sub(r"\}\s*\Z", lambda _: locations, example)
    return MAIN.format(modules=MODULES, example=example, upstream=upstream)
