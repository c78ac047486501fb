# Everything that is run on this repository, by people and by automation alike.
# `make` before a change is handed over; `make help` for the rest.

SHELL       := /bin/bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := all

GO       ?= go
FUZZTIME ?= 10s
BENCH    ?= .
TESTFLAGS ?= -timeout=20m
DEMOFLAGS ?=
BENCHFLAGS ?=
A2A_TCK_DIR ?=
PYTHON ?= python3

VERSION ?= $(shell git describe --tags --always --dirty 2>/dev/null || echo unknown)
LDFLAGS := -s -w -X github.com/legation/legation/internal/cli.version=$(VERSION)

# What releases are built with. Go 1.26.8 has known vulnerabilities that a server
# like this one reaches.
RELEASE_GO ?= go1.27.3

# Modules of their own, so that nothing they need reaches the product.
MODULES := bench interop tools

# Developer tools are built once per version of theirs and of Go.
TOOLS_GO     := $(shell $(GO) env GOVERSION)
LINT_VERSION := $(shell awk '$$1 ~ /golangci-lint\/v2$$/ {print $$2}' tools/go.mod)
VULN_VERSION := $(shell awk '$$1 == "golang.org/x/vuln" {print $$2}' tools/go.mod)
LINT         := .bin/golangci-lint-$(LINT_VERSION)-$(TOOLS_GO)
VULN         := .bin/govulncheck-$(VULN_VERSION)-$(RELEASE_GO)

# Packages whose coverage has a floor, in percent. Generated files do not count.
COVER_FLOOR    ?= 85
COVER_PACKAGES := a2a task server client
COVER_PROFILE  ?= .bin/cover.out

.PHONY: all help release-go vet lint fmt test test-fast fuzz conformance generate check-generate check-tidy check-format \
	cover check-cover build demo bench bench-code bench-store interop tck vuln vulndb licences tools clean

all: vet lint test ## vet, lint and test: what must pass before a change is handed over

release-go: ## which Go releases are built with
	@echo $(RELEASE_GO)

help: ## this list
	@awk -F ':.*## ' '/^[a-z][a-z-]*:.*## / {printf "  %-14s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

vet: ## go vet, in every module
	$(GO) vet ./...
	@for module in $(MODULES); do echo "vet in $$module"; $(GO) vet -C $$module ./...; done

lint: $(LINT) ## golangci-lint as .golangci.yml says, in every module (the first run builds it, some minutes)
	$(LINT) run ./...
	@for module in $(MODULES); do echo "lint in $$module"; (cd $$module && $(abspath $(LINT)) run -c $(CURDIR)/.golangci.yml ./...); done

fmt: ## gofmt every file
	gofmt -w $$(find . -name '*.go' -not -path './.bin/*')

test: ## every test, with the race detector
	$(GO) test -race $(TESTFLAGS) ./...

test-fast: ## every test, without the race detector, unchanged ones from the cache
	$(GO) test $(TESTFLAGS) ./...

fuzz: ## every fuzz target for a while (FUZZTIME=10s)
	@for module in . interop; do (cd $$module && $(GO) list -f '{{if or .TestGoFiles .XTestGoFiles}}{{.Dir}}{{end}}' ./...); done | while read -r dir; do \
		for target in $$({ grep -hoE '^func Fuzz[A-Za-z0-9_]+' "$$dir"/*_test.go || true; } | awk '{print $$2}'); do \
			echo "--- $$target in $${dir#$$PWD/}"; \
			(cd "$$dir" && $(GO) test -run '^$$' -fuzz "^$$target\$$" -fuzztime $(FUZZTIME) .); \
		done; \
	done

generate: ## write what is generated: wire types and codec from the wire table, docs/conformance.md from claim, tests and evidence
	$(GO) generate ./a2a
	@$(GO) run ./cmd/legation conformance write

check-generate: ## fail if something generated is stale
	@before=$$(cat a2a/*_gen.go docs/conformance.md | cksum); \
	$(MAKE) --no-print-directory generate; \
	[ "$$before" = "$$(cat a2a/*_gen.go docs/conformance.md | cksum)" ] || \
		{ echo 'something generated was stale; it is fresh now, look at the difference and keep it' >&2; exit 1; }

conformance: ## compare the wire claim with code, a running server, documents, partners and evidence
	@$(GO) run ./cmd/legation conformance check

check-tidy: ## fail if go.mod or go.sum is not as go mod tidy writes it
	@for module in . $(MODULES); do \
		$(GO) -C $$module mod tidy -diff >&2 || { echo "run go -C $$module mod tidy" >&2; exit 1; }; \
	done

check-format: ## fail if a file is not as gofmt writes it
	@unformatted=$$(gofmt -l $$(find . -name '*.go' -not -path './.bin/*')); \
	[ -z "$$unformatted" ] || { echo "not formatted, run make fmt:" >&2; echo "$$unformatted" >&2; exit 1; }

cover: ## coverage of the packages that have a floor
	@mkdir -p .bin
	$(GO) test -covermode=atomic -coverprofile=$(COVER_PROFILE) $(addprefix ./,$(COVER_PACKAGES))
	@$(MAKE) --no-print-directory check-cover

check-cover: ## compare a coverage profile with the floor (COVER_PROFILE, COVER_FLOOR)
	@$(GO) run -C tools ./cover -profile $(abspath $(COVER_PROFILE)) -floor $(COVER_FLOOR) $(COVER_PACKAGES)

build: ## the binary ./legation, which knows its version
	CGO_ENABLED=0 $(GO) build -trimpath -buildvcs=false -ldflags '$(LDFLAGS)' -o legation ./cmd/legation

demo: ## two instances on loopback, one handing a step to the other (DEMOFLAGS=--once)
	$(GO) run ./cmd/legation demo $(DEMOFLAGS)

# The partners' packages are exactly those of their lock files.
interop/python/.installed: interop/python/requirements.txt
	@rm -f $@
	@echo 'installing the Python SDK from its lock file, once'
	@$(PYTHON) -m venv --clear $(@D)/.venv
	@$(@D)/.venv/bin/python -m pip install --quiet --disable-pip-version-check --retries 5 --require-hashes --only-binary :all: -r $<
	@touch $@

interop/javascript/.installed: interop/javascript/package.json interop/javascript/package-lock.json
	@rm -f $@
	@echo 'installing the JavaScript SDK from its lock file, once'
	@cd $(@D) && npm ci --ignore-scripts --loglevel=error >/dev/null
	@touch $@

interop: interop/python/.installed interop/javascript/.installed ## the SDKs for Go, Python and JavaScript in both roles, nginx between, and the proto as oracle; needs python3, node and nginx
	@mkdir -p .bin
	LEGATION_PARTNERS=all LEGATION_MATRIX=$(CURDIR)/.bin/interop.md $(GO) test -C interop -race $(TESTFLAGS) ./...
	@cat .bin/interop.md

tck: ## the public conformance kit against the test agent (A2A_TCK_DIR=its checkout)
	@$(GO) run ./conformance/tck --kit "$(A2A_TCK_DIR)"

bench: ## ours beside a2a-go and plain net/http, as a Markdown table; some three minutes (BENCHFLAGS=--rounds=5)
	@mkdir -p .bin/bench
	CGO_ENABLED=0 $(GO) build -C bench -o $(CURDIR)/.bin/bench/ ./ours ./peer ./floor ./drive
	@.bin/bench/drive --dir .bin $(BENCHFLAGS)

bench-code: ## Go benchmarks of everything but the store (BENCH=pattern)
	$(GO) test -run '^$$' -bench '$(BENCH)' -benchmem -timeout 10m $$($(GO) list ./... | grep -v /store/)

bench-store: ## Go benchmarks of the store (BENCH=pattern); lists of a million tasks take minutes to prepare
	$(GO) test -run '^$$' -bench '$(BENCH)' -benchmem -timeout 30m ./store/...

vuln: $(VULN) vulndb ## known vulnerabilities that our code reaches when built as releases are
	GOTOOLCHAIN=$(RELEASE_GO) $(VULN) -db file://$(CURDIR)/.bin/vulndb ./...

# The database comes from the Go proxy like every other module, so that the
# check runs where nothing else can be reached. It is always the latest.
vulndb: ## fetch the database of vulnerabilities into .bin
	@mkdir -p .bin
	@data=$$(cd .bin && $(GO) mod download -json golang.org/x/vulndb@latest | awk -F '"' '$$2 == "Dir" {print $$4}'); \
	rm -rf .bin/vulndb; \
	(cd .bin && $(GO) run golang.org/x/vulndb/cmd/indexdb@$${data##*@} -vulns "$$data/data/osv" -out vulndb)

licences: ## the licence of every dependency is one we may ship
	@$(GO) run -C tools ./licences -module $(CURDIR)

tools: $(LINT) $(VULN) ## build the developer tools into .bin

$(LINT):
	$(GO) build -C tools -buildvcs=false -o $(abspath $@) github.com/golangci/golangci-lint/v2/cmd/golangci-lint

$(VULN):
	GOTOOLCHAIN=$(RELEASE_GO) $(GO) build -C tools -buildvcs=false -o $(abspath $@) golang.org/x/vuln/cmd/govulncheck

clean: ## remove what was built
	rm -rf .bin legation
