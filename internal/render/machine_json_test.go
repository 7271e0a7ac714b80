package render

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"math"
	"reflect"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/cli-runtime/pkg/printers"

	"github.com/kubectl-gc/kubectl-gc/internal/object"
	"github.com/kubectl-gc/kubectl-gc/internal/report"
)

// TestJSONIsThatOfKubectl: every document is printed as by kubectl's printer, to the byte except
// for white space.
func TestJSONIsThatOfKubectl(t *testing.T) {
	awkward := "<a href=\"x\">&amp;\u2028\u2029\x00\x7f\ufffd" + "é\t\r\n\\/"
	docs := map[string]runtime.Object{
		"empty": &report.Plan{}, "lists": &report.Plan{Effects: []report.Effect{}, Steps: []report.Step{}, Gaps: []report.Gap{{}}},
		"awkward": &report.Plan{
			Effects:     []report.Effect{{Object: hostileRef("Pod", awkward), Message: awkward, Because: []object.Ref{{}}, BlockedBy: &report.BlockedBy{}, RecreatedBy: &object.Ref{}}},
			Seed:        report.Seed{GracePeriodSeconds: new(int64), Targets: []object.Ref{}},
			Summary:     report.Summary{Deleted: math.MaxInt64, Kept: math.MinInt64},
			Refusals:    []report.Refusal{{}},
			Storage:     []report.Storage{{Claim: &object.Ref{}}},
			Complete:    true,
			Digest:      awkward,
			Rules:       "upstream",
			Stuck:       []report.Stuck{{Because: []object.Ref{}}},
			Explored:    3,
			Source:      report.Source{Files: []string{awkward}},
			Exploration: &report.Exploration{State: report.OneEnd},
		},
		"steps":       &report.Plan{Steps: []report.Step{{N: 1, Object: hostileRef("Pod", "a")}, {N: 2}}},
		"explanation": &report.Explanation{}, "diagnosis": &report.Diagnosis{}, "graph": &report.Graph{}, "run": &report.Run{},
		"roles": roles(), "risk": &report.Risk{}, "lost": &report.Lost{}, "undo": &report.Undo{}, "checkup": &report.Checkup{},
	}
	for name, doc := range docs {
		assertJSON(t, name, doc)
	}
}

// roles returns a document of a foreign kind.
func roles() runtime.Object {
	role := &metav1.PartialObjectMetadata{TypeMeta: metav1.TypeMeta{Kind: "Role", APIVersion: "v1"}, ObjectMeta: metav1.ObjectMeta{Name: "a"}}
	return &metav1.List{TypeMeta: metav1.TypeMeta{Kind: "List", APIVersion: "v1"}, Items: []runtime.RawExtension{{Object: role}}}
}

// assertJSON compares the output for a document with that of kubectl's printer.
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
	if got := printWith(t, "json", doc); compact(t, got) != compact(t, want.String()) {
		t.Errorf("%s is printed as\n%s\nand by kubectl as\n%s", name, got, want.String())
	}
	var whole map[string]any
	if err := json.Unmarshal(want.Bytes(), &whole); err != nil {
		t.Fatal(err)
	}
	for field, v := range whole {
		if v == nil {
			whole[field] = []any{} // no list of a finished document is null
		}
	}
	if diff := cmp.Diff(whole, gathered(t, printWith(t, "jsonl", doc))); diff != "" {
		t.Errorf("%s in lines is another document (-want +got):\n%s", name, diff)
	}
}

// compact returns JSON without white space.
func compact(t *testing.T, text string) string {
	t.Helper()
	var b bytes.Buffer
	if err := json.Compact(&b, []byte(text)); err != nil {
		t.Fatalf("%v: %s", err, text)
	}
	return b.String()
}

// gathered returns the document that the lines describe.
func gathered(t *testing.T, lines string) map[string]any {
	t.Helper()
	document := map[string]any{}
	left := map[string]any{}
	for i, line := range strings.Split(strings.TrimSuffix(lines, "\n"), "\n") {
		var fields map[string]any
		if err := json.Unmarshal([]byte(line), &fields); err != nil {
			t.Fatalf("line %d: %v: %s", i, err, line)
		}
		if i == 0 {
			document = fields
			left, _ = fields["lists"].(map[string]any)
			delete(document, "lists")
			for name := range left {
				document[name] = []any{}
			}
			continue
		}
		name, _ := fields["list"].(string)
		delete(fields, "list")
		left[name] = left[name].(float64) - 1
		document[name] = append(document[name].([]any), fields)
	}
	for name, n := range left {
		if n != 0.0 {
			t.Errorf("of %s %v entries more are announced than there are", name, n)
		}
	}
	return document
}

// TestJSONOfWhatIsNoText: invalid UTF-8 is replaced, as by kubectl's printer, which writes the
// replacement as an escape.
func TestJSONOfWhatIsNoText(t *testing.T) {
	out := printWith(t, "json", &report.Plan{Digest: "a\xffb"})
	if !strings.Contains(out, "\"a\ufffdb\"") {
		t.Error(out)
	}
}

// failing is a writer that fails after some bytes.
type failing struct{ left int }

func (f *failing) Write(p []byte) (int, error) {
	if len(p) > f.left {
		return f.left, errors.New("no space left")
	}
	f.left -= len(p)
	return len(p), nil
}

// TestJSONThatCannotBeWritten: a full disk at any point is an error.
func TestJSONThatCannotBeWritten(t *testing.T) {
	doc := &report.Plan{Header: report.HeaderOf("Plan"), Digest: strings.Repeat("x", 200<<10)}
	for i := range 2000 {
		doc.Effects = append(doc.Effects, report.Effect{Message: strconv.Itoa(i)})
	}
	for _, print := range []func(runtime.Object, io.Writer) error{printJSON, printLines} {
		var whole bytes.Buffer
		if err := print(doc, &whole); err != nil {
			t.Fatal(err)
		}
		for _, left := range []int{0, 1, 64 << 10, 130 << 10, 250 << 10, whole.Len() - 1} {
			if err := print(doc, &failing{left}); err == nil {
				t.Errorf("after %d of %d bytes nobody is told", left, whole.Len())
			}
		}
	}
}

// TestLinesSayWhatTheyAre: no list entry has a field named like the one that names its list, and no
// document has one named like the lengths of its lists.
func TestLinesSayWhatTheyAre(t *testing.T) {
	for kind, of := range report.Scheme.KnownTypes(report.GroupVersion) {
		for field := range of.Fields() {
			if name, _, _ := strings.Cut(field.Tag.Get("json"), ","); name == "lists" {
				t.Errorf("%s has a field %s", kind, name)
			}
			if list := field.Type; list.Kind() == reflect.Slice && list.Elem().Kind() == reflect.Struct {
				for _, entry := range reflect.VisibleFields(list.Elem()) {
					if name, _, _ := strings.Cut(entry.Tag.Get("json"), ","); name == "list" {
						t.Errorf("an entry of %s of a %s has a field %s", field.Name, kind, name)
					}
				}
			}
		}
	}
}
