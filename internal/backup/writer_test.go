package backup

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-gc/kubectl-gc/internal/object"
)

var (
	digest = "sha256:1ac5b9a2" + strings.Repeat("0", 56)
	noon   = time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)
	head   = Head{Tool: "v0.2.0", Command: "collect", PlanDigest: digest, Created: noon,
		Cluster: Cluster{UID: "kube-system-uid", Server: "https://10.0.0.1:6443"}}
)

func ref(kind, name string) object.Ref {
	return object.Ref{APIVersion: "v1", Kind: kind, Namespace: "shop", Name: name, UID: types.UID("uid-of-" + name)}
}

// bytesOf returns an object as a server sends it, with unknown fields.
func bytesOf(r object.Ref, version string) []byte {
	return fmt.Appendf(nil, `{"kind":%q,"apiVersion":%q,"metadata":{"name":%q,"namespace":%q,"uid":%q,"resourceVersion":%q,`+
		`"managedFields":[{"manager":"<&>"}]},"n":[9007199254740993,1e400,0.10,-0],"status":{"x":null}}`+"\n",
		r.Kind, r.APIVersion, r.Name, r.Namespace, r.UID, version)
}

func create(t *testing.T, h Head) *Writer {
	t.Helper()
	w, err := Create(filepath.Join(t.TempDir(), "state", "backups"), h)
	if err != nil {
		t.Fatal(err)
	}
	return w
}

func add(t *testing.T, w *Writer, r object.Ref, version string) Entry {
	t.Helper()
	e, err := w.Add(r, Deleted, bytesOf(r, version))
	if err != nil {
		t.Fatal(err)
	}
	return e
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func open(t *testing.T, path string) *Backup {
	t.Helper()
	b, err := Open(path, nil)
	must(t, err)
	t.Cleanup(func() { must(t, b.Close()) })
	return b
}

// run makes a backup with two objects, a Secret without bytes, a newer version of the first, and
// requests with all outcomes.
func run(t *testing.T) *Writer {
	t.Helper()
	w := create(t, head)
	add(t, w, ref("Pod", "a"), "7")
	add(t, w, ref("Secret", "s"), "8")
	add(t, w, ref("ConfigMap", "c"), "9")
	must(t, w.Seal())
	send := func(i Intent) int {
		n, err := w.Intent(i)
		must(t, err)
		return n
	}
	first := send(Intent{Time: noon, Object: ref("Pod", "a"), Verb: "DELETE", ResourceVersion: "7", Body: []byte(`{"preconditions": {"uid":"<x>"}}`)})
	must(t, w.Result(first, Result{Time: noon.Add(time.Second), Outcome: Refused, Code: 409, Message: "changed\nmeanwhile\x1b[31m"}))
	add(t, w, ref("Pod", "a"), "10")
	second := send(Intent{Time: noon, Object: ref("Pod", "a"), Verb: "DELETE", ResourceVersion: "10"})
	third := send(Intent{Time: noon, Object: ref("Secret", "s"), Verb: "DELETE"})
	must(t, w.Result(second, Result{Time: noon, Outcome: Confirmed, Code: 200}))
	must(t, w.Result(third, Result{Time: noon, Outcome: Unknown}))
	return w
}

func TestRoundTrip(t *testing.T) {
	w := run(t)
	must(t, w.Close(noon.Add(time.Hour)))
	if got, want := filepath.Base(w.Path()), "20261121T120000Z-1ac5b9a2"; got != want {
		t.Errorf("the directory is %s, want %s", got, want)
	}
	b := open(t, w.Path())
	if diff := cmp.Diff(head, b.Head); diff != "" {
		t.Error(diff)
	}
	var entries []string
	for i := range b.Entries {
		e := &b.Entries[i]
		entries = append(entries, fmt.Sprintf("%s %s@%s %s %s%s", e.Action, e.Object, e.ResourceVersion, e.Object.UID, e.File, e.Why))
		raw, err := b.Raw(e)
		must(t, err)
		if want := string(bytesOf(e.Object, e.ResourceVersion)); e.Restorable && string(raw) != want || !e.Restorable && raw != nil {
			t.Errorf("%s: the bytes are\n%s\nwant\n%s", e.Object, raw, want)
		}
	}
	if diff := cmp.Diff([]string{
		"deleted v1 Pod shop/a@10 uid-of-a 00000003.json",
		"deleted v1 Secret shop/s@8 uid-of-s SecretLeftOut",
		"deleted v1 ConfigMap shop/c@9 uid-of-c 00000002.json",
	}, entries); diff != "" {
		t.Error(diff)
	}
	var lines []string
	for _, r := range b.Journal {
		lines = append(lines, fmt.Sprintf("%d %s %s %s@%s %s of %d: %s %d %q %s", r.Seq, r.Kind, r.Time.Format("15:04:05"), r.Intent.Verb,
			r.Intent.ResourceVersion, r.Intent.Body, r.Of, r.Result.Outcome, r.Result.Code, r.Result.Message, r.Entry.File))
	}
	if diff := cmp.Diff([]string{
		`1 sealed 12:00:00 @  of 0:  0 "" `,
		`2 intent 12:00:00 DELETE@7 {"preconditions":{"uid":"<x>"}} of 0:  0 "" `,
		`3 result 12:00:01 @  of 2: refused 409 "changed\nmeanwhile\x1b[31m" `,
		`4 saved 00:00:00 @  of 0:  0 "" 00000003.json`,
		`5 intent 12:00:00 DELETE@10  of 0:  0 "" `,
		`6 intent 12:00:00 DELETE@  of 0:  0 "" `,
		`7 result 12:00:00 @  of 5: confirmed 200 "" `,
		`8 result 12:00:00 @  of 6: unknown 0 "" `,
		`9 end 13:00:00 @  of 0:  0 "" `,
	}, lines); diff != "" {
		t.Error(diff)
	}
	if u := b.Unanswered(); b.Torn || !b.Ended || len(u) != 1 || u[0].Seq != 6 {
		t.Errorf("torn %v, ended %v, unanswered %v", b.Torn, b.Ended, u)
	}
}

// TestModes: other users can't read a backup.
func TestModes(t *testing.T) {
	w := run(t)
	must(t, w.Close(noon))
	modes := map[string]fs.FileMode{}
	must(t, filepath.WalkDir(filepath.Dir(w.Path()), func(path string, d fs.DirEntry, err error) error {
		must(t, err)
		info, err := d.Info()
		must(t, err)
		modes[filepath.Base(path)] = info.Mode()
		return nil
	}))
	const dir, file = fs.ModeDir | 0o700, fs.FileMode(0o600)
	want := map[string]fs.FileMode{
		"backups": dir, "20261121T120000Z-1ac5b9a2": dir,
		"00000001.json": file, "00000002.json": file, "00000003.json": file, "manifest.json": file, "journal.jsonl": file,
	}
	if diff := cmp.Diff(want, modes); diff != "" {
		t.Error(diff)
	}
}

// TestSecrets: the bytes of a Secret are kept only on request; a custom kind of the same name is no
// Secret.
func TestSecrets(t *testing.T) {
	custom := ref("Secret", "custom")
	custom.APIVersion = "example.com/v1"
	for _, asked := range []bool{false, true} {
		h := head
		h.Secrets = asked
		w := create(t, h)
		if e := add(t, w, ref("Secret", "s"), "1"); e.Restorable != asked || (e.Why == SecretLeftOut) == asked {
			t.Errorf("asked %v: %+v", asked, e)
		}
		if e := add(t, w, custom, "1"); !e.Restorable {
			t.Errorf("%+v", e)
		}
		must(t, w.Seal())
		must(t, w.Close(noon))
		if b := open(t, w.Path()); b.Head.Secrets != asked || b.Entries[0].Restorable != asked {
			t.Errorf("asked %v: %+v", asked, b.Entries)
		}
	}
}

// TestNoWriteWithoutBackup: a DELETE requires a backup of the version that it destroys, or the
// user's decision against one.
func TestNoWriteWithoutBackup(t *testing.T) {
	w := create(t, head)
	add(t, w, ref("Pod", "a"), "7")
	del := func(r object.Ref, version string) error {
		_, err := w.Intent(Intent{Time: noon, Object: r, Verb: "DELETE", ResourceVersion: version})
		return err
	}
	if err := del(ref("Pod", "a"), "7"); !errors.Is(err, ErrUnsealed) {
		t.Errorf("before Seal: %v", err)
	}
	must(t, w.Seal())
	other := ref("Pod", "a")
	other.UID = "another"
	for _, c := range []struct {
		of      object.Ref
		version string
	}{{ref("Pod", "a"), "8"}, {ref("Pod", "b"), "7"}, {ref("Pod", "b"), ""}, {other, "7"}} {
		if err := del(c.of, c.version); !errors.Is(err, ErrNotSaved) {
			t.Errorf("%s@%s: %v", c.of, c.version, err)
		}
	}
	must(t, del(ref("Pod", "a"), "7"))
	must(t, del(ref("Pod", "a"), ""))
	_, err := w.AddUnsaved(ref("Pod", "b"), "7", Deleted, BackupRefused)
	must(t, err)
	must(t, del(ref("Pod", "b"), "7"))
	must(t, w.Close(noon))
	if err := del(ref("Pod", "a"), "7"); err == nil {
		t.Error("a request was written down behind the end")
	}
}

// TestWrongUse: calls that would make the backup unreadable fail and leave no trace in it.
func TestWrongUse(t *testing.T) {
	for _, h := range []Head{{Created: noon}, {PlanDigest: "sha256:../../x", Created: noon}, {PlanDigest: digest}} {
		if _, err := Create(t.TempDir(), h); err == nil {
			t.Errorf("%+v makes a backup", h)
		}
	}
	w := create(t, head)
	pod := ref("Pod", "a")
	for name, raw := range map[string]string{
		"no JSON": `{`, "null": `null`, "a list": `[]`, "another": string(bytesOf(ref("Pod", "b"), "1")),
		"no version": string(bytesOf(pod, "")), "two": string(bytesOf(pod, "1")) + "{}",
		"too long": `{"x":"` + strings.Repeat("x", maxObject) + `"}`,
	} {
		if _, err := w.Add(pod, Deleted, []byte(raw)); err == nil {
			t.Errorf("%s is taken for the object", name)
		}
	}
	if _, err := w.Add(pod, "gone", bytesOf(pod, "1")); err == nil {
		t.Error("an unknown action")
	}
	if _, err := w.AddUnsaved(pod, "1", Deleted, ""); err == nil {
		t.Error("no reason")
	}
	must(t, w.Seal())
	if err := w.Seal(); err == nil {
		t.Error("sealed twice")
	}
	if _, err := w.Intent(Intent{Object: pod, Verb: "PATCH", Body: []byte(`{`)}); err == nil {
		t.Error("a body that is no JSON")
	}
	n, err := w.Intent(Intent{Object: pod, Verb: "PATCH", Body: []byte(`{}`)})
	must(t, err)
	for _, bad := range []error{w.Result(n+1, Result{Outcome: Confirmed}), w.Result(n, Result{}), w.Result(0, Result{Outcome: Refused})} {
		if bad == nil {
			t.Error("a result of nothing, or none")
		}
	}
	must(t, w.Result(n, Result{Outcome: Confirmed}))
	if err := w.Result(n, Result{Outcome: Confirmed}); err == nil {
		t.Error("two results")
	}
	must(t, w.Close(noon))
	if b := open(t, w.Path()); len(b.Entries) != 0 || len(b.Journal) != 4 {
		t.Errorf("%+v", b)
	}
}

// TestManyAtOnce: concurrent requests make one valid chain.
func TestManyAtOnce(t *testing.T) {
	w := create(t, head)
	const n = 50
	for i := range n {
		add(t, w, ref("Pod", fmt.Sprint(i)), "1")
	}
	must(t, w.Seal())
	var all sync.WaitGroup
	for i := range n {
		all.Go(func() {
			seq, err := w.Intent(Intent{Time: noon, Object: ref("Pod", fmt.Sprint(i)), Verb: "DELETE", ResourceVersion: "1"})
			if err == nil {
				err = w.Result(seq, Result{Time: noon, Outcome: Confirmed, Code: 200})
			}
			if err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	must(t, w.Close(noon))
	if b := open(t, w.Path()); len(b.Journal) != 2*n+2 || len(b.Unanswered()) != 0 {
		t.Errorf("%d lines, %d unanswered", len(b.Journal), len(b.Unanswered()))
	}
}

// TestSameSecond: two runs of one plan in one second do not share a backup.
func TestSameSecond(t *testing.T) {
	dir := t.TempDir()
	must(t, os.Chmod(dir, 0o700))
	names := map[string]bool{}
	for range 3 {
		w, err := Create(dir, head)
		must(t, err)
		must(t, w.Close(noon))
		names[filepath.Base(w.Path())] = true
	}
	if len(names) != 3 || !names["20261121T120000Z-1ac5b9a2-3"] {
		t.Errorf("%v", names)
	}
}

// full is a file on a disk with room for some bytes.
type full struct {
	File
	room *int
	// flush makes only Sync fail.
	flush bool
}

func (f *full) Write(b []byte) (int, error) {
	if *f.room -= len(b); *f.room >= 0 || f.flush {
		return f.File.Write(b)
	}
	n, _ := f.File.Write(b[:len(b)+max(*f.room, -len(b))])
	return n, syscall.ENOSPC
}

func (f *full) Sync() error {
	if *f.room < 0 {
		return syscall.ENOSPC
	}
	return f.File.Sync()
}

// TestDiskFull (L54): wherever the disk becomes full, no request is allowed afterwards, and the
// records before are readable.
func TestDiskFull(t *testing.T) {
	for _, flush := range []bool{false, true} {
		for room := 0; room < 3000; room += 173 {
			left := room
			w := create(t, head)
			onDisk := w.dir.Create
			w.dir.Create = func(name string) (File, error) {
				f, err := onDisk(name)
				return &full{f, &left, flush}, err
			}
			allowed := attempt(w)
			if left >= 0 {
				t.Fatalf("room for %d bytes was not used up", room)
			}
			_, err := w.Intent(Intent{Time: noon, Object: ref("Pod", "a"), Verb: "DELETE", ResourceVersion: "7"})
			if err == nil {
				t.Fatalf("room for %d: a request is allowed on a full disk", room)
			}
			_ = w.Close(noon)
			b, err := Open(w.Path(), nil)
			switch {
			case allowed == 0 && err != nil:
			case err != nil:
				t.Fatalf("room for %d, %d requests were allowed: %v", room, allowed, err)
			default:
				if got := len(b.Journal) / 2; got < allowed {
					t.Fatalf("room for %d: %d requests were allowed, %d stand in the journal", room, allowed, got)
				}
				must(t, b.Close())
			}
		}
	}
}

// attempt does what a run does, and ends at its first error. It returns the number of requests that
// it was allowed to send.
func attempt(w *Writer) (allowed int) {
	pod := ref("Pod", "a")
	if _, err := w.Add(pod, Deleted, bytesOf(pod, "7")); err != nil {
		return 0
	}
	if w.Seal() != nil {
		return 0
	}
	for {
		n, err := w.Intent(Intent{Time: noon, Object: pod, Verb: "DELETE", ResourceVersion: "7"})
		if err != nil {
			return allowed
		}
		allowed++
		if w.Result(n, Result{Time: noon, Outcome: Confirmed, Code: 200}) != nil {
			return allowed
		}
	}
}
