# The controller as an image: one static binary that is not root, and nothing else.
# It is built on the machine's own platform for the one that is asked for. The bases
# are named by digest; the tag beside it says what that was.
FROM --platform=$BUILDPLATFORM golang:1.26@sha256:3aff6657219a4d9c14e27fb1d8976c49c29fddb70ba835014f477e1c70636647 AS build
ARG TARGETOS=linux
ARG TARGETARCH
ARG VERSION=
WORKDIR /src
COPY go.mod go.sum go.work go.work.sum ./
COPY cmd/kubectl-gc/go.mod cmd/kubectl-gc/go.sum cmd/kubectl-gc/
RUN go mod download
COPY cmd cmd
COPY internal internal
RUN CGO_ENABLED=0 GOOS=$TARGETOS GOARCH=$TARGETARCH go build -trimpath -buildvcs=false \
    -ldflags "-s -w -X github.com/kubectl-gc/kubectl-gc/internal/cli/command.version=$VERSION" -o /kubectl-gc ./cmd/kubectl-gc

FROM gcr.io/distroless/static-debian12:nonroot@sha256:d093aa3e30dbadd3efe1310db061a14da60299baff8450a17fe0ccc514a16639
ARG VERSION=
LABEL org.opencontainers.image.title="kubectl-gc" \
      org.opencontainers.image.description="Predict and explain what a Kubernetes delete takes along" \
      org.opencontainers.image.source="https://github.com/kubectl-gc/kubectl-gc" \
      org.opencontainers.image.licenses="Apache-2.0" \
      org.opencontainers.image.version="$VERSION"
COPY LICENSE THIRD_PARTY_NOTICES /
COPY --from=build /kubectl-gc /kubectl-gc
USER 65532:65532
ENTRYPOINT ["/kubectl-gc"]
CMD ["controller"]
