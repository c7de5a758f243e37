# Everything a newcomer, a developer and the CI type. The shell behind it lies in scripts/.
.DEFAULT_GOAL := help

PORT   ?= 6379
SERVER ?= redis-server

TARGET := $(abspath $(or $(CARGO_TARGET_DIR),target))
# What the tests load as well.
export RL_MODULE ?= $(TARGET)/release/libredis_rl.so

.PHONY: help
help: ## list these targets
	@sed -nE 's/^([a-z-]+):.*## (.*)/  make \1\t\2/p' $(MAKEFILE_LIST) | expand -t 18

.PHONY: deps
deps: ## install what building, running and testing need (apt on Debian and Ubuntu)
	@scripts/install build run test lint

.PHONY: build
build: ## build target/release/libredis_rl.so, installing what that needs
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

# What the image is built from; the Dockerfile knows the defaults.
IMAGE        ?= redis-rl
RUST_IMAGE   ?= $(shell sed -n 's/^ARG RUST_IMAGE=//p' Dockerfile)
SERVER_IMAGE ?= $(shell sed -n 's/^ARG SERVER_IMAGE=//p' Dockerfile)
# What it is tested with.
SERVER_IMAGES ?= $(SERVER_IMAGE) redis:7.0-bookworm

.PHONY: image
image: ## build the Docker image IMAGE=redis-rl from SERVER_IMAGE=valkey/valkey:8.1 (or redis:7.4-bookworm …)
	@scripts/install image
	@scripts/with-docker scripts/image "$(IMAGE)" "$(RUST_IMAGE)" "$(SERVER_IMAGE)"

.PHONY: test-image
test-image: ## build the image from each of SERVER_IMAGES and test it, starting Docker where none runs
	@scripts/install image
	@scripts/with-docker scripts/test-image "$(RUST_IMAGE)" $(SERVER_IMAGES)

# Costs are counted on this machine's own Redis, unless SERVERS names another server.
own_server = SERVERS="$${SERVERS:-$$(scripts/servers system)}"

# Of a machine that does nothing else: they measure time and memory. One alone: make bench-memory
BENCHES := throughput growth memory floods

.PHONY: bench
bench: $(BENCHES:%=bench-%) ## measure everything into benches/results; ROUNDS=, SECONDS=, PEER_MODULE=redis-cell's .so

.PHONY: $(BENCHES:%=bench-%)
$(BENCHES:%=bench-%): bench-%: build
	@scripts/install run bench
	@$(own_server) cargo bench --quiet --locked --profile dev --bench $*

.PHONY: bench-instructions
bench-instructions: build ## count instructions per command against benches/budget.md; UPDATE=1 writes it
	@scripts/install run bench
	@$(own_server) cargo bench --locked --profile dev --bench instructions

.PHONY: lint
lint: ## check format and clippy, warnings denied
	@scripts/install build lint
	cargo fmt --check
	cargo fmt --check --manifest-path tests/image/Cargo.toml
	cargo clippy --locked --all-targets -- -D warnings

.PHONY: clean
clean: ## remove everything that was built or fetched
	cargo clean
