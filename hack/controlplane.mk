# The truth: a real control plane, and what is compared with it. It has a module of
# its own, so that the program is not built from it. Building it for the first time
# takes minutes; go's build cache and the sums of its modules decide what is built
# again.

N    ?= 300
SEED ?= 1
# Worlds with namespaces and definitions, of which 40 take a minute and a half.
CONTAINERS ?= 40
# More for the comparison: -cells BCD -batch 100 -shrink 5
DIFFERENTIAL ?=

CONTROLPLANE := $(CURDIR)/test/controlplane

# What the module file $(1) makes of the control plane: the API server and kubectl say the
# version of the module that they come from, which they do not know by themselves.
kubernetes = $(shell awk '$$1 == "k8s.io/kubernetes" { print $$2 }' $(CONTROLPLANE)/$(1))
VERSION_OF := k8s.io/component-base/version
define plane
mkdir -p bin
cd $(CONTROLPLANE) && GOWORK=off $(GO) build -modfile=$(1) -o $(CURDIR)/$@ -ldflags '-s -w -X $(VERSION_OF).gitVersion=$(kubernetes) \
  -X $(VERSION_OF).gitMajor=1 -X $(VERSION_OF).gitMinor=$(word 2,$(subst ., ,$(kubernetes)))' .
endef

PLANE := $(wildcard test/controlplane/*.go) hack/controlplane.mk

bin/controlplane: $(PLANE) test/controlplane/go.mod test/controlplane/go.sum
	$(call plane,go.mod)

# Older releases, each from a module file of its own: bin/controlplane-v1.31.
bin/controlplane-v%: $(PLANE) test/controlplane/releases/v%.mod test/controlplane/releases/v%.sum
	$(call plane,releases/v$*.mod)

.PHONY: older-release
older-release: ## write the module file that the control plane of V is built from, such as V=v1.31.0
	cd $(CONTROLPLANE) && $(GO) run ./releases $(V)

.PHONY: controlplane
controlplane: bin/controlplane ## etcd, kube-apiserver, kube-controller-manager and kubectl in one binary

.PHONY: envtest
envtest: bin/controlplane ## bin/envtest, where envtest finds etcd and kube-apiserver: export KUBEBUILDER_ASSETS
	mkdir -p bin/envtest
	for program in etcd kube-apiserver kubectl; do ln -sf ../controlplane bin/envtest/$$program; done

.PHONY: kube-up
kube-up: bin/controlplane ## start a control plane for a person; it ends with Ctrl-C
	@bin/controlplane up

# All releases that gctest works with: AUTHOR=
AUTHOR ?= v0.21.0 v0.25.2

.PHONY: author
author: envtest ## the tests of an operator's author, with these releases of controller-runtime and the k8s.io of each
	test/author/run $(AUTHOR)

.PHONY: differential
differential: bin/controlplane ## compare N random worlds from SEED, and CONTAINERS with namespaces, with a real control plane
	cd $(CONTROLPLANE) && $(GO) test ./cluster
	cd $(CONTROLPLANE) && $(GO) test -count=1 -timeout 4h -v ./differential -args -worlds $(N) -seed $(SEED) \
	  -containers $(CONTAINERS) -containers-phases 3 $(DIFFERENTIAL)

# More for the oracle: -strict -say -shrink 5 -batch 30 -workers 10
RUNS   ?= 2000
ORACLE ?=

.PHONY: oracle
oracle: bin/controlplane ## RUNS random runs from SEED, judged by what the API server has written down
	cd $(CONTROLPLANE) && $(GO) test -count=1 -timeout 4h -v ./oracle -args -runs $(RUNS) -seed $(SEED) $(ORACLE)

.PHONY: falseabsence
falseabsence: bin/controlplane ## lose objects of living owners to the collector of Kubernetes, and not to ours
	cd $(CONTROLPLANE) && $(GO) test -count=1 -v ./falseabsence
	cd $(CONTROLPLANE) && $(GO) test -count=1 -v -run TestHazards ./collecting

.PHONY: replay
replay: bin/controlplane ## put the scenario files of the API server and the controllers to a real control plane
	cd $(CONTROLPLANE) && $(GO) test -count=1 -timeout 1h -v ./replay

# The releases beside the newest, which NEWEST= leaves out.
RELEASES ?= $(basename $(notdir $(wildcard test/controlplane/releases/*.mod)))
NEWEST   ?= bin/controlplane
MATRIX   := $(RELEASES:%=bin/controlplane-%) $(NEWEST)

# One is built after the other, whatever -j says: each takes the whole machine.
.PHONY: matrix
matrix: N := $(if $(filter file,$(origin N)),1000,$(N))
matrix: ## build RELEASES, compare N random worlds and the scenario files with each, and write down what was seen
	for plane in $(MATRIX); do $(MAKE) --no-print-directory $$plane; done
	cd $(CONTROLPLANE) && $(GO) run ./matrix -worlds $(N) -seed $(SEED) -containers $(CONTAINERS) -differential '$(DIFFERENTIAL)' \
	  -table $(CURDIR)/internal/release/measured.tsv $(MATRIX:%=$(CURDIR)/%)
	$(MAKE) --no-print-directory docs

OBJECTS ?= 5000
ROUNDS  ?= 3

.PHONY: bench-live
bench-live: bench-reads ## what our collector costs, beside the one of Kubernetes, on a real control plane, and reading a cluster
	cd $(CONTROLPLANE) && $(GO) test -count=1 -timeout 2h -v -run 'TestRequests|TestNothingToDo' -bench . -benchtime 1x ./collecting \
	  -args -objects $(OBJECTS) -rounds $(ROUNDS) -resident 100000 -quiet 70s

# Another cluster, or a part of the table: -objects 20000 -rounds 9 -only check
READS ?=

.PHONY: bench-reads
bench-reads: bin/controlplane ## the reading alone: 100,000 objects, beside bare fetches, and what of other programs is on the PATH
	cd $(CONTROLPLANE) && $(GO) test -count=1 -timeout 2h -v -run '^$$' -bench Live -benchtime 1x ./reading -args $(READS)

.PHONY: bench-gctest
bench-gctest: bin/controlplane ## what the garbage collector for tests takes, beside kube-controller-manager
	cd $(CONTROLPLANE) && $(GO) test -count=1 -run '^$$' -bench . -benchtime 10x ./gctest

# A busier cluster: -chatter 30
LOST ?=

.PHONY: bench-lost
bench-lost: bin/controlplane ## what `lost` costs after 5,000 of 100,000 objects went, on a real control plane
	cd $(CONTROLPLANE) && $(GO) test -count=1 -timeout 2h -v -run '^$$' -bench Lost -benchtime 1x ./lost -args $(LOST)

.PHONY: examples
examples: bin/controlplane ## write examples/ anew, from a real control plane
	cd $(CONTROLPLANE) && $(GO) run ./examples -to $(CURDIR)/examples
