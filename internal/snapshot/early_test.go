package snapshot

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/kubectl-gc/kubectl-gc/internal/object"
)

// filesOfDumps are what files of a directory may hold.
var filesOfDumps = map[string]string{
	"pods":      `{"apiVersion":"v1","kind":"PodList","metadata":{"resourceVersion":"9"},"items":[{"metadata":{"name":"a","namespace":"shop","uid":"1"}},{"metadata":{"name":"b","namespace":"shop","uid":"2","ownerReferences":[{"apiVersion":"v1","kind":"Pod","name":"a","uid":"1"}]}}]}`,
	"yaml":      "apiVersion: v1\nkind: List\nitems:\n- apiVersion: v1\n  kind: ConfigMap\n  metadata:\n    name: c\n    namespace: shop\n    uid: \"3\"\n- apiVersion: apps/v1\n  kind: Deployment\n  metadata:\n    name: web\n    namespace: shop\n    uid: \"4\"\n",
	"other":     `{"apiVersion":"v1","kind":"Pod","metadata":{"name":"a","namespace":"shop","uid":"5","resourceVersion":"12"}}`,
	"nodes":     `{"apiVersion":"v1","kind":"Node","metadata":{"name":"n","uid":"6"},"status":{"nodeInfo":{"kubeletVersion":"v1.33.1"},"conditions":[{"type":"Ready","lastHeartbeatTime":"2026-01-02T03:04:05Z"}]}}`,
	"events":    `{"apiVersion":"v1","kind":"EventList","items":[{"metadata":{"name":"e","namespace":"shop","uid":"7"},"lastTimestamp":"2026-01-02T03:04:06Z"}]}`,
	"nameless":  `{"apiVersion":"v1","kind":"List","items":[{"metadata":{"name":"x","namespace":"shop","uid":"8"}}]}`,
	"cut":       `{"apiVersion":"v1","kind":"PodList","items":[{"metadata":{"name":"a","namespace":"shop","uid":"1"}},{"metadata":{"na`,
	"wrong":     "apiVersion: v1\nkind: Pod\nmetadata:\n  name: [a\n",
	"no object": `{"apiVersion":"v1","some":"thing"}`,
	"several":   `{"apiVersion":"v1","kind":"Secret","metadata":{"name":"s","namespace":"shop","uid":"9"}}` + "\n" + `{"no":"object"}` + "\n" + `{"apiVersion":"v1","kind":"PodList","items":[]}`,
	"discovery": `{"kind":"APIResourceList","apiVersion":"v1","groupVersion":"example.com/v1","resources":[{"name":"carts","singularName":"cart","namespaced":true,"kind":"Cart","verbs":["delete","get","list","watch"]}]}`,
	"large":     `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"` + strings.Repeat("x", 3<<20) + `","namespace":"shop","uid":"10"}}`,
	"empty":     "",
	"text":      "2026-01-02 it works\n",
}

// TestEarly: what is read of a directory is the same however many files of it are read at a time,
// and so is what is wrong with them.
func TestEarly(t *testing.T) {
	contents := make([]string, 0, len(filesOfDumps))
	for content := range filesOfDumps {
		contents = append(contents, content)
	}
	slices.Sort(contents)
	read, failed := 0, 0
	dirs := t.TempDir()
	rapid.Check(t, func(t *rapid.T) {
		dir, err := os.MkdirTemp(dirs, "") //nolint:usetesting // a draw has no directory of its own
		if err != nil {
			t.Fatal(err)
		}
		for i, content := range rapid.SliceOfN(rapid.SampledFrom(contents), 1, 12).Draw(t, "contents") {
			name := rapid.SampledFrom([]string{"pods%d.json", "deployments-%d.yaml", "%d.txt", "%d.log", "shop/configmaps%d.yaml", "shop/core/%d.json"}).Draw(t, "name")
			file := filepath.Join(dir, fmt.Sprintf(name, i))
			if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(file, []byte(filesOfDumps[content]), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		o := Options{AllowPartial: rapid.Bool().Draw(t, "partial"), Memory: func(int64, int, Limits) error { return nil }}
		if rapid.IntRange(0, 9).Draw(t, "small") == 0 {
			o.Limits.TotalBytes = 1_000
		}
		want, wantErr := readWith(t, o, dir, 1)
		for _, workers := range []int{2, 3} {
			got, err := readWith(t, o, dir, workers)
			if fmt.Sprint(err) != fmt.Sprint(wantErr) {
				t.Fatalf("%d files at a time: %v, and one after the other: %v", workers, err, wantErr)
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Fatalf("(-one after the other +%d at a time):\n%s", workers, diff)
			}
		}
		if read++; wantErr != nil {
			failed++
		}
	})
	if failed == 0 || failed == read {
		t.Errorf("%d of %d dumps could not be read", failed, read)
	}
}

// readWith reads a directory or file, so many files or parts at a time, and returns all that is
// known of it.
func readWith(t *rapid.T, o Options, path string, workers int) (all []any, err error) {
	r, err := newReader(o)
	if err != nil {
		t.Fatal(err)
	}
	r.workers, r.partsFrom = workers, 1
	s, err := r.readAll([]string{path})
	if err != nil {
		return nil, err
	}
	if ahead := r.ahead.Load(); ahead != 0 {
		t.Errorf("%d objects are still ahead", ahead)
	}
	var lines strings.Builder
	if err := s.Write(&lines, Uncompressed); err != nil {
		t.Fatal(err)
	}
	return []any{lines.String(), s.Problems, s.Gaps, s.Source}, nil
}

// TestEarlyIsTold: a file is told as it was when it was read, and is read again where it is
// another one since, or where it needs more than files that are read beside one another may take.
func TestEarlyIsTold(t *testing.T) {
	for _, c := range []struct {
		name    string
		content string
		change  bool
		want    bool
	}{
		{name: "as it was", content: filesOfDumps["pods"], want: true},
		{name: "changed", content: filesOfDumps["pods"], change: true},
		{name: "cut", content: filesOfDumps["cut"]},
		{name: "large", content: filesOfDumps["large"]},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir := t.TempDir()
			file := filepath.Join(dir, "a.json")
			for _, name := range []string{file, filepath.Join(dir, "b.json")} {
				if err := os.WriteFile(name, []byte(c.content), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			r, err := newReader(Options{})
			if err != nil {
				t.Fatal(err)
			}
			r.workers = 2
			in := &input{name: dir}
			e := r.readEarly(in, dir, "", []fileName{{text: "a.json"}, {text: "b.json"}})
			defer e.close()
			e.turn()
			if c.change {
				if err := os.WriteFile(file, []byte(c.content+"\n"), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			options := textOptions(dir+": a.json", locate("a.json"), []byte(c.content))
			if got := r.early.is(options); got != c.want {
				t.Errorf("told from what was read early: %t", got)
			}
			options.Namespace = "elsewhere"
			if r.early.is(options) {
				t.Error("told to somebody who reads it otherwise")
			}
			e.done()
		})
	}
}

// TestEarlyKeepsText: who wants the text of objects gets it in the order of the files.
func TestEarlyKeepsText(t *testing.T) {
	r, err := newReader(Options{Raw: func(*object.Object, []byte) error { return nil }})
	if err != nil {
		t.Fatal(err)
	}
	r.workers = 2
	if e := r.readEarly(&input{}, "", "", []fileName{{text: "a.json"}, {text: "b.json"}}); e != nil {
		t.Error("files are read beside one another")
	}
}
