# Lamplighter. `make run` and `make test` need Go and git, nothing else. `make help` lists the targets.

GO        ?= go
GOBIN     := $(shell $(GO) env GOPATH)/bin
LINTER    := github.com/golangci/golangci-lint/v2/cmd/golangci-lint@v2.15.0
FUNCTIONS ?=
VERSION   := $(shell git describe --tags --always --dirty 2>/dev/null || echo dev)

# The build tags of what is deployed. Everything is built and tested with them, so that each package is compiled once for a machine.
# They leave out net/rpc, HTTP/2 and traces of gRPC: with net/rpc a program of 12 MB has 19 MB.
TAGS := lambda.norpc,nethttpomithttp2,grpcnotrace

# Nothing here is C. Without it `make run`, `make test` and what they build share what they compile, and need no C compiler.
export CGO_ENABLED = 0

# Without the paths of this checkout in them, a fresh clone takes what another one has compiled, and the same sources make the same
# file: an unchanged function is not deployed again.
export GOFLAGS := $(strip $(GOFLAGS) -trimpath -tags=$(TAGS))

# Packages and flags of a test run can be narrowed: make test PACKAGES=./shared/engine/table/... TESTFLAGS='-run Contract -v'
PACKAGES  ?= ./...
TESTFLAGS ?=

# Two tests of a package at once for each processor, at least four: tests of the whole service wait for its loops.
PARALLEL ?= $(shell n=$$(getconf _NPROCESSORS_ONLN 2>/dev/null || echo 2); echo $$((n > 2 ? 2 * n : 4)))

.DEFAULT_GOAL := help

help: ## This list
	@awk -F':.*## ' '/^[a-z-]+:.*## / {printf "  make %-12s %s\n", $$1, $$2}' Makefile

run: ## Everything in one process on http://127.0.0.1:8080 (ARGS='-addr 127.0.0.1:9000')
	@GO="$(GO)" MAKE="$(MAKE)" .ci/serve $(ARGS)

# Without go vet, which takes a tenth of the time: `make drift` and `make lint` run it.
test: ## The tests
	$(GO) test -vet=off -timeout=15m -parallel=$(PARALLEL) $(TESTFLAGS) $(PACKAGES)

race: ## The tests with the race detector, on a store that throttles and refuses as DynamoDB does (.ci/raced says which packages)
	@GO="$(GO)" TESTFLAGS="$(TESTFLAGS)" .ci/race $(PACKAGES)

test-limits: ## The tests that use a store and that `make race` leaves out, on such a store
	LAMPLIGHTER_TEST_LIMITS=1 $(GO) test -p=$(PARALLEL) -vet=off -timeout=15m -parallel=$(PARALLEL) $(TESTFLAGS) $(shell .ci/raced only-limited $(PACKAGES))

# Only packages with benchmarks: the others would be linked for nothing.
BENCHMARKED = $(shell grep -rl '^func Benchmark' --include='*_test.go' cmd events functions infra shared | xargs -n1 dirname | sort -u | sed 's|^|./|')

bench-once: ## Each benchmark once, the largest with less: fails when one fails, and says nothing about time
	$(GO) test -short -run='^$$' -bench=. -benchtime=1x -vet=off -timeout=15m $(TESTFLAGS) $(BENCHMARKED)

bench: ## The benchmarks, as a table
	@$(GO) test -run='^$$' -bench=. -benchmem -timeout=30m $(TESTFLAGS) $(PACKAGES) | awk -f .ci/bench-table.awk
	@$(MAKE) --no-print-directory cost

cost: ## What the service costs in AWS for four sizes, measured here: docs/operations/cost.md
	@$(GO) test ./cmd/lamplighter/cost -run='^TestCost_' -count=1 -timeout=30m -update; status=$$?; \
	  sed -n '/^| US dollars a month/,/^$$/p' docs/operations/cost.md; exit $$status

test-peers: ## What speaks to others against dynoxide and moto, where they are installed
	@GO="$(GO)" .ci/peers $(TESTFLAGS)

# The variable lets tests start programs of other makers. Without Chromium the tests skip, and say so at the end.
test-browser: ## The console and passkeys in Chromium, where it is installed
	@log=$$(mktemp); status=0; LAMPLIGHTER_PEERS=1 $(GO) test -count=1 -timeout=9m -v -run='InChromium$$' $(TESTFLAGS) \
	  ./cmd/lamplighter ./functions/auth >$$log 2>&1 || status=$$?; cat $$log; \
	  if grep -q 'SKIPPED:' $$log; then printf '\nNOT TESTED IN A BROWSER: install chromium\n'; fi; rm -f $$log; exit $$status

drill: ## Restore a store and see who is let in, on each engine that is installed, with the time of each step
	LAMPLIGHTER_PEERS=1 $(GO) test -count=1 -timeout=9m -v -run='^TestRestore' $(TESTFLAGS) ./cmd/lamplighter

build: build/lamplighter bootstraps build/description/openapi.yaml ## Every Lambda as it is deployed, and the local server

build/lamplighter: FORCE
	@GO="$(GO)" .ci/compile -buildvcs=false -ldflags="-s -w -X main.version=$(VERSION)" -o $@ ./cmd/lamplighter

build/lamplighter-first: FORCE # without the SDKs of clouds, which .ci/serve compiles while it serves
	@GO="$(GO)" .ci/compile -tags=$(TAGS),simulatedonly -buildvcs=false -ldflags="-s -w -X main.version=$(VERSION)" -o $@ ./cmd/lamplighter

# One go build for all: FUNCTIONS='actions users' builds only those.
bootstraps: FORCE
	@$(GO) run ./.ci/bootstraps -for linux/arm64 -o build/arm64 -layout build $(FUNCTIONS)

weigh: build ## What functions may weigh, held against what is deployed
	LAMPLIGHTER_BUILT=build $(GO) test -count=1 -timeout=1m -run='^Test(APIFunctionsStayLight|WorkersStayBelowSixtyMegabytes)$$' ./events

build/description/openapi.yaml: openapi.yaml # the function hands out the file that lies beside it
	@mkdir -p $(@D)
	@cp $< $@

openapi: ## openapi.yaml, from the operations
	$(GO) run ./cmd/lamplighter openapi > openapi.yaml.new
	@mv openapi.yaml.new openapi.yaml

registry: ## What the templates and docs/data-model.md take from functions/<name>/declaration.go
	$(GO) test ./infra/stacks -run 'TestTemplate_SaysWhatFunctionsDeclare' -count=1 -update
	$(GO) test ./cmd/lamplighter/checks -run 'TestDataModel_' -count=1 -update

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

.PHONY: help run test race test-limits bench bench-once cost test-peers test-browser drill build weigh openapi registry lint breaking accept drift bootstraps synth check clean FORCE
