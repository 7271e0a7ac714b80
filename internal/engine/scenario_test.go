package engine_test

import (
	"testing"

	"github.com/cockroachdb/datadriven"

	"github.com/kubectl-gc/kubectl-gc/test/scenario"
)

// TestScenarios runs the scenarios in testdata/scenarios against a simulated server. -rewrite
// records the actual results instead.
func TestScenarios(t *testing.T) {
	datadriven.Walk(t, "testdata/scenarios", func(t *testing.T, path string) {
		e := scenario.New()
		scenario.Collect(e)
		datadriven.RunTest(t, path, e.Run)
	})
}
