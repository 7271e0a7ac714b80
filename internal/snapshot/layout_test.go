package snapshot

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"encoding/json"
	"errors"
	"io"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/txtar"
	"sigs.k8s.io/yaml"

	"github.com/kubectl-gc/kubectl-gc/internal/manifest"
)

// TestLayoutsAreDocumented compares the table in docs/offline.md with the program: what a list as
// the server returns it proves, and what a `kind: List`.
func TestLayoutsAreDocumented(t *testing.T) {
	page, err := os.ReadFile("../../docs/offline.md")
	if err != nil {
		t.Fatal(err)
	}
	worth := func(l layout, kind string) string {
		s := &sighting{location: location{resource: "pods", scope: inNamespace}, list: manifest.List{Kind: kind}}
		return map[proof]string{nothing: "nothing", taken: "taken", whole: "whole"}[l.proof(s)]
	}
	rows := map[string]string{"named": "`kubectl cluster-info dump`"}
	passed := map[string]bool{"discovery": true, "sonobuoy's results": true}
	for _, l := range layouts {
		if passed[l.name] {
			continue
		}
		want := worth(l, "PodList")
		if other := worth(l, "List"); other != want {
			want += "; a `kind: List`: " + other
		}
		name, found := rows[l.name], false
		if name == "" {
			name = l.name
		}
		for line := range strings.Lines(string(page)) {
			cells := strings.Split(line, " | ")
			if found = len(cells) == 3 && strings.Contains(cells[0], name) && cells[1] == want; found {
				break
			}
		}
		if !found {
			t.Errorf("docs/offline.md has no row of %q whose lists are %q", name, want)
		}
	}
}

// counted has the UIDs of objects and their numbers of owners, as a plain decoder finds them in
// files.
type counted map[string]int

// textsIn returns the documents in a text: YAML, JSON, or several in sequence.
func textsIn(text []byte) [][]byte {
	var texts [][]byte
	d := json.NewDecoder(bytes.NewReader(text))
	for {
		var raw json.RawMessage
		err := d.Decode(&raw)
		if errors.Is(err, io.EOF) {
			return texts
		}
		if err != nil {
			break
		}
		texts = append(texts, raw)
	}
	for _, document := range regexp.MustCompile(`(?m)^---.*$`).Split(string(text), -1) {
		if raw, err := yaml.YAMLToJSON([]byte(document)); err == nil {
			texts = append(texts, raw)
		}
	}
	return texts
}

// value counts each mapping with a name and a UID in the positions of an object's.
func (c counted) value(v any) {
	switch v := v.(type) {
	case []any:
		for _, e := range v {
			c.value(e)
		}
	case map[string]any:
		if items, ok := v["items"].([]any); ok {
			c.value(items)
			return
		}
		if items, ok := v["Items"].([]any); ok {
			c.value(items)
			return
		}
		m, ok := v["metadata"].(map[string]any)
		if !ok {
			m = v // as lists had it that were written by their Go fields
		}
		uid, _ := m["uid"].(string)
		if name, _ := m["name"].(string); name == "" || uid == "" {
			return
		}
		owners, _ := m["ownerReferences"].([]any)
		c[uid] = max(c[uid], len(owners))
	}
}

func (c counted) edges() int {
	n := 0
	for _, owners := range c {
		n += owners
	}
	return n
}

// filesIn returns the files of an archive of another tool.
func filesIn(t *testing.T, path string) []txtar.File {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = f.Close() }()
	z, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	var files []txtar.File
	for r := tar.NewReader(z); ; {
		h, err := r.Next()
		if errors.Is(err, io.EOF) {
			return files
		}
		if err != nil {
			t.Fatal(err)
		}
		if h.Typeflag == tar.TypeReg {
			data, err := io.ReadAll(r)
			if err != nil {
				t.Fatal(err)
			}
			files = append(files, txtar.File{Name: h.Name, Data: data})
		}
	}
}

// TestLayouts counts objects and owner references in each layout with decoders that know nothing
// about dumps, and checks what each list proves. Files that a dump doesn't take for objects are
// skipped; objects without a UID are not counted.
func TestLayouts(t *testing.T) {
	dumps := map[string][]txtar.File{}
	for name, d := range layoutDumps(t) {
		dumps[name] = d.files
	}
	others, _ := filepath.Glob("../../../shared/data/clusters/*.tar.gz")
	for _, path := range others {
		dumps[strings.TrimSuffix(filepath.Base(path), ".tar.gz")] = filesIn(t, path)
	}
	t.Logf("| dump | objects | edges | without uid | covered kinds | of |")
	for _, name := range slices.Sorted(maps.Keys(dumps)) {
		want := counted{}
		for _, f := range dumps[name] {
			l := locate(cleanName(f.Name))
			if strings.Contains(f.Name, "/run-") {
				continue // a pod of the collector's own and its events, without kinds
			}
			if l.role == foreign || l.role == discovery || l.role == failures || l.role == queries || l.role == settings {
				continue
			}
			for _, text := range textsIn(f.Data) {
				var v any
				if err := json.Unmarshal(text, &v); err == nil {
					want.value(v)
				}
			}
		}
		s, err := readBytes(tarOf(t, dumps[name]), Options{})
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		got, nameless, covered := counted{}, 0, 0
		for _, o := range s.Objects {
			if strings.HasPrefix(string(o.UID), MissingUID) {
				nameless++
				continue
			}
			got[string(o.UID)] = len(o.Owners)
		}
		for _, r := range s.Resources.All() {
			if s.Covers(r, "") {
				covered++
			}
		}
		t.Logf("| %s | %d | %d | %d | %d | %d |", name, len(got), got.edges(), nameless, covered, len(s.Resources.All()))
		if name == "flawed_identities" { // of two copies the older one
			delete(want, "svc-old")
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s: owners of each uid (-counted +read):\n%s", name, diff)
		}
	}
}
