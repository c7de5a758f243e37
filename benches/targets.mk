# The measurements. Read by the Makefile.

# On this machine's own Redis, unless SERVERS names another server.
own_server = SERVERS="$${SERVERS:-$$(scripts/servers system)}"

.PHONY: bench-throughput
bench-throughput: build ## measure commands, scripts and other servers on an idle machine; PEER_MODULE=redis-cell's .so, THROTTLECRAB=path
	@scripts/install server bench-peers
	@$(own_server) benches/throughput.py

.PHONY: bench-instructions
bench-instructions: build ## count instructions per command against benches/budget.md; ONLY=TOKEN,GCRA names rows, UPDATE=1 writes
	@scripts/install server bench
	@$(own_server) cargo bench --quiet --locked $(or $(PACKAGES),--package redis-rl) --profile dev --bench instructions
