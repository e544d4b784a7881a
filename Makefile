# SampleDB operator. `make help` lists what there is.
SHELL := /bin/bash
.SHELLFLAGS := -eu -o pipefail -c
.DEFAULT_GOAL := help

# Node 24 comes with the packages, so that an older one is enough to start. The rest is what su and sudo take off the path.
# The last is where make cluster-up puts a kubectl, for a machine that has none.
export PATH := $(CURDIR)/node_modules/.bin:$(PATH):/usr/sbin:/sbin:/usr/local/go/bin:$(CURDIR)/build/sampledb-$(or $(CLUSTER_INDEX),0)
NODE := node --disable-warning=ExperimentalWarning
installed := node_modules/.package-lock.json

.PHONY: help
help: ## Show this help
	@awk 'BEGIN {FS = ":.*## "} /^##@ / {printf "\n\033[1m%s\033[0m\n", substr($$0, 5)} /^[a-z0-9-]+:.*## / {printf "  \033[36m%-18s\033[0m %s\n", $$1, $$2}' $(MAKEFILE_LIST)

##@ The two commands

.PHONY: demo
demo: $(installed) ## A highly available database on a local Kubernetes: its node lost, changed, scaled, drained, a dropped table brought back; no row lost
	@$(NODE) e2e/demo/demo.ts

.PHONY: test
test: $(installed) ## Everything: lint, types, unit, integration, cluster, e2e; ends with one line of counts
	@$(NODE) tools/test.ts

##@ Development

.PHONY: fmt
fmt: $(installed) ## Format the code
	@biome check --write --log-level=warn .
	@gofmt -w e2e

.PHONY: lint
lint: $(installed) ## Check style and the direction of imports
	@$(NODE) tools/test.ts lint

.PHONY: types
types: $(installed) ## Check types
	@$(NODE) tools/test.ts types

.PHONY: test-unit
test-unit: $(installed) ## Tests of pure functions
	@$(NODE) tools/test.ts unit

.PHONY: test-integration
test-integration: $(installed) ## Tests on a real API server, without nodes
	@$(NODE) tools/test.ts integration

.PHONY: test-e2e
test-e2e: $(installed) ## Tests on a local Kubernetes of three nodes (or yours, with USE_EXISTING_CLUSTER=true)
	@$(NODE) tools/test.ts e2e

.PHONY: test-cluster
test-cluster: $(installed) ## Tests of the local Kubernetes itself: all of them (make test runs them when their inputs have changed)
	@$(NODE) tools/test.ts cluster

.PHONY: test-matrix
test-matrix: $(installed) ## Every change of a database interrupted, faults of machines and stores, nine instances, 50 databases at once (an hour and a half; make test leaves it out)
	@$(NODE) tools/test.ts matrix

.PHONY: test-helm
test-helm: $(installed) ## The chart by Helm 3 and 4 under a running database: install, upgrade, rollback, uninstall, reinstall, the operator killed meanwhile
	@$(NODE) tools/test.ts helm

.PHONY: test-olm
test-olm: $(installed) ## The bundle by a real OLM under a running database: install, upgrades, the operator away, removed, subscribed again; in one namespace
	@$(NODE) tools/test.ts olm

##@ The API

.PHONY: generate
generate: manifests ## Make everything that is made from api/

.PHONY: manifests
manifests: $(installed) ## Make CRDs, roles and the reference pages (API, reasons, annotations) from api/
	@$(NODE) tools/generate.ts

.PHONY: chart
chart: manifests ## Make the Helm chart charts/sampledb-operator from config/

.PHONY: bundle
bundle: manifests ## Make the OLM bundle bundle/ from config/, api/ and the names of the images

.PHONY: postgres-settings
postgres-settings: build ## Refresh the lists of PostgreSQL's settings from the servers in the images
	@$(NODE) tools/postgres-settings.ts

.PHONY: bench
bench: $(installed) ## How long validating takes, beside parsing the same JSON
	@$(NODE) tools/bench-api.ts

.PHONY: install
install: $(installed) ## Install the CRDs and the policies that go with them into the cluster that KUBECONFIG names
	@kubectl apply --server-side --kustomize config/crd
	@kubectl apply --server-side --kustomize config/policy

# An API server whose first try to clean up after a CRD fails may forget the CRD until its next resync, 5 minutes later. It fails
# where nobody has read the kind yet, as after an install that was never used. A change reminds it: a second delete is one, an annotation another.
.PHONY: uninstall
uninstall: $(installed) ## Remove policies and CRDs, and with them every SampleDB, Backup and Restore of the cluster, protected or not
	@kubectl delete --ignore-not-found --kustomize config/policy
	@kubectl delete --ignore-not-found --wait=false --kustomize config/crd
	@for attempt in {1..24}; do \
		kubectl delete --ignore-not-found --timeout=5s --kustomize config/crd >/dev/null && exit; \
		kubectl annotate --overwrite --kustomize config/crd sampledb.io/uninstall-attempt=$$attempt >/dev/null 2>&1 || true; \
	done; \
	echo "not done: these have a finalizer that their operator takes off. Run it (make deploy, or make run) and try again, or take the finalizers off by hand (docs/operator.md):" >&2; \
	kubectl get sampledbs,backups,restores --all-namespaces >&2; exit 1

##@ Deployment (into the cluster that KUBECONFIG names; IMAGE_REGISTRY and IMAGE_TAG name the image)

.PHONY: deploy
deploy: $(installed) ## Install CRDs, policies, operator, roles and webhooks
	@$(NODE) tools/deploy.ts apply

.PHONY: undeploy
undeploy: $(installed) ## Remove the operator; CRDs, policies and databases stay (make uninstall takes those)
	@$(NODE) tools/deploy.ts delete

.PHONY: build-installer
build-installer: $(installed) ## Write all of it to dist/install.yaml
	@$(NODE) tools/deploy.ts installer

.PHONY: run
run: $(installed) ## Run the operator from here, without webhooks, health probes and metrics (ARGS adds flags)
	@ENABLE_WEBHOOKS=false $(NODE) main.ts --health-probe-bind-address=0 $(ARGS)

##@ The runtime

.PHONY: bench-runtime
bench-runtime: $(installed) ## Our runtime beside controller-runtime, 10,000 objects on a real API server (WIDGETS, CONCURRENCY)
	@$(NODE) e2e/bench/runtime.ts

.PHONY: soak
soak: $(installed) ## Our runtime under change and faults for an hour (SOAK_MINUTES), with its memory plotted
	@$(NODE) e2e/bench/soak.ts

.PHONY: bench-database
bench-database: $(installed) ## How fast databases are made and fail over, beside the same objects applied by hand (BENCH_PARTS, BENCH_ROUNDS)
	@$(NODE) e2e/bench/database.ts

.PHONY: bench-archive
bench-archive: $(installed) ## What archiving to an S3 store costs, beside the same database without it (BENCH_PARTS, BENCH_ROUNDS)
	@$(NODE) e2e/bench/archive.ts

.PHONY: bench-backup
bench-backup: $(installed) ## How long backups and restores take, beside pg_basebackup and a plain copy (BENCH_PARTS, BENCH_ROUNDS, BENCH_GIGABYTES)
	@$(NODE) e2e/bench/backup.ts

##@ Build

.PHONY: build
build: $(installed) ## Bundle the operator into dist/main.js
	@$(NODE) tools/bundle.ts

.PHONY: docker-build
docker-build: build ## Build all images, with Docker where an engine answers and buildah otherwise
	@$(NODE) images/build.ts build

.PHONY: docker-push
docker-push: build ## Push all images to IMAGE_REGISTRY
	@$(NODE) images/build.ts push

.PHONY: bundle-build
bundle-build: $(installed) ## Build the image of the OLM bundle (with IMAGE_REGISTRY: it names the images there by digest)
	@$(NODE) tools/stage-bundle.ts
	@$(NODE) images/build.ts build sampledb/bundle

.PHONY: bundle-push
bundle-push: $(installed) ## Push the image of the OLM bundle to IMAGE_REGISTRY
	@$(NODE) tools/stage-bundle.ts
	@$(NODE) images/build.ts push sampledb/bundle

.PHONY: catalog
catalog: $(installed) ## Write the file-based catalog of the bundle to dist/catalog, validated (with IMAGE_REGISTRY: it names the bundle there by digest)
	@$(NODE) tools/catalog.ts

.PHONY: release
release: $(installed) ## Write what a release has to dist/release: installer, chart, bundle, alerts, images with digests, SBOM, checksums (IMAGE_REGISTRY has the images)
	@$(NODE) tools/release.ts

##@ Local Kubernetes (CLUSTER_INDEX=0 to 15 chooses one; 0 by default)

.PHONY: cluster-up
cluster-up: $(installed) ## Start three nodes of Kubernetes on this machine with the database images on them, or repair them
	@$(NODE) e2e/cluster/cli.ts up

.PHONY: cluster-load
cluster-load: build ## Bring all images as they are now to every node of the local Kubernetes, the operator's too
	@$(NODE) e2e/cluster/cli.ts load

.PHONY: cluster-down
cluster-down: $(installed) ## Take the local Kubernetes down and leave nothing behind
	@$(NODE) e2e/cluster/cli.ts down

.PHONY: cluster-status
cluster-status: $(installed) ## What runs, what is unhealthy, what it costs, where its logs are
	@$(NODE) e2e/cluster/cli.ts status

.PHONY: kubeconfig
kubeconfig: $(installed) ## Print the path of the local Kubernetes' kubeconfig
	@$(NODE) e2e/cluster/cli.ts kubeconfig

$(installed): package.json package-lock.json
	@command -v npm >/dev/null || { echo "error: npm is not on PATH: install Node.js (20 is enough; Node 24 then comes by itself)" >&2; exit 1; }
	@echo "installing the npm packages" >&2
	@npm ci --loglevel=error >&2 || { echo "error: npm could not install the packages: check the network and npm's registry, then run it again" >&2; exit 1; }
	@touch $@
