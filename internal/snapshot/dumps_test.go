package snapshot

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/txtar"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

var rewrite = flag.Bool("rewrite", false, "write the wanted results of testdata/dumps anew")

// TestDumps reads every dump in testdata/dumps as a directory and as every kind of archive. A dump
// is a txtar of its files, of questions (`ask`: a resource and a namespace each) and of the
// expected snapshot (`want`).
func TestDumps(t *testing.T) {
	paths, err := filepath.Glob("testdata/dumps/*.txtar")
	if err != nil || len(paths) == 0 {
		t.Fatalf("no dumps: %v", err)
	}
	for _, path := range paths {
		t.Run(strings.TrimSuffix(filepath.Base(path), ".txtar"), func(t *testing.T) {
			d := readDump(t, path)
			inputs := d.inputs(t)
			if *rewrite {
				d.rewrite(t, d.result(inputs["directory"]))
			}
			for form, input := range inputs {
				got := d.result(input)
				if diff := cmp.Diff(d.want, got); diff != "" {
					t.Errorf("as %s (-want +got):\n%s", form, diff)
				}
			}
		})
	}
}

// dump is one file of testdata/dumps.
type dump struct {
	path    string
	archive *txtar.Archive
	files   []txtar.File
	ask     []string
	want    string
}

func readDump(t *testing.T, path string) *dump {
	t.Helper()
	archive, err := txtar.ParseFile(path)
	if err != nil {
		t.Fatal(err)
	}
	d := &dump{path: path, archive: archive}
	for _, f := range archive.Files {
		switch f.Name {
		case "ask":
			d.ask = strings.Split(strings.TrimSpace(string(f.Data)), "\n")
		case "want":
			d.want = string(f.Data)
		default:
			d.files = append(d.files, f)
		}
	}
	return d
}

func (d *dump) rewrite(t *testing.T, got string) {
	t.Helper()
	files := slices.DeleteFunc(slices.Clone(d.archive.Files), func(f txtar.File) bool { return f.Name == "want" })
	files = append(files, txtar.File{Name: "want", Data: []byte(got)})
	if err := os.WriteFile(d.path, txtar.Format(&txtar.Archive{Comment: d.archive.Comment, Files: files}), 0o644); err != nil {
		t.Fatal(err)
	}
	d.want = got
}

// inputs writes the dump in all forms. A dump of one file named `stream` has only that form, plain
// and compressed.
func (d *dump) inputs(t *testing.T) map[string]string {
	t.Helper()
	dir := t.TempDir()
	write := func(name string, content []byte) string {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, content, 0o644); err != nil {
			t.Fatal(err)
		}
		return path
	}
	if len(d.files) == 1 && strings.HasPrefix(d.files[0].Name, "stream") {
		content := d.files[0].Data
		return map[string]string{"directory": write("plain", content), "gzip": write("gzip", gzipOf(t, content))}
	}
	for _, f := range d.files {
		write(filepath.Join("tree", f.Name), f.Data)
	}
	tarred := tarOf(t, d.files)
	return map[string]string{
		"directory":       filepath.Join(dir, "tree"),
		"tar":             write("a", tarred),
		"tar.gz":          write("b", gzipOf(t, tarred)),
		"tar.gz, gzipped": write("c", gzipOf(t, gzipOf(t, tarred))),
		"tar, reversed":   write("f", tarOf(t, reversed(d.files))),
		"zip":             write("d", zipOf(t, d.files)),
		"zip, gzipped":    write("e", gzipOf(t, zipOf(t, d.files))),
	}
}

// reversed returns the dump in another order: the result must not depend on it.
func reversed(files []txtar.File) []txtar.File {
	files = slices.Clone(files)
	slices.Reverse(files)
	return files
}

func tarOf(t testing.TB, files []txtar.File) []byte {
	t.Helper()
	var b bytes.Buffer
	w := tar.NewWriter(&b)
	for _, f := range files {
		if err := w.WriteHeader(&tar.Header{Name: "./" + f.Name, Mode: 0o644, Size: int64(len(f.Data))}); err != nil {
			t.Fatal(err)
		}
		if _, err := w.Write(f.Data); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func zipOf(t testing.TB, files []txtar.File) []byte {
	t.Helper()
	var b bytes.Buffer
	w := zip.NewWriter(&b)
	for _, f := range files {
		e, err := w.Create(f.Name)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := e.Write(f.Data); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func gzipOf(t testing.TB, content []byte) []byte {
	t.Helper()
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	if _, err := w.Write(content); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// result returns a snapshot as text, with the answers to the dump's questions.
func (d *dump) result(input string) string {
	hide := strings.NewReplacer(input+": ", "", input+"/", "", input, "INPUT")
	s, err := ReadFiles([]string{input}, Options{})
	if err != nil {
		return "error: " + hide.Replace(err.Error()) + "\n"
	}
	var b strings.Builder
	if s.Source.KubernetesVersion != "" {
		fmt.Fprintf(&b, "version %s\n", s.Source.KubernetesVersion)
	}
	if s.Source.ClusterUID != "" {
		fmt.Fprintf(&b, "cluster %s\n", s.Source.ClusterUID)
	}
	if s.Source.Ignored > 0 {
		fmt.Fprintf(&b, "ignored %d\n", s.Source.Ignored)
	}
	for _, o := range s.Objects {
		fmt.Fprintf(&b, "%s uid=%s", o.Ref, o.UID)
		for _, owner := range o.Owners {
			fmt.Fprintf(&b, " owner=%s/%s/%s/%s", owner.APIVersion, owner.Kind, owner.Name, owner.UID)
		}
		if o.ResourceVersion != "" {
			fmt.Fprintf(&b, " rv=%s", o.ResourceVersion)
		}
		b.WriteByte('\n')
	}
	for _, r := range s.Resources.All() {
		if r.Custom || r.Guessed {
			fmt.Fprintf(&b, "resource %s %s %s namespaced=%v custom=%v guessed=%v\n", r.APIVersion(), r.Name, r.Kind, r.Namespaced, r.Custom, r.Guessed)
		}
	}
	for _, p := range s.Problems {
		fmt.Fprintf(&b, "problem %s: %s\n", p.Kind, hide.Replace(p.File+" "+p.Message))
	}
	for _, question := range d.ask {
		b.WriteString(hide.Replace(answer(s, question)))
	}
	return b.String()
}

// answer reports whether `pods shop` or `nodes` is covered. The namespace `*` means all namespaces.
func answer(s *Snapshot, question string) string {
	name, namespace, _ := strings.Cut(question, " ")
	r, ok := s.Resources.Preferred(schema.ParseGroupResource(name))
	if !ok {
		return fmt.Sprintf("ask %s: no such resource\n", question)
	}
	if s.Covers(r, strings.TrimSuffix(namespace, "*")) {
		return fmt.Sprintf("ask %s: covered\n", question)
	}
	return fmt.Sprintf("ask %s: %s\n", question, s.Why(r, strings.TrimSuffix(namespace, "*")))
}
