# What is shipped. Read by the Makefile.

.PHONY: wheel
wheel: build ## pack the module, a server to try it and a fixture for pytest into dist/redis_rl-*.whl
	@scripts/install pip python
	@python3 -m pip wheel --quiet --disable-pip-version-check --no-deps --wheel-dir dist deploy/packages/python
	@echo "To install it and start a server:"
	@printf '  %s\n' 'python3 -m venv redis-rl' "redis-rl/bin/pip install $$(ls -t dist/redis_rl-*.whl | head -n 1)" \
	  redis-rl/bin/redis-rl-server

.PHONY: dist
dist: ## build and pack an archive, a wheel and checksums for this architecture into dist/
	@scripts/install dist
	@scripts/dist "$(TARGET)"

.PHONY: test-dist
test-dist: ## check the files in dist/: they are complete, and they load
	@scripts/install test-dist
	@scripts/test-dist

.PHONY: test-reproducible
test-reproducible: ## check that the same sources in another directory make the bytes that are in dist/
	@scripts/install dist
	@scripts/test-reproducible

.PHONY: test-packages
test-packages: $(own_module) ## check the crates, the Python and the Node package as a registry gets them, and install them
	@scripts/install rust python
	@scripts/test-packages

.PHONY: sbom
sbom: ## list in dist/ which crates the module and the service are built from, in CycloneDX
	@scripts/install rust python
	@$(call tool,cyclonedx,$(CARGO_CYCLONEDX))
	@scripts/sbom redis-rl rlaas
