# Targets that a change goes through. `make test verify` is what has to pass.

GO      ?= go
T       ?= 30s
PKG     ?= ./internal/...
COUNT   ?= 6
MAX     ?= 0

SHELL       := bash
.SHELLFLAGS := -euo pipefail -c

# Built in the same way everywhere, a package is compiled once for the program, its
# tests, the control plane and the tools: from nothing, that is half of the time.
export CGO_ENABLED := 0

# Here goroutines or locks exist, so the race detector has something to find: test/arch
# derives from the code what has to stand here. It needs a C compiler, and compiles
# everything a second time, which is why `make test` goes without.
RACY := ./gctest ./hack/frozen ./internal/apisim/... ./internal/apply ./internal/backup ./internal/cli/... \
	./internal/controller/... ./internal/deleters/... ./internal/engine/... \
	./internal/past ./internal/kube/... ./internal/snapshot ./internal/uses ./test/facade ./test/scenario
RACE := $(if $(filter 1,$(shell env -u CGO_ENABLED $(GO) env CGO_ENABLED)),CGO_ENABLED=1 $(GO) test -race,$(GO) test)

# These run programs: Chromium and npm, and ours as it is built. Where Chromium or npm is
# missing, the closing lines of `make test-cluster` say so; with CI=true that is a failure.
OTHERS := ./hack/release ./test/bombs ./test/browser ./test/bundle ./test/counts

# Go keeps the result of a package until its code changes, or a file of its module that
# it read. What tests of OTHERS and of the control plane run and read besides has a sum,
# of all sources but those that Go sees, and of the versions of what is installed. It is
# part of what is asked for as the name of a test to be left out, which none has.
INPUTS = $(shell { git ls-files -z --cached --others --exclude-standard -- . ':!*_test.go' ':!test/controlplane/*/**' | \
  xargs -0 sha256sum; $(GO) version; chromium --version; node --version; npm --version; } 2>&1 | sha256sum | cut -c1-64)

# Tests and compilers live briefly: collecting their memory less often takes a third
# of the processors' time off them.
ROOMY := 400

# The root module has the oldest dependencies that gctest works with, the program has a
# module with those that it is built from, and go.work joins the two.
MODULE := github.com/kubectl-gc/kubectl-gc
ALL    := ./... ./cmd/kubectl-gc/...

# The tools have a module of their own: they never decide what the program is
# built from.
tool = "$$(cd $(CURDIR)/tools && $(GO) tool -n $(1))"

.PHONY: help
help: ## say what there is
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "%-10s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

.PHONY: build
build: ## bin/kubectl-gc
	$(GO) build -trimpath -ldflags '-s -w' -o bin/kubectl-gc ./cmd/kubectl-gc

# The tests of the control plane wait more than they work: so many packages at a time,
# each with a control plane of 1 GB, and first those that take longest.
PLANES ?= 6
FIRST  := ./stuck ./commands ./controller ./pages ./differential

# What was vetted is not vetted again, and a test that nobody debugs needs no symbols.
TRIED = -json -vet=off -ldflags='-s -w' -timeout $(TIMEOUT) $(FRESH)
TIMEOUT := 30m

# What properties draw is the same each time: it fails for what was changed, not
# by chance. `make test-all` draws something else every time.
SEED := 1

.PHONY: test
test: export RAPID_SEED = $(SEED)
test: ## whether this checkout works: vet and tests, with nothing but Go
	$(GO) vet $(ALL)
	@GOGC=$(ROOMY) $(GO) test $(TRIED) $$($(GO) list $(ALL) | grep -vxFf <($(GO) list $(OTHERS))) | $(GO) run ./hack/summary

# Where the control plane cannot be built, the tests that need it fail; the others
# still run.
.PHONY: test-cluster
test-cluster: export RAPID_SEED = $(SEED)
test-cluster: ## the rest of what a change needs: race detector, Chromium, a real control plane for the truth
	@{ s=0; inputs=$(INPUTS); export GOGC=$(ROOMY); \
	  $(RACE) $(TRIED) $(RACY) || s=1; \
	  $(GO) test $(TRIED) -skip=$$inputs $(OTHERS) || s=1; \
	  $(MAKE) --no-print-directory envtest || s=1; \
	  $(MAKE) --no-print-directory build || s=1; \
	  (cd examples/envtest && $(GO) vet ./... && PATH=$(CURDIR)/bin:$$PATH KUBEBUILDER_ASSETS=$(CURDIR)/bin/envtest $(GO) test $(TRIED) -skip=$$inputs ./...) || s=1; \
	  cd $(CONTROLPLANE) && $(GO) vet ./... || s=1; \
	  $(GO) test $(TRIED) -skip=$$inputs -p $(PLANES) $(FIRST) ./... || s=1; \
	  cd helm && $(GO) vet ./... && $(GO) test $(TRIED) -skip=$$inputs ./... || s=1; \
	  exit $$s; } | $(GO) run ./hack/summary

# Chance has a part in what happens: nothing comes from the cache of results.
.PHONY: test-all
test-all: export KUBECTL_GC_TEST := all
test-all: FRESH := -count=1
test-all: SEED := 0
test-all: TIMEOUT := 6h
test-all: test test-cluster argo ## everything: 2,000 worlds, every page, every bomb at its full size, and whatever else takes hours
	$(GO) test -count=1 -timeout $(TIMEOUT) ./internal/plan ./internal/diagnose \
	  -run '^Test(Aftermath|AccountIsWhole|EffectsAreWhatHappened|VerdictsAgreeWithPlans|(Explain|Stuck|Check)?MoreChangesNothing)$$' -rapid.checks=5000

.PHONY: argo
argo: controlplane ## Argo CD's own controller deletes Applications; the first build of it takes minutes
	cd $(CONTROLPLANE) && $(GO) vet -tags argo ./argo && $(GO) test -tags argo -count=1 -timeout $(TIMEOUT) ./argo

.PHONY: unit
unit: ## tests of PKG, no race detector, no control plane
	GOGC=$(ROOMY) $(GO) test -ldflags='-s -w' $(PKG)

.PHONY: lint
lint: ## golangci-lint as .golangci.yml says
	$(call tool,golangci-lint) run $(ALL)
	cd examples/envtest && $(call tool,golangci-lint) run ./...

.PHONY: vuln
vuln: ## known vulnerabilities that the program can reach; fails where they cannot be looked up
	$(call tool,govulncheck) $(ALL)

.PHONY: licences
licences: ## THIRD_PARTY_NOTICES from what is linked into the program
	cd hack/licences && $(GO) run .

.PHONY: chart
chart: ## the chart installs what kustomize installs
	@# the cache of tests does not see files outside of their module
	cd test/release/chart && $(GO) vet ./... && $(GO) test -count=1 ./...

.PHONY: golden
golden: ## rewrite scenario files and goldens; the diff is the review
	@for d in $$(git grep -l --untracked 'cockroachdb/datadriven' -- '*_test.go' | xargs -r -n1 dirname | sort -u); do \
	  $(GO) test "./$$d" -rewrite; done
	@for d in $$(git grep -lE --untracked 'flag\.Bool\("update"' -- '*_test.go' | xargs -r -n1 dirname | sort -u); do \
	  $(GO) test "./$$d" -update; done
	git diff --stat -- '*testdata*' '*.md' docs/shots

.PHONY: fuzz
fuzz: ## every fuzz target for T each
	@git grep -hoE --untracked '^func Fuzz[A-Za-z0-9_]+' -- '*_test.go' >/dev/null || { echo 'no fuzz target'; exit 1; }
	@git grep -oE --untracked '^func Fuzz[A-Za-z0-9_]+' -- '*_test.go' | sed -E 's/:func /:/' | \
	while IFS=: read -r file name; do \
	  $(GO) test "./$$(dirname "$$file")" -run '^$$' -fuzz "^$$name\$$" -fuzztime $(T); done

.PHONY: bombs
bombs: ## every input that is made to exhaust memory, at its full size (20 minutes); `make test-cluster` has a part
	KUBECTL_GC_TEST=all $(GO) test -count=1 -timeout 60m -v ./test/bombs

.PHONY: bench
bench: ## benchmarks of PKG; with BASE=old.txt compared to it
	mkdir -p bin
	$(GO) test -run '^$$' -bench . -benchmem -count $(COUNT) $(PKG) | tee bin/bench.txt
	@if [ -n '$(BASE)' ]; then $(call tool,benchstat) '$(BASE)' bin/bench.txt; fi

.PHONY: mutate
mutate: ## break one rule at a time; fails if no test notices; ONLY=S104 for a part
	nice $(GO) run ./hack/mutate -list hack/mutate/list.txt $(ONLY)

.PHONY: mutate-all
mutate-all: ## change PKG in small ways; list the changes that no test notices
	$(GO) run ./hack/mutate -max $(MAX) $(PKG)

.PHONY: web
web: ## rebuild the script of the HTML page, after a change of its sources
	cd internal/draw/web && npm ci && npm run check && npm run build

.PHONY: browser
browser: ## the tests of the HTML page, in Chromium
	$(GO) test -count=1 -timeout 30m ./test/browser ./test/bundle

.PHONY: screenshots
screenshots: build ## write docs/pictures/*.png anew
	cd test/browser && npm ci && node screenshots.mjs

.PHONY: docs
docs: ## regenerate what is generated
	$(GO) run ./hack/semantics
	$(GO) run ./hack/reference
	$(GO) run ./hack/inventory

# With nothing given: from the version that is reproduced to the latest one.
FROM ?=
TO   ?= latest
# -names leaves the differences out.
UPSTREAM ?=

.PHONY: upstream
upstream: ## what Kubernetes has changed, FROM a version TO another one, in the functions that are reproduced here
	@$(GO) run ./hack/upstream -from '$(FROM)' -to '$(TO)' $(UPSTREAM)

.PHONY: verify
verify: ## generated files are up to date, formatting and go.mod are clean, licences allowed
	$(GO) run ./hack/semantics -check
	$(GO) run ./hack/reference -check
	$(GO) run ./hack/inventory -check
	@out=$$(gofmt -l $$(git ls-files --cached --others --exclude-standard '*.go')); \
	  [ -z "$$out" ] || { echo "gofmt needed:"; echo "$$out"; exit 1; }
	$(GO) mod verify >/dev/null
	$(GO) mod tidy -diff
	mkdir -p bin && cp cmd/kubectl-gc/go.mod bin/program.mod && cp cmd/kubectl-gc/go.sum bin/program.sum
	$(GO) mod edit -replace=$(MODULE)=$(CURDIR) bin/program.mod
	cd cmd/kubectl-gc && GOWORK=off $(GO) mod tidy -diff -modfile=$(CURDIR)/bin/program.mod
	cd hack/licences && $(GO) mod tidy -diff && $(GO) test -count=1 ./... && $(GO) run . -check
	cd examples/envtest && $(GO) mod tidy -diff
	cd examples/kwok && $(GO) mod tidy -diff
	$(MAKE) --no-print-directory chart
	@echo 'verify: everything is up to date'

include hack/controlplane.mk

include hack/release.mk
