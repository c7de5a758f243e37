# Monitoring and the manifests. Read by the Makefile.

EXPORTER_PORT   ?= 9121
PROMETHEUS_PORT ?= 9090

.PHONY: ops
ops: $(own_module) ## start a server on PORT=6379, the exporter (EXPORTER_PORT=9121) and Prometheus (PROMETHEUS_PORT=9090)
	@scripts/install server ops
	@PORT=$(PORT) EXPORTER_PORT=$(EXPORTER_PORT) PROMETHEUS_PORT=$(PROMETHEUS_PORT) deploy/monitoring/stack.py "$$(scripts/servers path "$(SERVER)")"

.PHONY: test-ops
test-ops: $(own_module) $(if $(SERVERS),,servers) ## test deploy/monitoring and deploy/kubernetes: known traffic to the servers, every figure from Prometheus, every alert, the manifests
	@scripts/install test ops
	@python3 -m pip install --quiet --disable-pip-version-check --root-user-action ignore --upgrade \
	  --target "$(TARGET)/ops-python" -r deploy/monitoring/requirements.txt
	$(build_service)
	PYTHONPATH="$(TARGET)/ops-python" python3 -B deploy/monitoring/test_alerts.py
	RLAAS="$(TARGET)/debug/rlaas" PYTHONPATH="$(TARGET)/ops-python" python3 -B deploy/monitoring/test_ops.py
	RLAAS="$(TARGET)/debug/rlaas" PYTHONPATH="$(TARGET)/ops-python" python3 -B deploy/monitoring/test_kubernetes.py
