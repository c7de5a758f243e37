# The clients, the adapters and the playground. Read by the Makefile.

CLIENT := --package redis-rl-client --all-features

.PHONY: test-client
test-client: $(own_module) $(if $(SERVERS),,servers) ## test the Rust client and its documentation against real servers
	SERVERS="$${SERVERS:-$$(ls $(CURDIR)/target/servers/*/*-server | grep -v /redis-6 | xargs)}" \
	  $(call tests,$(CLIENT),client) --quiet
	cargo build --quiet --locked $(or $(PACKAGES),$(CLIENT)) --example axum
	@clients/examples.py "$(TARGET)/debug/examples/axum"
	cargo package --locked $(CLIENT) --allow-dirty --list | grep -qx src/protocol/scripts/bucket.lua

playground = scripts/with-server "$(SERVER)" "$(RL_MODULE)" clients/playground/playground.py
# Where the page is.
PAGE ?= 127.0.0.1:8000

.PHONY: playground
playground: $(own_module) ## start a server and a page that shows what each algorithm does; PAGE=127.0.0.1:8000
	@scripts/install playground
	@exec $(playground) "$(PAGE)"

.PHONY: test-playground
test-playground: $(own_module) ## use the page in headless Chromium
	@scripts/install server browser
	@exec clients/playground/tests/browser.py $(playground) 127.0.0.1:0

.PHONY: playground-screenshot
playground-screenshot: $(own_module) ## write docs/playground.png
	@scripts/install server browser
	@SCREENSHOT=docs/playground.png exec clients/playground/tests/browser.py $(playground) 127.0.0.1:0

# For one adapter: make test-adapters ADAPTERS=python. ALL_CLIENTS=1 adds older versions of the clients.
ADAPTERS ?=

.PHONY: test-adapters
test-adapters: $(own_module) $(if $(SERVERS),,servers) ## test what is in clients/ with its frameworks; ADAPTERS="node python" names some
	@scripts/test-adapters $(ADAPTERS)

.PHONY: bench-node
bench-node: $(own_module) $(if $(SERVERS),,servers) ## compare the store of Node.js with rate-limit-redis; CHECK=1 fails above the goals
	@cd clients/node && node_modules/.bin/tsc && SERVERS="$${SERVERS:-$$(ls $(CURDIR)/target/servers/valkey-9.*/*-server | head -n 1)}" node tests/bench.js

.PHONY: bench-python
bench-python: $(own_module) $(if $(SERVERS),,servers) ## compare a route of FastAPI with slowapi; CHECK=1 fails above the goal
	@cd clients/python && SERVERS="$${SERVERS:-$$(ls $(CURDIR)/target/servers/valkey-9.*/*-server | head -n 1)}" \
	  PYTHONPATH=..:. ../../target/clients-python/bin/python -B tests/bench.py

.PHONY: test-litellm
test-litellm: $(own_module) $(if $(SERVERS),,servers) ## test clients/litellm with litellm's proxy and a model that is not real
	@RL_MODULE="$(RL_MODULE)" SERVERS="$${SERVERS:-$$(ls $(CURDIR)/target/servers/valkey-9.*/*-server | head -n 1)}" \
	  NO_PROXY=127.0.0.1,localhost no_proxy=127.0.0.1,localhost clients/litellm/tests/run
