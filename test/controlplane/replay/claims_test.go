package replay

import (
	"path/filepath"
	"testing"

	"github.com/kubectl-gc/kubectl-gc/test/controlplane/claims"
	"github.com/kubectl-gc/kubectl-gc/test/controlplane/differential"
)

// What real.txt says of package differential is what its test of the scenario
// files runs to the end.
func TestClaimsOfDifferential(t *testing.T) {
	files, err := filepath.Glob(repository + "/internal/engine/testdata/scenarios/*.txt")
	if err != nil || len(files) == 0 {
		t.Fatalf("%d files: %v", len(files), err)
	}
	var shown []string
	for _, file := range files {
		ok, err := differential.Whole(file)
		if err != nil {
			t.Fatal(err)
		}
		if !ok {
			continue
		}
		lines, err := claims.Claims("differential", file)
		if err != nil {
			t.Fatal(err)
		}
		shown = append(shown, lines...)
	}
	wrong, err := claims.Disagreement("differential", shown)
	if err != nil {
		t.Fatal(err)
	}
	if wrong != "" {
		t.Errorf("%s claims too much (-) or too little (+):\n%s", claims.File, wrong)
	}
}
