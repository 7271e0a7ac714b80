package snapshot

import (
	"archive/tar"
	"bytes"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/yaml"
)

// layoutDumps returns the dumps of all readable layouts.
func layoutDumps(t *testing.T) map[string]*dump {
	t.Helper()
	paths, err := filepath.Glob("testdata/dumps/*.txtar")
	if err != nil || len(paths) == 0 {
		t.Fatalf("no dumps: %v", err)
	}
	dumps := map[string]*dump{}
	for _, path := range paths {
		d := readDump(t, path)
		for i, f := range d.files {
			if strings.HasSuffix(f.Name, ".yaml") && bytes.HasPrefix(f.Data, []byte{'{'}) { // as it is written
				text, err := yaml.JSONToYAML(f.Data)
				if err != nil {
					t.Fatal(err)
				}
				d.files[i].Data = text
			}
		}
		if s, err := readBytes(tarOf(t, d.files), Options{}); err == nil && len(s.Objects) > 0 {
			dumps[strings.TrimSuffix(filepath.Base(path), ".txtar")] = d
		}
	}
	if len(dumps) < 20 {
		t.Fatalf("only %d dumps can be read", len(dumps))
	}
	return dumps
}

// thing is an object as far as its reading can be compared.
type thing struct {
	kind, namespace, name string
	uid                   types.UID
}

// things returns the objects of a snapshot; copied omits their UIDs.
func things(s *Snapshot, copied bool) map[thing]bool {
	all := map[thing]bool{}
	for _, o := range s.Objects {
		one := thing{o.Kind, o.Namespace, o.Name, o.UID}
		if copied {
			one.uid = ""
		}
		all[one] = true
	}
	return all
}

// claims returns the claims of a damaged dump that the whole one doesn't make: an object that
// doesn't exist, an existing one that is absent, or a complete list. An object without a UID is no
// claim, because its UID is recognisably made up. A dump with several copies of an object may have
// lost the newest.
func claims(whole, damaged *Snapshot, copies bool) string {
	have, left := things(whole, copies), things(damaged, copies)
	for o := range left {
		if !have[o] && !strings.HasPrefix(string(o.uid), MissingUID) {
			return fmt.Sprintf("%v is not there", o)
		}
	}
	namespaces := []string{""}
	for _, o := range whole.Objects {
		if !slices.Contains(namespaces, o.Namespace) {
			namespaces = append(namespaces, o.Namespace)
		}
		r, err := damaged.Resources.For(o.APIVersion, o.Kind)
		one := thing{o.Kind, o.Namespace, o.Name, o.UID}
		if copies {
			one.uid = ""
		}
		if !left[one] && err == nil && damaged.Covers(r, o.Namespace) {
			return fmt.Sprintf("%s is absent", o.Ref)
		}
	}
	for _, r := range damaged.Resources.All() {
		same, err := whole.Resources.For(r.APIVersion(), r.Kind)
		for _, ns := range namespaces {
			if err == nil && damaged.Covers(r, ns) && !whole.Covers(same, ns) {
				return fmt.Sprintf("all %s in %q were seen", r.GroupResource(), ns)
			}
		}
	}
	return ""
}

// checkDamaged reads damaged bytes. The error must have a position, and the result must not claim
// more than the whole dump.
func checkDamaged(t *testing.T, what string, content []byte, whole *Snapshot, names string) {
	t.Helper()
	_, err := readBytes(content, Options{})
	if err != nil && !strings.Contains(err.Error(), names) && !strings.Contains(err.Error(), "files is one of Kubernetes objects") {
		t.Errorf("%s: the error does not name %q: %v", what, names, err)
	}
	for _, allow := range []bool{false, true} {
		s, err := readBytes(content, Options{AllowPartial: allow})
		if err != nil {
			continue
		}
		if claim := claims(whole, s, strings.HasSuffix(t.Name(), "flawed_identities")); claim != "" {
			t.Errorf("%s, partly %v: %s", what, allow, claim)
		}
	}
}

// cuts returns lengths for truncating a text: all line ends, and some between.
func cuts(text []byte) []int {
	var at []int
	for i := range text {
		if i%19 == 0 || text[i] == '\n' || i > 0 && text[i-1] == '\n' || i+3 > len(text) {
			at = append(at, i)
		}
	}
	return at
}

// A file that is truncated anywhere is an error, or its missing parts prove nothing.
func TestTruncatedFiles(t *testing.T) {
	for name, d := range layoutDumps(t) {
		t.Run(name, func(t *testing.T) {
			whole, err := readBytes(tarOf(t, d.files), Options{})
			if err != nil {
				t.Fatal(err)
			}
			for i, f := range d.files {
				for _, n := range cuts(f.Data) {
					files := slices.Clone(d.files)
					files[i].Data = f.Data[:n]
					checkDamaged(t, fmt.Sprintf("%s cut at %d of %d", f.Name, n, len(f.Data)), tarOf(t, files), whole, f.Name)
				}
			}
		})
	}
}

// An archive that is truncated anywhere is an error. If that is allowed, its missing parts prove
// nothing.
func TestTruncatedArchives(t *testing.T) {
	for name, d := range layoutDumps(t) {
		t.Run(name, func(t *testing.T) {
			for _, files := range [][]txtar.File{d.files, reversed(d.files)} {
				tarred := tarOf(t, files)
				whole, err := readBytes(tarred, Options{})
				if err != nil {
					t.Fatal(err)
				}
				for form, content := range map[string][]byte{"tar": tarred, "gzip": gzipOf(t, tarred), "zip": zipOf(t, files)} {
					step := max(len(content)/60, 1)
					if form == "tar" {
						step = tarBlock / 2
					}
					for n := tarBlock; n < len(content); n += step {
						checkDamaged(t, fmt.Sprintf("%s cut at %d of %d", form, n, len(content)), content[:n], whole, "standard input")
					}
				}
			}
		})
	}
}

// A bare YAML list may have been truncated before its next item: it proves nothing, unless another
// list does. So may a list without an end of its last line.
func TestListsWithoutEnd(t *testing.T) {
	const item = "- apiVersion: v1\n  kind: Pod\n  metadata:\n    name: p\n    namespace: shop\n    uid: '1'\n"
	name := func(form string) txtar.File {
		return txtar.File{Name: "b/cluster-resources/pods/shop." + form}
	}
	for text, covers := range map[string]bool{
		item: false,
		"apiVersion: v1\nkind: PodList\nitems:\n" + item + "  spec: {}":       false,
		"apiVersion: v1\nkind: PodList\nitems:\n" + item:                      true,
		"apiVersion: v1\nkind: PodList\nitems:\n" + item + "metadata: {}\n":   true,
		"apiVersion: v1\nitems:\n" + item + "kind: PodList\n":                 true,
		"apiVersion: v1\nitems:\n" + item + "kind: PodList\n---\n# nothing\n": true,
		"apiVersion: v1\nkind: PodList\nitems: []\n":                          true,
		podList: true,
	} {
		file := name("yaml")
		file.Data = []byte(text)
		s, err := readBytes(tarOf(t, []txtar.File{file}), Options{})
		if err != nil {
			t.Fatal(err)
		}
		if r := preferred(t, s, pods); s.Covers(r, "shop") != covers || !covers && !strings.HasPrefix(s.Why(r, "shop"), "Truncated: ") {
			t.Errorf("%q: %v, %s", text, !covers, s.Why(r, "shop"))
		}
		whole := name("json")
		whole.Data = []byte(podList)
		s, err = readBytes(tarOf(t, []txtar.File{file, whole}), Options{})
		if err != nil || !s.Covers(preferred(t, s, pods), "shop") {
			t.Errorf("%q beside a whole list: %v", text, err)
		}
	}
}

// Names that lead out of an archive, or contain terminal control sequences, are only names: nothing
// outside is read, and messages escape them.
func TestHostileNames(t *testing.T) {
	for name, d := range layoutDumps(t) {
		for _, prefix := range []string{"../../", "/", "a\x1b[2Jb/", "..\\", "\u202e/"} {
			files := slices.Clone(d.files)
			for i := range files {
				files[i].Name = prefix + files[i].Name
			}
			whole, err := readBytes(tarOf(t, d.files), Options{})
			if err != nil {
				t.Fatal(err)
			}
			for _, content := range [][]byte{tarOf(t, files), zipOf(t, files)} {
				s, err := readBytes(content, Options{AllowPartial: true})
				if err != nil {
					if strings.ContainsAny(err.Error(), "\x1b\u202e") {
						t.Errorf("%s: %q", name, err)
					}
					continue
				}
				if len(s.Objects) > len(whole.Objects) {
					t.Errorf("%s with %q: %d objects of %d", name, prefix, len(s.Objects), len(whole.Objects))
				}
				for _, p := range s.Problems {
					if strings.ContainsAny(p.File+p.Message, "\x1b\u202e") {
						t.Errorf("%s: %q", name, p.Message)
					}
				}
			}
		}
	}
}

// A changed byte has no worse effect than the changed text: no panic, and no error without a
// position.
func TestCorruptFiles(t *testing.T) {
	for name, d := range layoutDumps(t) {
		for i, f := range d.files {
			for n := 0; n < len(f.Data); n += max(len(f.Data)/12, 1) {
				for _, c := range []byte{0, 0xff, '"', '{', '\n', f.Data[n] ^ 1} {
					files := slices.Clone(d.files)
					files[i].Data = bytes.Clone(f.Data)
					files[i].Data[n] = c
					_, err := readBytes(tarOf(t, files), Options{})
					if err != nil && !strings.Contains(err.Error(), f.Name) && !strings.Contains(err.Error(), "files is one of Kubernetes objects") {
						t.Errorf("%s: %s: byte %d is %q: %v", name, f.Name, n, c, err)
					}
				}
			}
		}
	}
}

// Other entries than files in an archive are skipped, declared sizes are not trusted, and depth and
// growth are bounded, in every layout.
func TestHostileArchives(t *testing.T) {
	const file = "resources/ns/shop/core_v1_pods.json"
	header := func(h tar.Header, content string) []byte {
		var b bytes.Buffer
		w := tar.NewWriter(&b)
		if err := w.WriteHeader(&h); err != nil {
			t.Fatal(err)
		}
		_, _ = w.Write([]byte(content)) // may be less than it declares
		_ = w.Flush()
		return b.Bytes()
	}
	deep := strings.Repeat(`{"a":`, 20_000)
	many := `{"apiVersion":"v1","kind":"PodList","items":[` + strings.Repeat(`{"metadata":{"name":"p","namespace":"shop","uid":"1"}},`, 10) + `{}]}`
	limits := Limits{TotalBytes: 8 << 20, EntryBytes: 8 << 20, RatioFrom: 1 << 20}
	end := make([]byte, 2*tarBlock)
	for _, link := range []byte{tar.TypeSymlink, tar.TypeLink, tar.TypeFifo, tar.TypeBlock} {
		content := append(header(tar.Header{Name: file, Linkname: "/etc/passwd", Typeflag: link}, ""), end...)
		if _, err := readBytes(content, Options{}); err == nil || !strings.Contains(err.Error(), "no Kubernetes objects") {
			t.Errorf("type %q: %v", link, err)
		}
	}
	for want, content := range map[string][]byte{
		"unexpected EOF":     header(tar.Header{Name: file, Size: 1 << 50, Typeflag: tar.TypeReg}, podList),
		"nested":             tarOf(t, []txtar.File{{Name: file, Data: []byte(`{"apiVersion":"v1","kind":"Pod","x":` + deep)}}),
		"decompression bomb": gzipOf(t, tarOf(t, []txtar.File{{Name: file, Data: []byte(podList + strings.Repeat(" ", 7<<20))}})),
		"item 11":            tarOf(t, []txtar.File{{Name: file, Data: []byte(many)}}),
	} {
		if _, err := readBytes(content, Options{Limits: limits}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", want, err)
		}
	}
}
