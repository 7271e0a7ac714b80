package cli_test

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"k8s.io/cli-runtime/pkg/genericiooptions"

	"github.com/kubectl-gc/kubectl-gc/internal/cli"
	"github.com/kubectl-gc/kubectl-gc/internal/report"
)

// clusters are dumps of real clusters outside of the repository, with their stuck objects as judged
// by hand.
var clusters = map[string][]string{
	"cluster-info-aks-2020":                     nil,
	"cluster-info-legacy-flattened-2019":        nil,
	"sonobuoy-v1.10-snaps-kubernetes":           nil,
	"sonobuoy-v1.13-cloud66-maestro":            nil,
	"sonobuoy-v1.14-hpe":                        nil,
	"sonobuoy-v1.15-rancher":                    nil,
	"sonobuoy-v1.16-platform9":                  nil,
	"sonobuoy-v1.24-OneKE":                      {"EndNotSeen namespace/services-8208"},
	"sonobuoy-v1.25-triliovault-for-kubernetes": {"EndNotSeen namespace/pods-5837"},
	"sonobuoy-v1.26-replicated":                 {"EndNotSeen namespace/disruption-1993", "UnderWay pod/rs-tn57t"},
	"sonobuoy-v1.27-civo":                       nil,
	"support-bundle-longhorn":                   nil,
}

// TestStuckInClusters reads these dumps if they are available, and the committed example always.
func TestStuckInClusters(t *testing.T) {
	got := stuckIn(t, "../../examples/payments-stuck.yaml")
	want := []string{
		"FinalizerControllerUnknown database.example.com/orders", "FinalizerControllerUnknown database.example.com/orders",
		"FinalizerControllerUnknown configmap/orders-archive",
	}
	if !slices.Equal(got, want) {
		t.Errorf("the example: %q", got)
	}
	const folder = "../../../shared/data/clusters"
	if _, err := os.Stat(folder); err != nil {
		t.Logf("no dumps of real clusters here: %v", err)
		return
	}
	for name, want := range clusters {
		if got := stuckIn(t, filepath.Join(folder, name+".tar.gz")); !slices.Equal(got, want) {
			t.Errorf("%s: %q, want %q", name, got, want)
		}
	}
}

// stuckIn returns code and object of each finding.
func stuckIn(t *testing.T, dump string) []string {
	t.Helper()
	var out, errs bytes.Buffer
	streams := genericiooptions.IOStreams{In: &bytes.Buffer{}, Out: &out, ErrOut: &errs}
	if code := cli.Main(t.Context(), []string{"kubectl-gc", "stuck", "-o", "json", "--from", dump}, streams); code != 0 && code != 3 {
		t.Fatalf("%s: exit code %d: %s", dump, code, errs.String())
	}
	var d report.Diagnosis
	if err := json.Unmarshal(out.Bytes(), &d); err != nil {
		t.Fatal(err)
	}
	var list []string
	for i := range d.Findings {
		f := &d.Findings[i]
		if f.Verdict == report.FinalizerControllerGone {
			t.Errorf("%s: gone: %+v", dump, f)
		}
		list = append(list, f.Code+" "+f.Object.KubectlName())
	}
	return list
}
