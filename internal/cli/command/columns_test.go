package command

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/kubectl/pkg/cmd/get"
	"pgregory.net/rapid"

	"github.com/kubectl-gc/kubectl-gc/internal/object"
	"github.com/kubectl-gc/kubectl-gc/internal/report"
)

// TestColumnsAreThoseOfKubectl: the output and the errors equal those of kubectl's own printer.
func TestColumnsAreThoseOfKubectl(t *testing.T) {
	dir := t.TempDir()
	file := func(name, text string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return "custom-columns-file=" + path
	}
	one := map[string]any{
		"kind": "Plan", "n": int64(3), "yes": true, "none": nil, "list": []any{"x", "y"}, "inner": map[string]any{"a": "b", "c": int64(1)},
		"rows": []any{map[string]any{"name": "web", "n": int64(1)}, map[string]any{"name": "db"}},
	}
	for name, document := range map[string]map[string]any{"one": one, "empty": {}} {
		for _, format := range []string{
			"custom-columns", "custom-columns=", "custom-columns=A", "custom-columns=A:", "custom-columns=A:{", "custom-columns=A:{.x}y", "custom-columns=A:.kind",
			"custom-columns=A:kind,B:{n},C:{.yes}", "custom-columns=A:.nothing,B:.none", "custom-columns=A:.list,B:.list[*],C:.list[1],D:.list[9]",
			"custom-columns=A:.inner,B:.inner.a", "custom-columns=A:.rows[*].name,B:.rows[*].n", "custom-columns=A:.rows[?(@.n==1)].name", "custom-columns=A:.rows[", "custom-columns=:.kind",
			file("good", "A   B\n.kind {.n}\nmore\n"), file("short", "A B\n.kind\n"), file("bad", "A\n{\n"), file("line", "A"), "custom-columns-file=" + dir + "/missing", "custom-columnsx=A:.kind",
		} {
			for _, noHeaders := range []bool{false, true} {
				if noHeaders && strings.HasPrefix(format, "custom-columns-") {
					continue // kubectl forgets the flag there
				}
				var got, want bytes.Buffer
				object := &unstructured.Unstructured{Object: document}
				k, known, err := columnsOf(format, noHeaders)
				if err == nil && known {
					err = k.PrintObj(object, &got)
				}
				flags := get.NewCustomColumnsPrintFlags()
				flags.NoHeaders = noHeaders
				theirs, wantErr := flags.ToPrinter(format)
				if wantErr == nil {
					wantErr = theirs.PrintObj(object, &want)
				}
				if (err != nil || !known) != (wantErr != nil) {
					t.Errorf("%s of %s: %v, kubectl: %v", format, name, err, wantErr)
				}
				if wantErr == nil && got.String() != want.String() {
					t.Errorf("%s of %s: %q, kubectl: %q", format, name, got.String(), want.String())
				}
			}
		}
	}
}

// TestColumnsOfHostileNames: a name stays in its cell, and does not control the terminal.
func TestColumnsOfHostileNames(t *testing.T) {
	k, _, err := columnsOf("custom-columns=A:.name,B:.list", false)
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	hostile := &unstructured.Unstructured{Object: map[string]any{"name": "\u202etxt.exe\n\tx", "list": []any{"red \x1b[31mtext\x1b[0m"}}}
	if err := k.PrintObj(hostile, &out); err != nil {
		t.Fatal(err)
	}
	const want = "A                        B\n" + `\u202etxt.exe\x0a\x09x   [red \x1b[31mtext\x1b[0m]` + "\n"
	if out.String() != want {
		t.Errorf("%q, want %q", out.String(), want)
	}
}

// TestColumnsOfFindings: a diagnosis has a row for each finding, with its fields and the metadata
// of its object.
func TestColumnsOfFindings(t *testing.T) {
	k, _, err := columnsOf("custom-columns=NS:.metadata.namespace,NAME:.metadata.name,KIND:.kind,CODE:.code,OBJECT:.object.name", false)
	if err != nil {
		t.Fatal(err)
	}
	d := &report.Diagnosis{Header: report.Header{Kind: "Diagnosis"}, Findings: []report.Finding{
		{Code: "UnderWay", Object: object.Ref{APIVersion: "v1", Kind: "Pod", Namespace: "shop", Name: "web"}},
		{Code: "SelfBlock", Object: object.Ref{APIVersion: "v1", Kind: "Namespace", Name: "shop"}},
	}}
	var out bytes.Buffer
	if err := k.PrintObj(d, &out); err != nil {
		t.Fatal(err)
	}
	const want = "NS       NAME   KIND        CODE        OBJECT\n" +
		"shop     web    Pod         UnderWay    web\n" +
		"<none>   shop   Namespace   SelfBlock   shop\n"
	if out.String() != want {
		t.Errorf("%s\nwant\n%s", out.String(), want)
	}
	out.Reset()
	if err := k.PrintObj(&report.Diagnosis{Header: report.Header{Kind: "Diagnosis"}, Findings: []report.Finding{}}, &out); err != nil || strings.Count(out.String(), "\n") != 1 {
		t.Errorf("without findings: %q, %v", out.String(), err)
	}
}

// item is a row of a test.
type item struct {
	Name   string   `json:"name,omitempty"`
	Count  int      `json:"count"`
	Inner  *item    `json:"inner,omitempty"`
	Gone   bool     `json:"gone"`
	Things []string `json:"things"`
	place  int
}

func TestSortRows(t *testing.T) {
	rows := []item{{Name: "b", Count: 10}, {Name: "a", Count: 9, Gone: true}, {Count: 9, Inner: &item{Name: "x"}}}
	for field, want := range map[string]string{
		".name": " a b", "{.name}": " a b", "name": " a b", ".count": "a  b", ".inner.name": "b a ", ".gone": "b  a",
	} {
		sorted := slices.Clone(rows)
		if err := sortRows(sorted, field); err != nil {
			t.Fatalf("%s: %v", field, err)
		}
		var names []string
		for _, r := range sorted {
			names = append(names, r.Name)
		}
		if got := strings.Join(names, " "); got != want {
			t.Errorf("%s: %q, want %q", field, got, want)
		}
	}
	for field, want := range map[string]string{
		".nothing": "no row has such a field", ".things": "no row has such a field", ".inner": "it is a list or an object", "{.name": "unexpected path", "a b": "unrecognized identifier", "{.a[}": "unterminated array",
	} {
		if err := sortRows(slices.Clone(rows), field); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", field, err, want)
		}
	}
	if err := sortRows([]item{}, ".nothing"); err != nil {
		t.Errorf("no rows: %v", err)
	}
}

// TestSortRowsKeepsAll: sorting changes only the order, and is stable.
func TestSortRowsKeepsAll(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		counts := rapid.SliceOfN(rapid.IntRange(-3, 3), 1, 20).Draw(t, "counts")
		rows := make([]item, len(counts))
		for i, n := range counts {
			rows[i] = item{Count: n, place: i}
		}
		if err := sortRows(rows, ".count"); err != nil {
			t.Fatal(err)
		}
		seen := map[int]bool{}
		for i, r := range rows {
			seen[r.place] = true
			if counts[r.place] != r.Count {
				t.Fatalf("row %d was changed", r.place)
			}
			if i > 0 && (rows[i-1].Count > r.Count || rows[i-1].Count == r.Count && rows[i-1].place > r.place) {
				t.Fatalf("%v is not sorted", rows)
			}
		}
		if len(seen) != len(counts) {
			t.Fatalf("%d of %d rows are left", len(seen), len(counts))
		}
	})
}
