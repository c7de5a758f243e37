# The image. Read by the Makefile.

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
	@scripts/with-docker scripts/image server "$(IMAGE)" "$(RUST_IMAGE)" "$(SERVER_IMAGE)"

.PHONY: run-image
run-image: image ## start that image in the foreground on PORT=6379 of this machine; starts Docker if none runs
	@scripts/with-docker docker run --rm $(shell [ ! -t 0 ] || echo -it) -p "127.0.0.1:$(PORT):6379" "$(IMAGE)"

.PHONY: test-image
test-image: ## build the image from each of SERVER_IMAGES, and that of rlaas, and test them; starts Docker if none runs
	@scripts/install image rust
	@scripts/with-docker scripts/test-image "$(RUST_IMAGE)" "$(SERVICE_IMAGE)" $(SERVER_IMAGES)
