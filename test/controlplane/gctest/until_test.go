package gctest

import (
	"testing"

	"github.com/kubectl-gc/kubectl-gc/test/controlplane/cluster"
)

func until(t testing.TB, what string, holds func() bool) {
	t.Helper()
	cluster.Until(t, what, holds)
}
