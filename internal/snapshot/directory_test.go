package snapshot

import (
	"bytes"
	"compress/gzip"
	"errors"
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

// filesOfDumps are possible contents of files in a directory.
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
	"gzipped":   gzipText(`{"apiVersion":"v1","kind":"PodList","metadata":{"resourceVersion":"9"},"items":[{"metadata":{"name":"z","namespace":"shop","uid":"11"}}]}`),
	"queries":   `[{"queryobj":"pods","namespace":"shop","error":null}]`,
	"failures":  `["forbidden"]`,
	"empty":     "",
	"text":      "2026-01-02 it works\n",
}

// gzipText returns the text compressed with gzip.
func gzipText(text string) string {
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	_, err := w.Write([]byte(text))
	if err = errors.Join(err, w.Close()); err != nil {
		panic(err) // a buffer takes everything
	}
	return b.String()
}

// TestDirectory: the content and the errors of a directory don't depend on the number of files read
// concurrently.
func TestDirectory(t *testing.T) {
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
		for i, content := range rapid.SliceOfN(rapid.SampledFrom(contents), 1, 20).Draw(t, "contents") {
			name := rapid.SampledFrom([]string{"pods%d.json", "deployments-%d.yaml", "%d.txt", "%d.log", "shop/configmaps%d.yaml", "shop/core/%d.json",
				"resources/ns/shop/%d/pods.json", "meta%d/query-time.json", "cluster-resources/pods/shop%d.json", "cluster-resources/pods-errors%d.json"}).Draw(t, "name")
			file := filepath.Join(dir, fmt.Sprintf(name, i))
			if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(file, []byte(filesOfDumps[content]), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		o := Options{AllowPartial: rapid.Bool().Draw(t, "partial"), Memory: func(int64, int, Limits) error { return nil }}
		switch rapid.IntRange(0, 9).Draw(t, "small") {
		case 0:
			o.Limits.TotalBytes = 1_000
		case 1:
			o.Limits.Entries = 5
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

// readWith reads a directory, so many files at a time, and returns all results.
func readWith(t *rapid.T, o Options, path string, workers int) (all []any, err error) {
	r, err := newReader(o)
	if err != nil {
		t.Fatal(err)
	}
	r.workers = workers
	s, err := r.readAll([]string{path})
	if err != nil {
		return nil, err
	}
	if r.memory.objects > len(r.objects)+r.readBack {
		t.Errorf("%d objects were counted of %d", r.memory.objects, len(r.objects)+r.readBack)
	}
	var lines strings.Builder
	if err := s.Write(&lines, Uncompressed, Evidence{}); err != nil {
		t.Fatal(err)
	}
	return []any{lines.String(), s.Problems, s.Gaps, s.Source}, nil
}

// TestNestedDirectories: a directory with several files next to another one is read the same each
// time. Unpacked support bundles look like that. Readers that share state fail here, or crash.
func TestNestedDirectories(t *testing.T) {
	dir := t.TempDir()
	for _, place := range []string{"a", "a/m", "a/m/n", "z"} {
		if err := os.MkdirAll(filepath.Join(dir, place), 0o700); err != nil {
			t.Fatal(err)
		}
		for _, kind := range []string{"pods", "replicasets", "configmaps"} {
			var items []string
			for i := range 200 {
				items = append(items, fmt.Sprintf(`{"metadata":{"name":"%[1]s-%[2]d","namespace":"%[1]s","uid":"%[1]s-%[3]s-%[2]d","labels":{"app":"%[1]s-%[2]d"},`+
					`"ownerReferences":[{"apiVersion":"v1","kind":"ConfigMap","name":"%[1]s-%[2]d","uid":"%[1]s-configmaps-%[2]d"}]}}`, strings.ReplaceAll(place, "/", "-"), i, kind))
			}
			list := map[string]string{"pods": `"v1","kind":"PodList"`, "replicasets": `"apps/v1","kind":"ReplicaSetList"`, "configmaps": `"v1","kind":"ConfigMapList"`}[kind]
			content := `{"apiVersion":` + list + `,"metadata":{},"items":[` + strings.Join(items, ",") + `]}`
			if err := os.WriteFile(filepath.Join(dir, place, kind+".json"), []byte(content), 0o600); err != nil {
				t.Fatal(err)
			}
		}
	}
	var first []byte
	for range 50 {
		r, err := newReader(Options{})
		if err != nil {
			t.Fatal(err)
		}
		r.workers = mostFiles // whatever the machine has
		s, err := r.readAll([]string{dir})
		if err != nil {
			t.Fatal(err)
		}
		var b bytes.Buffer
		if err := s.Write(&b, Uncompressed, Evidence{}); err != nil {
			t.Fatal(err)
		}
		if first == nil {
			first = b.Bytes()
		}
		if !bytes.Equal(first, b.Bytes()) {
			t.Fatal("another snapshot of the same dump")
		}
	}
	if got := bytes.Count(first, []byte("\n")); got != 2+4*3*200 {
		t.Errorf("%d lines", got)
	}
}

// TestLargeFileOfDirectory: a file that needs more memory than one of several may use is read with
// all of it. One that needs more than that is an error.
func TestLargeFileOfDirectory(t *testing.T) {
	for _, c := range []struct {
		memory int64
		limit  bool
	}{{0, false}, {8 << 20, true}} {
		dir := t.TempDir()
		for _, content := range []string{"large", "pods", "nodes"} {
			if err := os.WriteFile(filepath.Join(dir, content+".json"), []byte(filesOfDumps[content]), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		r, err := newReader(Options{Limits: Limits{MemoryBytes: c.memory}})
		if err != nil {
			t.Fatal(err)
		}
		r.workers = 2
		s, err := r.readAll([]string{dir})
		if errors.Is(err, ErrLimit) != c.limit || err == nil && len(s.Objects) != 4 {
			t.Errorf("with %d bytes: %v", c.memory, err)
		}
	}
}

// TestTextsInOrder: the texts of objects are passed on in the order of the files.
func TestTextsInOrder(t *testing.T) {
	dir := t.TempDir()
	for i := range 20 {
		content := fmt.Sprintf(`{"apiVersion":"v1","kind":"Pod","metadata":{"name":"p%02d","namespace":"shop","uid":"%d"}}`, i, i)
		if err := os.WriteFile(filepath.Join(dir, fmt.Sprintf("%02d.json", i)), []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	var names []string
	_, err := ReadFiles([]string{dir}, Options{Raw: func(o *object.Object, _ []byte) error {
		names = append(names, o.Name)
		return nil
	}})
	if err != nil || len(names) != 20 || !slices.IsSorted(names) {
		t.Errorf("%v, %v", names, err)
	}
}
