# The model and the histories. Read by the Makefile.

PROOFS := --package redis-rl-proofs
# SIZE=large visits more states.
SIZE ?= small

.PHONY: proofs
proofs: ## visit every state of the model in tests/proofs/; SIZE=large
	@scripts/install rust
	$(if $(PACKAGES),,cargo test --quiet --locked $(PROOFS))
	cargo build --quiet --locked $(or $(PACKAGES),$(PROOFS)) --bin redis-rl-proofs
	"$(TARGET)/debug/redis-rl-proofs" $(SIZE)

# Seconds of each history, and the seed of its faults; SEED='1 2 3' records one after the other.
SECONDS ?= 4
SEED    ?= 1
# HISTORY=failover runs the histories whose name contains that.
HISTORY ?=

.PHONY: history
history: build $(if $(SERVERS),,servers) ## record what clients see while servers are killed, and check every call; SECONDS=4 SEED=1 HISTORY=
	@scripts/install history
	for seed in $(SEED); do SECONDS=$(SECONDS) SEED=$$seed \
	  $(call tests,$(PROOFS) --test history,history) --quiet -- --nocapture --test-threads 1 $(ALL_HISTORIES) $(HISTORY) || exit; \
	  done

.PHONY: history-long
# Not longer ones: each failover multiplies what a server may have counted, and the checker keeps all of it.
history-long: SECONDS = 10
history-long: SEED = 1 2 3 4 5 6
history-long: ALL_HISTORIES = --include-ignored
history-long: history ## the same with six seeds for 10 s each, and what each topology of docs/operations.md loses
