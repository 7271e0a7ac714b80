//go:build unix

package backup

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-gc/kubectl-gc/internal/backup/undo"
	"github.com/kubectl-gc/kubectl-gc/internal/object"
)

// TestHostileNames (X21): no name ever becomes part of a path.
func TestHostileNames(t *testing.T) {
	w := create(t, head)
	names := []string{"../../../../tmp/x", "/etc/passwd", "..", ".", "a/b", `a\b`, "CON", strings.Repeat("x", 300), "ü\x1b[2J", "a\nb", "\u202e", "manifest.json"}
	for _, name := range names {
		r := object.Ref{APIVersion: name, Kind: name, Namespace: name, Name: name, UID: types.UID(name)}
		e, err := w.Add(r, Deleted, bytesOfHostile(t, r))
		must(t, err)
		if !strings.HasPrefix(e.File, "000000") {
			t.Errorf("%q is in %s", name, e.File)
		}
	}
	must(t, w.Seal())
	must(t, w.Close(noon))
	files, err := os.ReadDir(w.Path())
	must(t, err)
	if len(files) != len(names)+2 {
		t.Errorf("%d files for %d objects", len(files), len(names))
	}
	beside, err := os.ReadDir(filepath.Dir(w.Path()))
	must(t, err)
	if len(beside) != 1 {
		t.Errorf("files beside the backup: %v", beside)
	}
	b := open(t, w.Path())
	for i, name := range names {
		if b.Entries[i].Object.Name != name {
			t.Errorf("%q is read as %q", name, b.Entries[i].Object.Name)
		}
	}
}

func bytesOfHostile(t *testing.T, r object.Ref) []byte {
	t.Helper()
	raw, err := undo.Marshal(map[string]any{"apiVersion": r.APIVersion, "kind": r.Kind, "metadata": map[string]string{
		"namespace": r.Namespace, "name": r.Name, "uid": string(r.UID), "resourceVersion": "1"}})
	must(t, err)
	return raw
}

// TestPlacesThatAreNotOurs (X10): a backup is neither created nor read in a directory that others
// can write to or that is a link.
func TestPlacesThatAreNotOurs(t *testing.T) {
	base := t.TempDir()
	mkdir := func(name string, mode os.FileMode) string {
		path := filepath.Join(base, name)
		must(t, os.Mkdir(path, 0o700))
		must(t, os.Chmod(path, mode))
		return path
	}
	good := mkdir("good", 0o700)
	link, file := filepath.Join(base, "link"), filepath.Join(base, "file")
	must(t, os.Symlink(good, link))
	must(t, os.WriteFile(file, nil, 0o600))
	for path, want := range map[string]string{
		mkdir("group", 0o770): "is writable by other users (mode 0770)", mkdir("world", 0o707): "is writable by other users",
		link: "is a symbolic link", file: "is not a directory", file + "/x": "not a directory",
	} {
		if _, err := Create(path, head); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("Create in %s: %v, want %q", path, err, want)
		}
		if _, err := Open(path, nil); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("Open of %s: %v, want %q", path, err, want)
		}
	}
	if os.Geteuid() == 0 {
		foreign := mkdir("foreign", 0o700)
		must(t, os.Chown(foreign, 65534, 65534))
		if _, err := Create(foreign, head); err == nil || !strings.Contains(err.Error(), "another user") {
			t.Errorf("Create in a directory of another user: %v", err)
		}
	}
	if left, err := os.ReadDir(good); err != nil || len(left) != 0 {
		t.Errorf("something was written through a link: %v %v", left, err)
	}
}

// TestNotAPlainFile: the files of a backup must be regular, not links, pipes or directories, and
// opening a pipe does not block.
func TestNotAPlainFile(t *testing.T) {
	path := finished(t)
	elsewhere := filepath.Join(t.TempDir(), "elsewhere")
	for _, name := range []string{manifestName, journalName, "00000001.json"} {
		at := filepath.Join(path, name)
		content := read(t, path, name)
		must(t, os.WriteFile(elsewhere, content, 0o600))
		for kind, plant := range map[string]func() error{
			"link":      func() error { return os.Symlink(elsewhere, at) },
			"link near": func() error { return os.Symlink("00000002.json", at) },
			"pipe":      func() error { return syscall.Mkfifo(at, 0o600) },
			"directory": func() error { return os.Mkdir(at, 0o700) },
			"writable":  func() error { return cmpErr(os.WriteFile(at, content, 0o600), os.Chmod(at, 0o666)) },
		} {
			must(t, os.Remove(at))
			must(t, plant())
			if got := damaged(t, path); len(got) != 1 || !strings.Contains(got[0], name+": ") {
				t.Errorf("%s as a %s: %v", name, kind, got)
			}
		}
		must(t, os.Remove(at))
		write(t, path, name, content)
	}
	must(t, open(t, path).CheckCluster("kube-system-uid"))
}

func cmpErr(errs ...error) error {
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}

// TestPlantedFiles (X13): a file is not written through an existing one of its name.
func TestPlantedFiles(t *testing.T) {
	for _, name := range []string{journalName, manifestName + ".part", "00000001.json.part"} {
		w := create(t, head)
		victim := filepath.Join(t.TempDir(), "victim")
		must(t, os.WriteFile(victim, []byte("mine"), 0o600))
		must(t, os.Symlink(victim, filepath.Join(w.Path(), name)))
		_, err := w.Add(ref("Pod", "a"), Deleted, bytesOf(ref("Pod", "a"), "1"))
		if sealed := w.Seal(); err == nil && sealed == nil {
			t.Errorf("%s: a planted link was taken", name)
		}
		if content := read(t, filepath.Dir(victim), "victim"); string(content) != "mine" {
			t.Errorf("%s: the victim has %q", name, content)
		}
		if _, err := w.Intent(Intent{Object: ref("Pod", "a"), Verb: "PATCH"}); err == nil {
			t.Errorf("%s: a request is allowed", name)
		}
		_ = w.Close(noon)
	}
}

// TestUmask (X10): the modes do not depend on the umask.
func TestUmask(t *testing.T) {
	old := syscall.Umask(0)
	defer syscall.Umask(old)
	path := finished(t)
	for _, name := range []string{".", manifestName, journalName, "00000001.json"} {
		info, err := os.Stat(filepath.Join(path, name))
		must(t, err)
		if info.Mode().Perm()&0o077 != 0 {
			t.Errorf("%s: %s", name, fmt.Sprint(info.Mode()))
		}
	}
}
