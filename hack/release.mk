# How a release is made; docs/releasing.md says when. Goreleaser is a module of its
# own, built once into bin/.

# The version that krew.yaml installs; a new one is named once: make krew VERSION=v0.2.0
VERSION ?= $(shell sed -n 's/^  version: //p' krew.yaml)

# Every file of an archive bears the day of the version in CHANGELOG.md. A release sets
# PUBLISH_TOKEN; a snapshot publishes nothing.
GORELEASER = released=$$($(GO) run ./hack/release date $(VERSION)) && \
  env $$released VERSION=$(VERSION) GORELEASER_CURRENT_TAG=$(VERSION) PUBLISH_TOKEN="$${PUBLISH_TOKEN-}" bin/goreleaser

bin/goreleaser: tools/release/go.mod tools/release/go.sum
	mkdir -p bin
	cd tools/release && nice $(GO) build -trimpath -ldflags '-s -w' -o $(CURDIR)/$@ github.com/goreleaser/goreleaser/v2

.PHONY: release-check
release-check: bin/goreleaser ## .goreleaser.yaml is what goreleaser understands
	$(GORELEASER) check

.PHONY: release-snapshot
release-snapshot: bin/goreleaser ## all archives of VERSION into dist/, unsigned
	$(GORELEASER) release --snapshot --clean --skip=sign,publish

# What the workflow does for a tag; not for a person's machine.
.PHONY: release
release: bin/goreleaser
	$(GORELEASER) release --clean

.PHONY: source-date
source-date:
	@released=$$($(GO) run ./hack/release date $(VERSION)) && env $$released bash -c 'echo "epoch=$$SOURCE_DATE_EPOCH"'

.PHONY: release-verify
release-verify: ## judge the archives in dist/, and run the one of this machine
	$(GO) run ./hack/release verify dist

.PHONY: krew
krew: ## fill krew.yaml from the archives in dist/
	$(GO) run ./hack/release krew $(VERSION) dist

.PHONY: krew-check
krew-check: ## krew.yaml is of the archives in dist/
	$(GO) run ./hack/release krew-check $(VERSION) dist

.PHONY: reproducible
reproducible: bin/goreleaser ## build HEAD twice, in two directories, and compare
	hack/reproducible $(VERSION)
