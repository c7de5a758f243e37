# The measurements. Read by the Makefile.

# On this machine's own Redis, unless SERVERS names another server.
own_server = SERVERS="$${SERVERS:-$$(scripts/servers system)}"
# They wait or count, so they need no optimisation.
bench = cargo bench --quiet --locked $(or $(PACKAGES),--package redis-rl) --profile dev --bench

# They measure time and memory: run them on a machine that does nothing else. To run one: make bench-memory
BENCHES := throughput memory

.PHONY: bench
bench: $(BENCHES:%=bench-%) ## measure everything into benches/results; ROUNDS=, SECONDS=, PEER_MODULE=redis-cell's .so

.PHONY: $(BENCHES:%=bench-%)
$(BENCHES:%=bench-%): bench-%: build
	@scripts/install run bench
	@$(own_server) $(bench) $*

.PHONY: bench-peers
bench-peers: $(own_module) ## measure the module beside throttlecrab-server (THROTTLECRAB=path)
	@scripts/install run bench-peers
	@$(own_server) benches/peers.py

.PHONY: bench-instructions
bench-instructions: build ## count instructions per command against benches/budget.md; ONLY=TOKEN,GCRA names rows, UPDATE=1 writes
	@scripts/install run bench
	@$(own_server) $(bench) instructions
