# The commands for newcomers, developers and the CI. Longer scripts are in scripts/.
.DEFAULT_GOAL := help

PORT   ?= 6379
SERVER ?= redis-server

TARGET := $(abspath $(or $(CARGO_TARGET_DIR),target))
# The module that the tests load too.
export RL_MODULE ?= $(TARGET)/release/libredis_rl.so

# Tools from crates.io, at the versions that are known to work: $(call tool,deny,$(CARGO_DENY)) installs cargo-deny.
CARGO_AUDIT := 0.22.2
CARGO_DENY  := 0.20.2
CARGO_FUZZ  := 0.13.2
tool = cargo $(1) --version 2>/dev/null | grep -q ' $(2)$$' || cargo install --quiet --locked cargo-$(1)@$(2)

# The groups of make help. A target that is in neither is for developers.
FOR_USE     := help deps build run image run-image playground ops
FOR_RELEASE := deny audit dist test-dist test-image

.PHONY: help
help: ## list these targets
	@awk -F ':.*## ' -v use=" $(FOR_USE) " -v release=" $(FOR_RELEASE) " ' \
	  /^[a-z-]+:.*## / { \
	    group = index(use, " " $$1 " ") ? 1 : index(release, " " $$1 " ") ? 3 : 2; \
	    if (length($$1) > width) width = length($$1); \
	    name[group, ++n[group]] = $$1; text[group, n[group]] = $$2 } \
	  END { split("Use Develop Release", title, " "); \
	    for (group = 1; group <= 3; group++) { \
	      print title[group] ":"; \
	      for (i = 1; i <= n[group]; i++) printf "  make %-" width "s  %s\n", name[group, i], text[group, i] } }' \
	  $(MAKEFILE_LIST)

.PHONY: deps
deps: ## install what building, running and testing need (apt on Debian and Ubuntu)
	@scripts/install build run test lint

.PHONY: build
build: ## build target/release/libredis_rl.so; installs what that needs
	@scripts/install build
	cargo build --release --locked

.PHONY: run
run: build ## start a server with the module in the foreground; PORT=6379 SERVER=redis-server choose
	@scripts/install run
	@scripts/run "$(SERVER)" "$(PORT)" "$(RL_MODULE)"

.PHONY: servers
servers: ## fetch the servers that the tests run against into target/servers
	@scripts/install test
	@scripts/servers

.PHONY: test
test: build $(if $(SERVERS),,servers) ## run every test against real servers; SERVERS="path path" names others
	cargo test --locked

.PHONY: test-servers
test-servers: build ## run the tests on each server by itself and print a table; SERVERS="path path" adds others
	@scripts/install test
	@scripts/servers >&2
	@scripts/test-servers $(SERVERS)

# For longer runs: make reliability SECONDS_EACH=300. PROMISE=cluster runs the tests whose name contains that.
SECONDS_EACH ?= 5
PROMISE      ?=

export RL_PANICKING_MODULE ?= $(TARGET)/panic-on-purpose/debug/libredis_rl.so

.PHONY: reliability
reliability: build $(if $(SERVERS),,servers) ## test that nothing is lost, no limit is exceeded and nothing ends the server; SECONDS_EACH=5 a test
	cargo build --locked --features panic-on-purpose --target-dir "$(TARGET)/panic-on-purpose"
	SECONDS_EACH=$(SECONDS_EACH) cargo test --locked --test reliability -- --nocapture $(PROMISE)

.PHONY: memcheck
memcheck: build $(if $(SERVERS),,servers) ## run hostile input under valgrind: the module has no error and no leak; SECONDS_EACH=5
	@scripts/install memcheck
	SECONDS_EACH=$(SECONDS_EACH) cargo test --locked --test reliability -- --nocapture --ignored memcheck

# A module that RL_MODULE names elsewhere is not built.
own_module = $(if $(filter $(TARGET)/%,$(RL_MODULE)),build)

.PHONY: ops
ops: $(own_module) ## start a server on PORT=6379, the exporter (9121) and Prometheus (9090) in the foreground
	@scripts/install run ops
	@scripts/monitoring
	@PORT=$(PORT) ops/stack.py "$(if $(filter redis-server,$(SERVER)),$$(scripts/servers system),$(SERVER))"

.PHONY: test-ops
test-ops: $(own_module) $(if $(SERVERS),,servers) ## test ops/: known traffic to the servers, every figure from Prometheus, every alert
	@scripts/install test ops
	@scripts/monitoring
	@python3 -m pip install --quiet --disable-pip-version-check --root-user-action ignore --upgrade \
	  --target "$(TARGET)/ops-python" -r ops/requirements.txt
	PYTHONPATH="$(TARGET)/ops-python" python3 -B ops/test_ops.py

CLIENT := --locked --manifest-path clients/rust/Cargo.toml --all-features

.PHONY: test-client
test-client: $(own_module) $(if $(SERVERS),,servers) ## test the Rust client and its documentation against real servers
	SERVERS="$${SERVERS:-$$(ls $(CURDIR)/target/servers/*/*-server | grep -v /redis-6 | xargs)}" \
	  cargo test --quiet $(CLIENT)
	cargo package $(CLIENT) --allow-dirty --list | grep -qx src/rl.lua

# It shares the compiled dependencies of the client.
PLAYGROUND := --locked --manifest-path clients/playground/Cargo.toml --target-dir clients/rust/target
playground = scripts/with-server "$(SERVER)" "$(RL_MODULE)" clients/rust/target/debug/redis-rl-playground
# Where the page is.
PAGE ?= 127.0.0.1:8000

.PHONY: playground
playground: playground-build ## start a server and a page that shows what each algorithm does; PAGE=127.0.0.1:8000
	@exec $(playground) "$(PAGE)"

.PHONY: test-playground
test-playground: playground-build ## use the page in headless Chromium
	@scripts/install browser
	@exec clients/playground/tests/browser.py $(playground) 127.0.0.1:0

.PHONY: playground-screenshot
playground-screenshot: playground-build ## write docs/playground.png
	@scripts/install browser
	@SCREENSHOT=docs/playground.png exec clients/playground/tests/browser.py $(playground) 127.0.0.1:0

.PHONY: playground-build
playground-build: $(own_module)
	@scripts/install run
	cargo build --quiet $(PLAYGROUND)

test-client: test-playground

# For one adapter: make test-adapters ADAPTERS=python
ADAPTERS ?=

.PHONY: test-adapters
test-adapters: $(own_module) $(if $(SERVERS),,servers) ## test what is in clients/ with its frameworks; ADAPTERS="node python" names some
	@scripts/test-adapters $(ADAPTERS)

# What the image is built from; the defaults are in the Dockerfile. STAND_INS=yes replaces both base images by those
# that scripts/base-images makes, for machines that reach no registry.
IMAGE        ?= redis-rl
RUST_IMAGE   ?= $(shell sed -n 's/^ARG RUST_IMAGE=//p' Dockerfile)
SERVER_IMAGE ?= $(shell sed -n 's/^ARG SERVER_IMAGE=//p' Dockerfile)
# The server images that make test-image builds on.
SERVER_IMAGES ?= $(SERVER_IMAGE) redis:7.0-bookworm

.PHONY: image
image: ## build the Docker image IMAGE=redis-rl from SERVER_IMAGE=valkey/valkey:8.1 (or redis:7.4-bookworm …)
	@scripts/install image
	@scripts/with-docker scripts/image "$(IMAGE)" "$(RUST_IMAGE)" "$(SERVER_IMAGE)"

.PHONY: run-image
run-image: image ## start that image in the foreground on PORT=6379 of this machine; starts Docker if none runs
	@scripts/with-docker docker run --rm $(shell [ ! -t 0 ] || echo -it) -p "127.0.0.1:$(PORT):6379" "$(IMAGE)"

.PHONY: test-image
test-image: ## build the image from each of SERVER_IMAGES and test it; starts Docker if none runs
	@scripts/install image rust
	@scripts/with-docker scripts/test-image "$(RUST_IMAGE)" $(SERVER_IMAGES)

# Instructions are counted on this machine's own Redis, unless SERVERS names another server.
own_server = SERVERS="$${SERVERS:-$$(scripts/servers system)}"

# They measure time and memory: run them on a machine that does nothing else. To run one: make bench-memory
BENCHES := throughput growth memory floods

.PHONY: bench
bench: $(BENCHES:%=bench-%) ## measure everything into benches/results; ROUNDS=, SECONDS=, PEER_MODULE=redis-cell's .so

.PHONY: $(BENCHES:%=bench-%)
$(BENCHES:%=bench-%): bench-%: build
	@scripts/install run bench
	@$(own_server) cargo bench --quiet --locked --profile dev --bench $*

CLIENT_BENCH := --locked --manifest-path clients/bench/Cargo.toml --target-dir clients/rust/target

.PHONY: bench-client
bench-client: $(own_module) ## measure the Rust client beside tower-redis-cell and EVALSHA; ROUNDS=9 SECONDS=0.5
	@scripts/install run
	cargo build --quiet --release $(CLIENT_BENCH)
	@exec scripts/with-server "$(SERVER)" "$(RL_MODULE)" clients/rust/target/release/redis-rl-client-bench

.PHONY: bench-instructions
bench-instructions: build ## count instructions per command against benches/budget.md; UPDATE=1 writes it
	@scripts/install run bench
	@$(own_server) cargo bench --locked --profile dev --bench instructions

.PHONY: dist
dist: ## build and pack an archive, a Debian package and checksums for this architecture into dist/
	@scripts/install dist
	@scripts/dist "$(TARGET)"

.PHONY: test-dist
test-dist: ## check the files in dist/: they load, lintian accepts them, and a build elsewhere makes the same bytes
	@scripts/install test-dist
	@scripts/test-dist

.PHONY: deny
deny: ## check licenses, sources and duplicates of the dependencies (needs no database)
	@$(call tool,deny,$(CARGO_DENY))
	cargo deny --locked check --hide-inclusion-graph bans licenses sources

.PHONY: audit
audit: ## check the dependencies for known vulnerabilities (RustSec; needs the network)
	@$(call tool,audit,$(CARGO_AUDIT))
	cargo audit
	cargo audit --file clients/rust/Cargo.lock

.PHONY: fuzz
fuzz: ## fuzz the argument parser, the records and the algorithms; nightly Rust; SECONDS_EACH=5
	@scripts/install build fuzz
	@$(call tool,fuzz,$(CARGO_FUZZ))
	@scripts/fuzz "$(SECONDS_EACH)" "$(TARGET)"

.PHONY: lint
lint: ## check format, clippy and luacheck, warnings denied
	@scripts/install build lint
	luacheck --quiet lua
	cargo fmt --check
	cargo fmt --check --manifest-path tests/image/Cargo.toml
	cargo fmt --check --manifest-path clients/redis-cell/Cargo.toml
	cargo clippy --locked --all-targets -- -D warnings
	cargo clippy --locked --test reliability -- -D warnings
	cargo fmt --check --manifest-path clients/rust/Cargo.toml
	cargo clippy $(CLIENT) --all-targets -- -D warnings
	cargo clippy --locked --manifest-path clients/rust/Cargo.toml --no-default-features --features sync -- -D warnings
	RUSTDOCFLAGS="-D warnings" cargo doc --quiet $(CLIENT) --no-deps
	cargo fmt --check --manifest-path clients/playground/Cargo.toml
	cargo clippy $(PLAYGROUND) --all-targets -- -D warnings
	cargo fmt --check --manifest-path clients/bench/Cargo.toml
	cargo clippy $(CLIENT_BENCH) --all-targets -- -D warnings
	RUSTFLAGS="--cfg fuzzing" cargo check --locked --lib --target-dir "$(TARGET)/fuzzing"

.PHONY: clean
clean: ## remove everything that was built, packed or fetched
	cargo clean
	cargo clean --manifest-path clients/rust/Cargo.toml
	rm -rf dist
