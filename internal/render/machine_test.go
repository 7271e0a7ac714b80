package render

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/yaml"

	"github.com/kubectl-gc/kubectl-gc/internal/object"
	"github.com/kubectl-gc/kubectl-gc/internal/report"
)

func TestMachinePrinterKnowsItsFormats(t *testing.T) {
	for format, want := range map[string]bool{
		"json": true, "yaml": true, "kyaml": true, "name": true,
		"jsonpath={.kind}": true, "jsonpath-as-json={.kind}": true,
		"go-template={{.kind}}": true, "template={{.kind}}": true, "custom-columns=K:.kind": false,
		"": false, "wide": false, "table": false, "tree": false, "dot": false, "names": false, "custom-columnsx": false, "jsonpathx": false,
	} {
		p, got, err := MachinePrinter(format, true)
		if err != nil || got != want || (p != nil) != want {
			t.Errorf("%q: %v, %v, %v; want %v", format, p, got, err, want)
		}
	}
	for _, format := range []string{"jsonpath", "jsonpath={", "go-template={{", "jsonpath-file=/does/not/exist"} {
		if _, ok, err := MachinePrinter(format, true); err == nil || !ok || !strings.Contains(err.Error(), "output format") {
			t.Errorf("%q: %v, %v; want an error that names the format", format, ok, err)
		}
	}
}

func printWith(t *testing.T, format string, doc runtime.Object) string {
	t.Helper()
	p, ok, err := MachinePrinter(format, true)
	if err != nil || !ok {
		t.Fatalf("%q: %v, %v", format, ok, err)
	}
	var b bytes.Buffer
	if err := p.PrintObj(doc, &b); err != nil {
		t.Fatalf("%q: %v", format, err)
	}
	return b.String()
}

// TestMachineOutputIsWhole: parsing the output gives the original document, however hostile, and a
// second run gives the same bytes.
func TestMachineOutputIsWhole(t *testing.T) {
	for _, name := range []string{"web", "a\nb\u202e\x1b", "\x7f\u0080\u0085\u009f\ufeff\ufffe\uffff\U0001fffe", strings.Repeat("long-", 100)} {
		doc := &report.Plan{
			Header:  report.HeaderOf("Plan"),
			Effects: []report.Effect{{Object: hostileRef("Pod", name), Outcome: report.Deleted}},
			Steps:   []report.Step{{N: 1, Object: hostileRef("Pod", name)}},
		}
		for format, read := range map[string]func(string, any) error{
			"json":  func(s string, v any) error { return json.Unmarshal([]byte(s), v) },
			"yaml":  func(s string, v any) error { return yaml.UnmarshalStrict([]byte(s), v) },
			"kyaml": func(s string, v any) error { return yaml.UnmarshalStrict([]byte(s), v) },
		} {
			text := printWith(t, format, doc)
			if again := printWith(t, format, doc); again != text {
				t.Errorf("%s: two runs differ", format)
			}
			var back report.Plan
			if err := read(text, &back); err != nil {
				t.Fatalf("%s of %q: %v", format, name, err)
			}
			if diff := cmp.Diff(doc, &back); diff != "" {
				t.Errorf("%s of %q (-want +got):\n%s", format, name, diff)
			}
		}
	}
}

// TestMachinePrinterNeedsNoTypeFields: a document without apiVersion and kind gets them from the
// scheme while it is printed.
func TestMachinePrinterNeedsNoTypeFields(t *testing.T) {
	doc := &report.Graph{}
	if got := printWith(t, "jsonpath={.apiVersion} {.kind}", doc); got != "kubectl-gc.io/v1alpha1 Graph" {
		t.Errorf("got %q", got)
	}
	if doc.Kind != "" {
		t.Errorf("printing left kind %q behind", doc.Kind)
	}
}

func TestNamesAreOnePerLineAndOnce(t *testing.T) {
	r := object.Ref{APIVersion: "v1", Kind: "Pod", Name: "a\nnode/b", UID: "u"}
	doc := &report.Diagnosis{Findings: []report.Finding{{Object: r}, {Object: r}}}
	if got, want := printWith(t, "name", doc), "pod/a\\x0anode/b\n"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestNamesOfAForeignDocument(t *testing.T) {
	list := &report.Backups{Backups: []report.Backup{{Name: "20260501T120000Z-0a1b2c3d"}, {Name: "a\nb"}}}
	if got, want := printWith(t, "name", list), "20260501T120000Z-0a1b2c3d\na\\x0ab\n"; got != want {
		t.Errorf("backups: %q, want %q", got, want)
	}
	if err := printNames(&runtime.Unknown{}, &bytes.Buffer{}); err == nil {
		t.Error("no error")
	}
}
