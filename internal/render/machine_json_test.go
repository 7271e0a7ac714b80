package render

import (
	"bytes"
	"errors"
	"math"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/cli-runtime/pkg/printers"

	"github.com/kubectl-gc/kubectl-gc/internal/report"
)

// TestJSONIsThatOfKubectl: every document is printed as kubectl's printer prints it, to the byte.
func TestJSONIsThatOfKubectl(t *testing.T) {
	awkward := "<a href=\"x\">&amp;\u2028\u2029\x00\x7f\ufffd" + "é\t\r\n\\/"
	docs := map[string]runtime.Object{
		"empty": &report.Plan{}, "lists": &report.Plan{Effects: []report.Effect{}, Steps: nil, Gaps: []report.Gap{{}}},
		"awkward": &report.Plan{
			Effects:     []report.Effect{{Object: hostileRef("Pod", awkward), Message: awkward, Because: []report.Ref{{}}, BlockedBy: &report.BlockedBy{}, RecreatedBy: &report.Ref{}}},
			Seed:        report.Seed{GracePeriodSeconds: new(int64), Targets: []report.Ref{}},
			Summary:     report.Summary{Deleted: math.MaxInt64, Kept: math.MinInt64},
			Refusals:    []report.Refusal{{}},
			Storage:     []report.Storage{{Claim: &report.Ref{}}},
			Complete:    true,
			Digest:      awkward,
			Rules:       "upstream",
			Stuck:       []report.Stuck{{Because: []report.Ref{}}},
			Explored:    3,
			Source:      report.Source{Files: []string{awkward}},
			Exploration: &report.Exploration{State: report.OneEnd},
		},
		"explanation": &report.Explanation{}, "diagnosis": &report.Diagnosis{}, "graph": &report.Graph{}, "run": &report.Run{},
		"risk": &report.Risk{}, "lost": &report.Lost{}, "undo": &report.Undo{}, "exposure": &report.Exposure{}, "checkup": &report.Checkup{},
	}
	for name, doc := range docs {
		assertJSON(t, name, doc)
	}
}

// assertJSON compares a document with what kubectl's printer makes of it.
func assertJSON(t *testing.T, name string, doc runtime.Object) {
	t.Helper()
	theirs, err := printers.NewTypeSetter(report.Scheme).WrapToPrinter(&printers.JSONPrinter{}, nil)
	if err != nil {
		t.Fatal(err)
	}
	var want bytes.Buffer
	if err := theirs.PrintObj(doc, &want); err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	if got := printWith(t, "json", doc); got != want.String() {
		t.Errorf("%s is printed as\n%s\nand by kubectl as\n%s", name, got, want.String())
	}
}

// TestJSONOfWhatIsNoText: bytes that are no text are replaced, as kubectl's printer does; it writes
// the replacement as an escape.
func TestJSONOfWhatIsNoText(t *testing.T) {
	out := printWith(t, "json", &report.Plan{Digest: "a\xffb"})
	if !strings.Contains(out, "\"a\ufffdb\"") {
		t.Error(out)
	}
}

// failing is a writer that takes no more than some bytes.
type failing struct{ left int }

func (f *failing) Write(p []byte) (int, error) {
	if len(p) > f.left {
		return f.left, errors.New("no space left")
	}
	f.left -= len(p)
	return len(p), nil
}

// TestJSONThatCannotBeWritten: wherever the disk is full, that is an error.
func TestJSONThatCannotBeWritten(t *testing.T) {
	doc := &report.Plan{APIVersion: report.APIVersion, Kind: "Plan", Digest: strings.Repeat("x", 200<<10)}
	var whole bytes.Buffer
	if err := printJSON(doc, &whole); err != nil {
		t.Fatal(err)
	}
	for _, left := range []int{0, 1, 64 << 10, 130 << 10, whole.Len() - 1} {
		if err := printJSON(doc, &failing{left}); err == nil {
			t.Errorf("after %d of %d bytes nobody is told", left, whole.Len())
		}
	}
}
