package snapshot

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/go-json-experiment/json"
	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/kubectl-gc/kubectl-gc/internal/object"
)

// TestOutlineIsTheSnapshot: whatever a snapshot holds, its outline names the same and
// finds the same objects, in every compression, in parts of any size, and in files that
// were written before there were parts.
func TestOutlineIsTheSnapshot(t *testing.T) {
	dir := t.TempDir()
	rapid.Check(t, func(t *rapid.T) {
		s := genSnapshot(t)
		path := filepath.Join(dir, "snapshot")
		c := rapid.SampledFrom([]Compression{Uncompressed, Gzip, Zstd}).Draw(t, "compression")
		file := inOnePart(t, s, c)
		if part := rapid.SampledFrom([]int{0, 1, 150, 1000, partSize}).Draw(t, "part"); part > 0 {
			file = inParts(t, s, c, part)
		}
		if err := os.WriteFile(path, file, 0o600); err != nil {
			t.Fatal(err)
		}
		l, err := ReadOutline([]string{path}, Options{})
		if err != nil {
			t.Fatal(err)
		}
		if l.whole != nil {
			t.Fatal("the snapshot was read as a foreign dump")
		}
		prefix := rapid.SampledFrom([]string{"", "w", "lo", "x\n", "none"}).Draw(t, "prefix")
		namespaced := rapid.Bool().Draw(t, "namespaced")
		agrees(t, s, l, prefix, namespaced, "", "a", "ü", "x\ny", "zz")
		agrees(t, s, &Outline{Resources: s.Resources, whole: s}, prefix, namespaced, "", "a", "ü", "x\ny", "zz")
	})
}

// agrees compares the answers of an outline with a snapshot, in some namespaces.
func agrees(t rapid.TB, s *Snapshot, l *Outline, prefix string, namespaced bool, in ...string) {
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
	if got, err := l.Namespaces(); err != nil || !slices.Equal(got, slices.Compact(namespaces)) {
		t.Fatalf("namespaces %q, %v, want %q", got, err, namespaces)
	}
	if o, err := l.Find(object.Resource{Version: "v1", Kind: "Pod"}, "", "never"); o != nil || err != nil {
		t.Fatalf("found %v, %v", o, err)
	}
}

// agreesOn compares the answers about a type in a namespace.
func agreesOn(t rapid.TB, s *Snapshot, l *Outline, r object.Resource, namespace, prefix string) {
	t.Helper()
	var want []string
	holds := false
	for _, o := range s.Objects {
		if !ofType(o, r) {
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
	got, err := l.Names(r, namespace, prefix)
	if diff := cmp.Diff(slices.Compact(want), got); err != nil || diff != "" {
		t.Fatalf("%v in %q: %v\n%s", r, namespace, err, diff)
	}
	for _, name := range got {
		o, err := l.Find(r, namespace, name)
		if err != nil || o == nil || o.Name != name || !slices.ContainsFunc(s.Objects, func(x *object.Object) bool {
			return x.Ref == o.Ref && slices.Equal(x.Finalizers(), o.Finalizers())
		}) {
			t.Fatalf("%v %q: found %v, %v", r, name, o, err)
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

// FuzzRow: a line of ours is read by its start as it is read whole.
func FuzzRow(f *testing.F) {
	for _, seed := range []string{
		`{"t":0}`, `{"t":3,"s":"shop","n":"web","u":"1"}`, `{"t":3,"n":"a\"b"}`, `{"t":3,"s":"a\\","n":"b"}`, `{"n":"web","t":3}`,
		`{"t":3,"u":"1","n":"late"}`, `{"t":3,"n":"web","s":"late"}`, `{"t":3,"n":"web","n":"again"}`, `{"t":12345678901,"n":"x"}`, `{"t":03,"n":"x"}`, `{"t":-1}`, `{`, ``,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, line []byte) {
		var whole storedObject
		if err := json.Unmarshal(line, &whole); err != nil {
			return // rowOf trusts lines that we wrote
		}
		// Only the order that we write is promised.
		written, err := json.Marshal(&whole)
		if err != nil {
			return
		}
		got, ok := rowOf(written)
		if want := (row{whole.Type, whole.Namespace, whole.Name}); !ok || got != want {
			t.Errorf("%s: %v, %v; want %v", written, got, ok, want)
		}
	})
}

// TestOutlineOfOtherFiles: other dumps are read whole, and what is wrong with a file
// is said.
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
		l, err := ReadOutline(paths, Options{})
		if err != nil {
			t.Fatal(err)
		}
		pods := object.Resource{Version: "v1", Kind: "Pod", Namespaced: true}
		if names, err := l.Names(pods, "shop", "w"); err != nil || !slices.Equal(names, []string{"web"}) {
			t.Errorf("%v: %v, %v", paths, names, err)
		}
	}
	for name, text := range map[string]string{
		"future": `{"kubectlGCSnapshot":99}` + "\n", "empty.gz": "\x1f\x8b", "short": `{"kubectlGCSnapshot":1`,
	} {
		if _, err := ReadOutline([]string{write(name, text)}, Options{}); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
	if _, err := ReadOutline([]string{filepath.Join(dir, "none")}, Options{}); err == nil {
		t.Error("a missing file: no error")
	}
	broken := write("broken", `{"kubectlGCSnapshot":1,"objects":2,"types":[["v1","Pod"]]}`+"\n"+`{"t":0,"n":"a"}`+"\n")
	l, err := ReadOutline([]string{broken}, Options{})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := l.Names(object.Resource{Version: "v1", Kind: "Pod"}, "", ""); err == nil {
		t.Error("a truncated file: no error")
	}
}
