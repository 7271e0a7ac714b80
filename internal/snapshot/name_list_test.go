package snapshot

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/kubectl-gc/kubectl-gc/internal/object"
)

// TestNameListIsTheSnapshot: the name list of a snapshot has the same names and finds the same
// objects, in every compression.
func TestNameListIsTheSnapshot(t *testing.T) {
	dir := t.TempDir()
	rapid.Check(t, func(t *rapid.T) {
		s := genSnapshot(t)
		path := filepath.Join(dir, "snapshot")
		c := rapid.SampledFrom([]Compression{Uncompressed, Gzip, Zstd}).Draw(t, "compression")
		var file bytes.Buffer
		if err := s.Write(&file, c, Evidence{}); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, file.Bytes(), 0o600); err != nil {
			t.Fatal(err)
		}
		l, err := ReadNames([]string{path}, Options{})
		if err != nil {
			t.Fatal(err)
		}
		prefix := rapid.SampledFrom([]string{"", "w", "lo", "x\n", "none"}).Draw(t, "prefix")
		namespaced := rapid.Bool().Draw(t, "namespaced")
		agrees(t, s, l, prefix, namespaced, "", "a", "ü", "x\ny", "zz")
	})
}

// agrees compares the results of a name list with a snapshot, in some namespaces.
func agrees(t rapid.TB, s *Snapshot, l *NameList, prefix string, namespaced bool, in ...string) {
	t.Helper()
	kinds := [][2]string{{"v1", "Absent"}}
	var namespaces []string
	for _, o := range s.Objects {
		kinds = append(kinds, [2]string{o.APIVersion, o.Kind})
		if o.Namespace != "" {
			namespaces = append(namespaces, o.Namespace)
		}
	}
	for _, kind := range distinct(kinds) {
		r := object.Resource{Kind: kind[1], Namespaced: namespaced}
		r.Group, r.Version = object.SplitAPIVersion(kind[0])
		if r.APIVersion() != kind[0] {
			continue // no resource has it
		}
		for _, namespace := range in {
			agreesOn(t, s, l, r, namespace, prefix)
		}
	}
	slices.Sort(namespaces)
	if got := l.Namespaces(); !slices.Equal(got, slices.Compact(namespaces)) {
		t.Fatalf("namespaces %q, want %q", got, namespaces)
	}
	if o := l.Find(object.Resource{Version: "v1", Kind: "Pod"}, "", "never"); o != nil {
		t.Fatalf("found %v", o)
	}
}

// agreesOn compares the results about a type in a namespace.
func agreesOn(t rapid.TB, s *Snapshot, l *NameList, r object.Resource, namespace, prefix string) {
	t.Helper()
	var want []string
	holds := false
	for _, o := range s.Objects {
		if o.Kind != r.Kind || o.APIVersion != r.APIVersion() {
			continue
		}
		holds = true
		if (!r.Namespaced || o.Namespace == namespace) && strings.HasPrefix(o.Name, prefix) {
			want = append(want, o.Name)
		}
	}
	if l.Holds(r) != holds {
		t.Fatalf("%v: holds is %v", r, !holds)
	}
	got := l.Names(r, namespace, prefix)
	if diff := cmp.Diff(slices.Compact(want), got); diff != "" {
		t.Fatalf("%v in %q:\n%s", r, namespace, diff)
	}
	for _, name := range got {
		o := l.Find(r, namespace, name)
		if o == nil || o.Name != name || !slices.ContainsFunc(s.Objects, func(x *object.Object) bool {
			return x.Ref == o.Ref && slices.Equal(x.Finalizers(), o.Finalizers()) && cmp.Equal(x.Definition(), o.Definition())
		}) {
			t.Fatalf("%v %q: found %v", r, name, o)
		}
	}
}

func distinct[T comparable](list []T) []T {
	var seen []T
	for _, v := range list {
		if !slices.Contains(seen, v) {
			seen = append(seen, v)
		}
	}
	return seen
}

// TestOutlineOfOtherFiles: other dumps are read completely, and errors in a file are reported.
func TestOutlineOfOtherFiles(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	dump := write("dump.yaml", "apiVersion: v1\nkind: Pod\nmetadata: {name: web, namespace: shop, uid: u}\n")
	for _, paths := range [][]string{{dump}, {dir}, {dump, dump}} {
		l, err := ReadNames(paths, Options{})
		if err != nil {
			t.Fatal(err)
		}
		pods := object.Resource{Version: "v1", Kind: "Pod", Namespaced: true}
		if names := l.Names(pods, "shop", "w"); !slices.Equal(names, []string{"web"}) {
			t.Errorf("%v: %v", paths, names)
		}
	}
	for name, text := range map[string]string{
		"future": `{"kubectlGCSnapshot":99}` + "\n", "empty.gz": "\x1f\x8b", "short": `{"kubectlGCSnapshot":1`,
		"broken": `{"kubectlGCSnapshot":1,"objects":2,"types":[["v1","Pod"]]}` + "\n" + `{"t":0,"n":"a","u":"1"}` + "\n",
	} {
		if _, err := ReadNames([]string{write(name, text)}, Options{}); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
	if _, err := ReadNames([]string{filepath.Join(dir, "none")}, Options{}); err == nil {
		t.Error("a missing file: no error")
	}
}
