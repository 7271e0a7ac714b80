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

bin/controlplane: $(wildcard test/controlplane/*.go) test/controlplane/go.mod test/controlplane/go.sum
	mkdir -p bin
	cd $(CONTROLPLANE) && $(GO) build -ldflags '-s -w' -o $(CURDIR)/$@ .

.PHONY: controlplane
controlplane: bin/controlplane ## etcd, kube-apiserver, kube-controller-manager and kubectl in one binary

.PHONY: kube-up
kube-up: bin/controlplane ## start a control plane for a person; it ends with Ctrl-C
	@bin/controlplane up

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

.PHONY: hazards
hazards: bin/controlplane ## lose objects of living owners to the collector of Kubernetes, and not to ours
	cd $(CONTROLPLANE) && $(GO) test -count=1 -v ./hazards
	cd $(CONTROLPLANE) && $(GO) test -count=1 -v -run TestHazards ./collecting

.PHONY: replay
replay: bin/controlplane ## put the scenario files of the API server and the controllers to a real control plane
	cd $(CONTROLPLANE) && $(GO) test -count=1 -timeout 1h -v ./replay

OBJECTS ?= 5000
ROUNDS  ?= 3

.PHONY: bench-live
bench-live: bin/controlplane ## what our collector costs, beside the one of Kubernetes, on a real control plane
	cd $(CONTROLPLANE) && $(GO) test -count=1 -timeout 2h -v -run 'TestRequests|TestNothingToDo' -bench . -benchtime 1x ./collecting \
	  -args -objects $(OBJECTS) -rounds $(ROUNDS) -resident 100000 -quiet 70s

# A busier cluster: -chatter 30
LOST ?=

.PHONY: bench-lost
bench-lost: bin/controlplane ## what `lost` costs after 5,000 of 100,000 objects went, on a real control plane
	cd $(CONTROLPLANE) && $(GO) test -count=1 -timeout 2h -v -run '^$$' -bench Lost -benchtime 1x ./lost -args $(LOST)

.PHONY: examples
examples: bin/controlplane ## write examples/ anew, from a real control plane
	cd $(CONTROLPLANE) && $(GO) run ./examples -to $(CURDIR)/examples
