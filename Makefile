# The commands for newcomers, developers and the CI. Longer scripts are in scripts/.
.DEFAULT_GOAL := help

PORT   ?= 6379
SERVER ?= redis-server

TARGET := $(abspath $(or $(CARGO_TARGET_DIR),target))
# The module that the tests load too.
export RL_MODULE ?= $(TARGET)/release/libredis_rl.so

# Tools from crates.io, at the versions that are known to work: $(call tool,deny,$(CARGO_DENY)) installs cargo-deny.
CARGO_AUDIT     := 0.22.2
CARGO_DENY      := 0.20.2
CARGO_FUZZ      := 0.13.2
CARGO_MUTANTS   := 27.1.0
CARGO_CYCLONEDX := 0.5.9
tool = cargo $(1) --version 2>/dev/null | grep -q ' $(2)$$' || cargo install --quiet --locked cargo-$(1)@$(2)

# Packages that are compiled together share one set of features for their dependencies, so each is compiled once. A target
# by itself compiles only what it needs. .ci/run sets PACKAGES to ALL.
ALL      := --workspace --exclude redis-rl-image-tests --all-features
PACKAGES ?=
export PACKAGES
# $(call tests,<packages>,<files>): the tests of these packages. With PACKAGES, only the files: `make test` then runs the
# unit tests and the examples of all.
tests = cargo test --locked --no-fail-fast $(if $(PACKAGES),$(PACKAGES) $(2:%=--test %),$(1))

# The groups of make help. A target that is in neither is for developers.
FOR_USE     := help deps build run wheel image run-image playground service ops
FOR_RELEASE := deny audit dist test-dist test-reproducible sbom test-packages test-image

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
test: build $(if $(SERVERS),,servers) ## run the tests of the module against real servers; SERVERS="path path" names others
	$(call tests,,module docs) $(if $(PACKAGES),--lib --bins)
	$(if $(PACKAGES),cargo test --quiet --locked $(PACKAGES) --doc)

# For longer runs: make reliability SECONDS_EACH=300. PROMISE=panic runs the tests whose name contains that.
SECONDS_EACH ?= 5
PROMISE      ?=

export RL_PANICKING_MODULE ?= $(TARGET)/panic-on-purpose/debug/libredis_rl.so

.PHONY: reliability
reliability: build $(if $(SERVERS),,servers) ## test that nothing ends the server: hostile input, panics, memory; SECONDS_EACH=5 a test
	@scripts/install test
	cargo build --locked --features panic-on-purpose --target-dir "$(TARGET)/panic-on-purpose"
	SECONDS_EACH=$(SECONDS_EACH) $(call tests,--test reliability,reliability) -- --nocapture $(PROMISE)

.PHONY: memcheck
memcheck: build $(if $(SERVERS),,servers) ## run hostile input under valgrind: the module has no error and no leak; SECONDS_EACH=5
	@scripts/install memcheck
	SECONDS_EACH=$(SECONDS_EACH) $(call tests,--test reliability,reliability) -- --nocapture --ignored memcheck

# A module that RL_MODULE names elsewhere is not built.
own_module = $(if $(filter $(TARGET)/%,$(RL_MODULE)),build)

# The targets of these directories. Each file is read from here, not by itself.
include $(addsuffix /targets.mk,benches clients deploy/images deploy/monitoring deploy/packages service tests/proofs)

.PHONY: deny
deny: ## check licenses, sources and duplicates of the dependencies (needs no database)
	@$(call tool,deny,$(CARGO_DENY))
	cargo deny --locked check --hide-inclusion-graph bans licenses sources

.PHONY: audit
audit: ## check the dependencies for known vulnerabilities (RustSec; needs the network)
	@$(call tool,audit,$(CARGO_AUDIT))
	cargo audit

.PHONY: fuzz
fuzz: $(own_module) $(if $(SERVERS),,servers) ## fuzz what reads rules, and the Lua scripts, on every core; nightly Rust; SECONDS_EACH=5
	@scripts/install fuzz test
	@$(call tool,fuzz,$(CARGO_FUZZ))
	@scripts/fuzz "$(SECONDS_EACH)" "$(TARGET)"

.PHONY: mutants
mutants: $(own_module) $(if $(SERVERS),,servers) ## change the code in 50 places, one after the other, and print the changes that no test finds: an hour
	@$(call tool,mutants,$(CARGO_MUTANTS))
	@scripts/mutants

.PHONY: lint
lint: lint-texts ## check format, clippy, luacheck, warnings denied
	cargo clippy --locked $(ALL) --all-targets -- -D warnings
	cargo clippy --locked $(ALL) --test reliability --test history -- -D warnings

.PHONY: lint-texts
lint-texts:
	@scripts/install build lint
	luacheck --quiet lua
	cargo fmt --all --check

.PHONY: lint-all
lint-all: ## check what other features compile, and the documentation, warnings denied
	@scripts/install build lint
	cargo clippy --locked --workspace --all-targets -- -D warnings
	cargo clippy --locked --package redis-rl-client --no-default-features -- -D warnings
	RUSTDOCFLAGS="-D warnings" cargo doc --quiet --locked --package redis-rl-client --all-features --no-deps
	RUSTDOCFLAGS="-D warnings" cargo doc --quiet --locked --package redis-rl-algorithm --package rlaas --package rlaas-rules --no-deps

.PHONY: full
full: ## run all checks on all servers, and print how long each takes: an hour or more; .ci/run is what every change must pass
	@.ci/run full

.PHONY: words
words: ## count the words of the pages, but the changelog and results: what a run has written
	@git ls-files '*.md' ':!CHANGELOG.md' ':!*results*' ':!benches/budget.md' | xargs cat | tr -s '[:space:]' '\n' | grep -c '[[:alnum:]]'

.PHONY: lines
lines: ## count the lines written by hand: product, tests and pages, by directory
	@scripts/lines

.PHONY: clean
clean: ## remove everything that was built, packed or fetched
	cargo clean
	rm -rf dist
