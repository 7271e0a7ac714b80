# The controller as an image: one static binary that is not root, and nothing else.
# The bases are named by tag. A release pins them by digest.
FROM golang:1.26 AS build
WORKDIR /src
COPY go.mod go.sum ./
RUN go mod download
COPY cmd cmd
COPY internal internal
RUN CGO_ENABLED=0 go build -trimpath -ldflags '-s -w' -o /kubectl-gc ./cmd/kubectl-gc

FROM gcr.io/distroless/static-debian12:nonroot
COPY LICENSE /LICENSE
COPY --from=build /kubectl-gc /kubectl-gc
USER 65532:65532
ENTRYPOINT ["/kubectl-gc"]
CMD ["controller"]
