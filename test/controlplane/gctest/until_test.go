package gctest

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/kubectl-gc/kubectl-gc/gctest"
	"github.com/kubectl-gc/kubectl-gc/test/controlplane/cluster"
)

func until(t testing.TB, what string, holds func() bool) {
	t.Helper()
	cluster.Until(t, what, holds)
}

// unsettled makes sure that something does not come to its end, and that the error of a
// deadline has these parts: the first deadlines may be too early for that.
func unsettled(t *testing.T, gc *gctest.GC, parts ...string) {
	t.Helper()
	var err error
	defer func() {
		if t.Failed() {
			t.Logf("the last error: %v", err)
		}
	}()
	late := time.Second / 2
	until(t, fmt.Sprintf("an error has %q", parts), func() bool {
		late *= 2
		ctx, cancel := context.WithTimeout(t.Context(), late)
		defer cancel()
		if err = gc.WaitSettled(ctx); err == nil {
			t.Fatal("it is settled")
		}
		return !slices.ContainsFunc(parts, func(part string) bool { return !strings.Contains(err.Error(), part) })
	})
}
