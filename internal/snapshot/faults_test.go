package snapshot

import (
	"archive/tar"
	"bytes"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/klauspost/compress/zstd"
	"github.com/rogpeppe/go-internal/txtar"

	"github.com/kubectl-gc/kubectl-gc/internal/manifest"
)

const podList = `{"apiVersion":"v1","kind":"PodList","items":[{"metadata":{"name":"p","namespace":"shop","uid":"1"}}]}`

func readBytes(content []byte, o Options) (*Snapshot, error) {
	o.Stdin = bytes.NewReader(content)
	return ReadFiles([]string{"-"}, o)
}

func writeFile(t testing.TB, path string, content []byte) string {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, content, 0o644); err != nil {
		t.Fatal(err)
	}
	return path
}

// N01: an input without any content is an error, unless another input has some. An empty list is
// content.
func TestN01EmptyInputs(t *testing.T) {
	status := `{"kind":"Status","apiVersion":"v1","status":"Failure","code":403}`
	for content, want := range map[string]string{
		"":             "standard input: it holds no Kubernetes objects",
		"\n":           "standard input: it holds no Kubernetes objects",
		"---\n# x\n":   "standard input: it holds no Kubernetes objects",
		status:         "standard input: it holds no Kubernetes objects (document 1: line 1: v1 Status: metadata.name is missing)",
		"some notes":   "standard input: it holds no Kubernetes objects (document 1: line 1: a YAML document that is neither mapping nor list)",
		"\x1f\x8b\x08": "standard input: gzip: unexpected EOF",
	} {
		if _, err := readBytes([]byte(content), Options{}); err == nil || err.Error() != want {
			t.Errorf("%q: %v", content, err)
		}
		if !strings.Contains(want, "no Kubernetes objects") {
			continue
		}
		pods := writeFile(t, filepath.Join(t.TempDir(), "pods.json"), []byte(podList))
		s, err := ReadFiles([]string{"-", pods}, Options{Stdin: strings.NewReader(content)})
		if err != nil || len(s.Objects) != 1 || len(s.Problems) == 0 || s.Problems[0].Kind != NoObject {
			t.Errorf("%q beside a list: %v, %v", content, err, s)
		}
	}
	if _, err := readBytes([]byte(`{"apiVersion":"v1","kind":"List","items":[]}`), Options{}); err != nil {
		t.Errorf("an empty list: %v", err)
	}
}

// Documents that are no objects are skipped at any position; truncated ones are not.
func TestPassedOver(t *testing.T) {
	files := []txtar.File{
		{Name: "d/version.yaml", Data: []byte("apiVersion: troubleshoot.sh/v1beta2\nkind: SupportBundle\nspec: {}\n")},
		{Name: "d/chart/deploy.yaml", Data: []byte("apiVersion: v1\nkind: Pod\nmetadata: {{ .Values.meta }}\n{{- end }}\n")},
		{Name: "d/run/run-events.json", Data: []byte(`{"metadata":{},"items":[{"metadata":{"name":"e","managedFields":[{"apiVersion":"v1"}]}}]}`)},
		{Name: "d/resources/ns/shop/core_v1_pods.json", Data: []byte(podList)},
	}
	s, err := readBytes(tarOf(t, files), Options{})
	if err != nil {
		t.Fatal(err)
	}
	const want = "skipped 3 documents that are not Kubernetes objects, first standard input: d/chart/deploy.yaml: "
	if len(s.Objects) != 1 || len(s.Problems) != 1 || !strings.HasPrefix(s.Problems[0].Message, want) {
		t.Errorf("%d objects, %v", len(s.Objects), s.Problems)
	}
	files[2].Data = files[2].Data[:len(files[2].Data)-3]
	if _, err := readBytes(tarOf(t, files), Options{}); err == nil || !strings.Contains(err.Error(), "d/run/run-events.json: document 1: line 1") {
		t.Errorf("a document that is cut off: %v", err)
	}
}

// N02: truncation is an error that names the file, in plain text, in an archive, and in the
// surrounding compression.
func TestN02Truncated(t *testing.T) {
	inner := []txtar.File{{Name: "resources/ns/shop/core_v1_pods.json", Data: []byte(podList[:len(podList)-20])}}
	whole := gzipOf(t, tarOf(t, []txtar.File{{Name: "resources/ns/shop/core_v1_pods.json", Data: []byte(podList)}}))
	tests := map[string]struct {
		content []byte
		names   string
	}{
		"json":       {[]byte(podList[:len(podList)-3]), "standard input"},
		"in archive": {tarOf(t, inner), "resources/ns/shop/core_v1_pods.json"},
		"gzip":       {whole[:len(whole)-12], "standard input"},
		"tar":        {tarOf(t, inner)[:700], "standard input"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			_, err := readBytes(test.content, Options{})
			if err == nil || !strings.Contains(err.Error(), test.names) {
				t.Errorf("error %v, want one that names %q", err, test.names)
			}
		})
	}
}

// N02: with AllowPartial a broken file is a gap, and its kind is not covered, not even by the part
// that was read or by another list.
func TestN02TruncatedAllowed(t *testing.T) {
	files := []txtar.File{
		{Name: "resources/ns/shop/core_v1_pods.json", Data: []byte(podList[:len(podList)-3])},
		{Name: "resources/ns/pay/core_v1_pods.json", Data: []byte(strings.ReplaceAll(podList, "shop", "pay"))},
	}
	s, err := readBytes(tarOf(t, files), Options{AllowPartial: true})
	if err != nil {
		t.Fatal(err)
	}
	r := preferred(t, s, pods)
	if s.Covers(r, "shop") || !strings.HasPrefix(s.Why(r, "shop"), "Truncated: ") {
		t.Errorf("pods in shop: covered %v, why %q", s.Covers(r, "shop"), s.Why(r, "shop"))
	}
	if !s.Covers(r, "pay") {
		t.Error("pods in pay are not covered")
	}
	if len(s.Problems) != 1 || s.Problems[0].Kind != Unread {
		t.Errorf("problems %v", s.Problems)
	}
}

// N11: an object without a UID is kept with a made-up one that is recognisable.
func TestN11MissingUID(t *testing.T) {
	s, err := readBytes([]byte(`{"apiVersion":"apps/v1","kind":"Deployment","metadata":{"name":"web","namespace":"shop"}}`), Options{})
	if err != nil {
		t.Fatal(err)
	}
	if uid := s.Objects[0].UID; uid != MissingUID+"deployments.apps/shop/web" {
		t.Errorf("uid %q", uid)
	}
}

// N18: a snapshot of some kinds has gaps for all others, unless the user vouches for it.
func TestN18SomeKindsOnly(t *testing.T) {
	s, err := readBytes([]byte(podList), Options{})
	if err != nil {
		t.Fatal(err)
	}
	if r := preferred(t, s, deployments); s.Covers(r, "shop") || s.Why(r, "shop") == "" {
		t.Error("deployments are covered by a list of pods")
	}
	s, err = readBytes([]byte(podList), Options{TreatMissingAsAbsent: true})
	if err != nil {
		t.Fatal(err)
	}
	if r := preferred(t, s, deployments); !s.Covers(r, "shop") || s.Why(r, "shop") != "" {
		t.Error("deployments are not covered although the user says so")
	}
}

// N19: inputs of two clusters are refused in any form.
func TestN19TwoClusters(t *testing.T) {
	dir := t.TempDir()
	one := writeFile(t, filepath.Join(dir, "one.json"), []byte(`{"apiVersion":"v1","kind":"Namespace","metadata":{"name":"kube-system","uid":"a"}}`))
	two := writeFile(t, filepath.Join(dir, "two.yaml"), []byte("apiVersion: v1\nkind: Namespace\nmetadata: {name: kube-system, uid: b}\n"))
	if _, err := ReadFiles([]string{one, two}, Options{}); err == nil || !strings.Contains(err.Error(), "two clusters") {
		t.Errorf("error %v", err)
	}
	if _, err := ReadFiles([]string{one, one}, Options{}); err != nil {
		t.Errorf("the same cluster twice: %v", err)
	}
	s, err := ReadFiles([]string{one}, Options{})
	if err != nil {
		t.Fatal(err)
	}
	var stored bytes.Buffer
	if err := s.Write(&stored, Zstd, Evidence{}); err != nil {
		t.Fatal(err)
	}
	three := writeFile(t, filepath.Join(dir, "three"), stored.Bytes())
	if _, err := ReadFiles([]string{three, two}, Options{}); err == nil || !strings.Contains(err.Error(), "two clusters") {
		t.Errorf("a stored snapshot and a file of another cluster: error %v", err)
	}
}

// N23: decompression bombs hit a limit in any wrapping.
func TestN23Bombs(t *testing.T) {
	var packed bytes.Buffer
	w, err := zstd.NewWriter(&packed)
	if err != nil {
		t.Fatal(err)
	}
	padding := strings.Repeat(" ", 1<<20)
	if _, err := io.WriteString(w, `{"apiVersion":"v1","kind":"PodList","items":[`); err != nil {
		t.Fatal(err)
	}
	for range 16 {
		if _, err := io.WriteString(w, padding); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	for name, limits := range map[string]Limits{
		"total": {TotalBytes: 1 << 20},
		"entry": {TotalBytes: 1 << 30, EntryBytes: 1 << 20},
		"ratio": {RatioFrom: 1 << 20, Ratio: 100},
	} {
		for form, content := range map[string][]byte{
			"zstd":           packed.Bytes(),
			"zstd in gzip":   gzipOf(t, packed.Bytes()),
			"zstd in a tar":  tarOf(t, []txtar.File{{Name: "pods.json.zst", Data: packed.Bytes()}}),
			"allowed broken": packed.Bytes(),
		} {
			_, err := readBytes(content, Options{Limits: limits, AllowPartial: form == "allowed broken"})
			if name == "entry" && form != "zstd in a tar" {
				continue
			}
			if !errors.Is(err, ErrLimit) {
				t.Errorf("%s, %s: error %v, want a limit", name, form, err)
			}
		}
	}
	nested := []byte(podList)
	for range 5 {
		nested = gzipOf(t, nested)
	}
	if _, err := readBytes(nested, Options{}); err == nil || !strings.Contains(err.Error(), "compressed more than") {
		t.Errorf("five gzips: error %v", err)
	}
}

func TestLimitsAreChecked(t *testing.T) {
	if _, err := readBytes(nil, Options{Limits: Limits{TotalBytes: -1}}); err == nil {
		t.Error("a negative limit must be refused")
	}
	files := make([]txtar.File, 11)
	for i := range files {
		files[i].Name = "log" + string(rune('a'+i))
	}
	if _, err := readBytes(tarOf(t, files), Options{Limits: Limits{Entries: 10}}); !errors.Is(err, ErrLimit) {
		t.Errorf("eleven files: error %v", err)
	}
}

// N24: no file is ever written, so names that lead out of the archive are harmless. Links and
// devices are skipped. Messages stay printable.
func TestN24HostileTar(t *testing.T) {
	var b bytes.Buffer
	w := tar.NewWriter(&b)
	for _, h := range []*tar.Header{
		{Name: "../../../etc/pods.json", Typeflag: tar.TypeReg, Size: int64(len(podList))},
		{Name: "/abs/link.json", Typeflag: tar.TypeSymlink, Linkname: "/etc/passwd"},
		{Name: "hard.json", Typeflag: tar.TypeLink, Linkname: "../../../etc/pods.json"},
		{Name: "pipe.json", Typeflag: tar.TypeFifo},
		{Name: "device.json", Typeflag: tar.TypeChar},
	} {
		if err := w.WriteHeader(h); err != nil {
			t.Fatal(err)
		}
		if h.Size > 0 {
			if _, err := io.WriteString(w, podList); err != nil {
				t.Fatal(err)
			}
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	s, err := readBytes(b.Bytes(), Options{})
	if err != nil || len(s.Objects) != 1 {
		t.Fatalf("%v", err)
	}
	hostile := []txtar.File{{Name: "a\x1b[2J\nb.json", Data: []byte(`{"apiVersion":`)}}
	_, err = readBytes(tarOf(t, hostile), Options{})
	if err == nil || strings.ContainsAny(err.Error(), "\x1b\n") {
		t.Errorf("error %q, want one without control characters", err)
	}
}

// N25: only regular files in a directory are read.
func TestN25OddDirectory(t *testing.T) {
	dir := t.TempDir()
	writeFile(t, filepath.Join(dir, "pods.json"), []byte(podList))
	writeFile(t, filepath.Join(dir, "empty.json"), nil)
	for name, target := range map[string]string{"loop": dir, "dangling.json": "/nowhere", "zero.json": "/dev/zero"} {
		if err := os.Symlink(target, filepath.Join(dir, name)); err != nil {
			t.Fatal(err)
		}
	}
	s, err := ReadFiles([]string{dir}, Options{})
	if err != nil || len(s.Objects) != 1 {
		t.Fatalf("%v", err)
	}
	if _, err := ReadFiles([]string{"/dev/zero"}, Options{}); err == nil || !strings.Contains(err.Error(), "device") {
		t.Errorf("/dev/zero: error %v", err)
	}
	if _, err := ReadFiles([]string{filepath.Join(dir, "missing")}, Options{AllowPartial: true}); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("a file that is not there: error %v", err)
	}
}

// N26: a file that grows while it is read is not a complete list.
func TestN26FileChanges(t *testing.T) {
	path := writeFile(t, filepath.Join(t.TempDir(), "pods.json"), []byte(podList))
	r := &reader{}
	err := r.readPath(&input{meter: meter{in: &counter{}}}, path, func(*os.File, io.Reader) error {
		return os.WriteFile(path, []byte(podList+podList), 0o644)
	})
	if err == nil || !strings.Contains(err.Error(), "changed while") {
		t.Errorf("error %v", err)
	}
}

// N28: in a directory with foreign files only recognised ones are read.
func TestN28ForeignFiles(t *testing.T) {
	s, err := readBytes(tarOf(t, []txtar.File{
		{Name: "dump/pods.json", Data: []byte(podList)},
		{Name: "dump/pods.log", Data: []byte("kind: Pod\n")},
		{Name: "dump/package.json", Data: []byte(`{"name":"x","version":"1"}`)},
		{Name: "dump/values.yaml", Data: []byte("a: {{ b }}\n")},
		{Name: "dump/._pods.json", Data: []byte("\x00\x05")},
	}), Options{})
	if err != nil {
		t.Fatal(err)
	}
	if len(s.Objects) != 1 || s.Source.Ignored != 4 {
		t.Errorf("%d objects, %d files ignored; want 1 and 4", len(s.Objects), s.Source.Ignored)
	}
}

// An input with only foreign files is a mistake, not an empty cluster.
func TestN28NothingRecognised(t *testing.T) {
	for name, content := range map[string][]byte{
		"tar":  tarOf(t, []txtar.File{{Name: "a.log"}, {Name: "package.json", Data: []byte(`{"name":"x"}`)}}),
		"json": []byte(`{"name":"x"}`),
	} {
		if s, err := readBytes(content, Options{}); err == nil {
			t.Errorf("%s: read as %d objects", name, len(s.Objects))
		}
	}
}

// The error of a broken single file has the position.
func TestErrorsNameThePlace(t *testing.T) {
	_, err := readBytes([]byte("apiVersion: v1\nkind: Pod\nmetadata: {name: a, uid: '1'}\n---\napiVersion: v1\nkind: Pod\nmetadata: {name: [}\n"), Options{})
	var p *manifest.Problem
	if !errors.As(err, &p) || p.File != "standard input" || p.Document != 2 || p.Line == 0 {
		t.Errorf("error %v", err)
	}
}
