# Lamplighter. `make run` and `make test` need Go and git, nothing else. `make help` lists the targets.

GO        ?= go
GOBIN     := $(shell $(GO) env GOPATH)/bin
LINTER    := github.com/golangci/golangci-lint/v2/cmd/golangci-lint@v2.15.0
FUNCTIONS := $(sort $(patsubst functions/%/lambda/main.go,%,$(wildcard functions/*/lambda/main.go)))
VERSION   := $(shell git describe --tags --always --dirty 2>/dev/null || echo dev)

# -buildvcs=false, and -trimpath below: the same sources make the same file, so that an unchanged function is not deployed again.
STRIPPED  := -buildvcs=false -ldflags="-s -w"
LAMBDA    := GOOS=linux GOARCH=arm64 $(GO) build $(STRIPPED) -tags lambda.norpc,nethttpomithttp2,grpcnotrace

# Nothing here is C. Without it `make run`, `make test` and what they build share what they compile, and need no C compiler.
export CGO_ENABLED = 0

# Without the paths of this checkout in them, a fresh clone takes what another one has compiled.
export GOFLAGS := $(strip $(GOFLAGS) -trimpath)

# Packages and flags of a test run can be narrowed: make test PACKAGES=./shared/engine/table/... TESTFLAGS='-run Contract -v'
PACKAGES  ?= ./...
TESTFLAGS ?=

# The packages whose tests use a store. The store's own tests choose their limits themselves.
STORED = $(filter-out ./shared/engine/table/,$(addprefix ./,$(sort $(dir $(shell \
	grep -rlE '\b(tabletest|apitest|inventorytest|testenv)\.' --include='*_test.go' cmd functions shared)))))

.DEFAULT_GOAL := help

help: ## This list
	@awk -F':.*## ' '/^[a-z-]+:.*## / {printf "  make %-12s %s\n", $$1, $$2}' Makefile

run: ## Everything in one process on http://127.0.0.1:8080 (ARGS='-addr 127.0.0.1:9000')
	@GO="$(GO)" MAKE="$(MAKE)" .ci/serve $(ARGS)

test: ## The tests
	$(GO) test -timeout=10m $(TESTFLAGS) $(PACKAGES)

race: ## The tests with the race detector; infra/ only drives node and is left out, and vet has looked in `make test`
	CGO_ENABLED=1 $(GO) test -race -vet=off -timeout=15m $(TESTFLAGS) $(filter-out lamplighter.dev/infra,$(shell $(GO) list $(PACKAGES)))

test-limits: ## The tests that use a store, on one that throttles and refuses as DynamoDB does
	LAMPLIGHTER_TEST_LIMITS=1 $(GO) test -vet=off -timeout=15m $(TESTFLAGS) $(STORED)

bench: ## The benchmarks, as a table
	@$(GO) test -run='^$$' -bench=. -benchmem -timeout=30m $(TESTFLAGS) $(PACKAGES) | awk -f .ci/bench-table.awk
	@$(MAKE) --no-print-directory cost

cost: ## What the service costs in AWS for four sizes, measured here: docs/operations/cost.md
	@$(GO) test ./cmd/lamplighter/cost -run='^TestCost_' -count=1 -timeout=30m -update; status=$$?; \
	  sed -n '/^| US dollars a month/,/^$$/p' docs/operations/cost.md; exit $$status

test-peers: ## What speaks to others against dynoxide and moto, where they are installed
	@GO="$(GO)" .ci/peers $(TESTFLAGS)

drill: ## Restore a store and see who is let in, on each engine that is installed, with the time of each step
	LAMPLIGHTER_PEERS=1 $(GO) test -count=1 -timeout=9m -v -run='^TestRestore' $(TESTFLAGS) ./cmd/lamplighter

build: build/lamplighter $(FUNCTIONS:%=build/%/bootstrap) build/description/openapi.yaml ## Every Lambda as it is deployed, and the local server

build/lamplighter: FORCE
	@GO="$(GO)" .ci/compile -buildvcs=false -ldflags="-s -w -X main.version=$(VERSION)" -o $@ ./cmd/lamplighter

build/lamplighter-first: FORCE # without the SDKs of clouds, which .ci/serve compiles while it serves
	@GO="$(GO)" .ci/compile -tags simulatedonly -buildvcs=false -ldflags="-s -w -X main.version=$(VERSION)" -o $@ ./cmd/lamplighter

build/%/bootstrap: FORCE
	@$(LAMBDA) -o $@ ./functions/$*/lambda

weigh: build ## What functions may weigh, held against what is deployed
	LAMPLIGHTER_BUILT=build $(GO) test -count=1 -timeout=1m -run='^Test(APIFunctionsStayLight|WorkersStayBelowSixtyMegabytes)$$' ./events

build/description/openapi.yaml: openapi.yaml # the function hands out the file that lies beside it
	@mkdir -p $(@D)
	@cp $< $@

openapi: ## openapi.yaml, from the operations
	$(GO) run ./cmd/lamplighter openapi > openapi.yaml.new
	@mv openapi.yaml.new openapi.yaml

registry: ## What template.yaml and docs/data-model.md take from functions/<name>/declaration.go
	$(GO) test ./cmd/lamplighter -run 'TestTemplate_SaysWhatFunctionsDeclare|TestDataModel_' -count=1 -update

lint: ## golangci-lint, installed when it is missing
	@test -x $(GOBIN)/golangci-lint || $(GO) install $(LINTER)
	$(GOBIN)/golangci-lint run $(PACKAGES)

breaking: ## openapi.yaml keeps what was promised to clients (installs oasdiff when it is missing)
	@.ci/breaking

accept: breaking ## Promise what openapi.yaml adds
	@cp openapi.yaml .ci/released.yaml

drift: ## What is generated or formatted is as it should be
	@.ci/drift

synth: build ## The CloudFormation templates of all stages, in build/cdk.out (needs node)
	JSII_SILENCE_WARNING_END_OF_LIFE_NODE_VERSION=20 $(GO) run ./infra

check: test lint drift ## What to run before a commit

clean: ## Remove what was built; the local store in .lamplighter/ stays
	rm -rf build

.PHONY: help run test race test-limits bench cost test-peers drill build weigh openapi registry lint breaking accept drift synth check clean FORCE
