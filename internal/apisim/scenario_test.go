package apisim_test

import (
	"testing"

	"github.com/cockroachdb/datadriven"

	"github.com/kubectl-gc/kubectl-gc/test/scenario"
)

// TestScenarios runs the scenarios of the server without a collector: each change results from the
// request above it.
func TestScenarios(t *testing.T) {
	datadriven.Walk(t, "testdata/scenarios", func(t *testing.T, path string) {
		env := scenario.New()
		datadriven.RunTest(t, path, env.Run)
	})
}
