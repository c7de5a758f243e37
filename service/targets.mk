# The service rlaas. Read by the Makefile.

SERVICE := --package rlaas --package rlaas-rules
# The program, in the debug profile.
build_service = cargo build --quiet --locked $(or $(PACKAGES),--package rlaas) --bin rlaas
# The name of its image, and the image that it is made from; RUST_IMAGE is in deploy/images/targets.mk.
SERVICE_NAME  ?= rlaas
SERVICE_IMAGE ?= $(shell sed -n 's/^ARG SERVICE_IMAGE=//p' Dockerfile)

.PHONY: service
service: service-build ## start a server and rlaas with the rules of service/examples/rules; prints requests of which one gets 429
	@exec scripts/with-server "$(SERVER)" "$(RL_MODULE)" scripts/service "$(TARGET)/service/rlaas"

.PHONY: service-build
service-build: $(own_module)
	@scripts/install run
	cargo build --profile service --locked --package rlaas

# Most of its tests wait: for six of them two processors are enough.
.PHONY: test-service
test-service: $(own_module) $(if $(SERVERS),,servers) ## test rlaas: its rules, real servers, and real proxies in front
	@scripts/install test proxies
	@scripts/envoy >/dev/null
	@scripts/xds >/dev/null
	RUST_TEST_THREADS=6 SERVERS="$${SERVERS:-$$(ls $(CURDIR)/target/servers/*/*-server | grep -v /redis-6 | xargs)}" \
	  $(call tests,$(SERVICE),cli matching rules serve) --quiet

.PHONY: service-image
service-image: ## build the Docker image SERVICE_NAME=rlaas from SERVICE_IMAGE=debian:bookworm-slim
	@scripts/install image
	@scripts/with-docker scripts/image service "$(SERVICE_NAME)" "$(RUST_IMAGE)" "$(SERVICE_IMAGE)"

.PHONY: test-upstream
test-upstream: service-build ## run the tests of UPSTREAM=<clone of envoyproxy/ratelimit> (as root), or the rules of GATEWAY=<of envoyproxy/gateway>
	@scripts/install $(if $(GATEWAY),gateway,upstream)
	@scripts/$(if $(GATEWAY),test-gateway "$(GATEWAY)",test-upstream "$(UPSTREAM)") \
	  "$(TARGET)/service/rlaas" "$$(scripts/servers system)" "$(RL_MODULE)"

.PHONY: bench-matching
bench-matching: ## measure how a descriptor finds its rule, into benches/results
	@scripts/install bench
	cargo bench --quiet --locked --package rlaas-rules --bench matching

.PHONY: bench-service
bench-service: service-build ## measure rlaas into benches/results, beside limitador (LIMITADOR=path); ROUNDS=5 SECONDS=2
	@scripts/install server bench-peers
	cargo build --profile service --locked --package rlaas --example load --example empty
	@$(own_server) BUILT="$(TARGET)/service" benches/service.py
