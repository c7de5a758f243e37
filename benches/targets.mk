# The measurements. Read by the Makefile.

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

.PHONY: bench-versions
bench-versions: build ## measure the module beside another version of it; OTHER_MODULE=path of its .so
	@scripts/install run bench
	@$(own_server) cargo bench --quiet --locked --profile dev --bench versions

.PHONY: bench-peers
bench-peers: $(own_module) ## measure the module and rlaas beside throttlecrab-server (THROTTLECRAB=path) and limitador (LIMITADOR=path)
	@scripts/install run bench-peers
	cargo build --quiet --release $(SERVICE)
	@$(own_server) RLAAS="$(TARGET)/release/rlaas" benches/peers.py

.PHONY: bench-instructions
bench-instructions: build ## count instructions per command against benches/budget.md; UPDATE=1 writes it
	@scripts/install run bench
	@$(own_server) cargo bench --locked --profile dev --bench instructions
