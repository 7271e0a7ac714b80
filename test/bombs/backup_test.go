package bombs

import (
	"bufio"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-gc/kubectl-gc/internal/object"
	"github.com/kubectl-gc/kubectl-gc/test/facade"
)

// perRestored is what docs/undo.md promises of an object that is restored.
const perRestored = 24_000

// backup is the input of `undo`: its files, each written by a generator.
type backup struct {
	manifest func(io.Writer)
	// journal is what follows the first line; line writes a record.
	journal func(w io.Writer, line func(body string))
	// object is the text of each object.
	object  func(n int) string
	objects int
}

const backupHead = `{"kubectlGCBackup":1,"tool":"t","command":"delete","planDigest":"sha256:0","cluster":{"uid":"cluster","server":"s"},"created":"2026-01-02T03:04:05Z","secrets":false,`

// lay writes the backup into a directory.
func (b backup) lay(t *testing.T, dir string) {
	t.Helper()
	if err := os.MkdirAll(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	write := func(name string, text func(io.Writer)) {
		writeFile(t, filepath.Join(dir, name), text)
		if err := os.Chmod(filepath.Join(dir, name), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	sums, sizes := make([]string, b.objects), make([]int, b.objects)
	for i := range b.objects {
		text := b.object(i)
		write(fmt.Sprintf("%08d.json", i+1), func(w io.Writer) { put(w, text) })
		sums[i], sizes[i] = sum(text), len(text)
	}
	manifest := b.manifest
	if manifest == nil {
		manifest = func(w io.Writer) {
			put(w, backupHead+`"entries":[`)
			for i := range b.objects {
				if i > 0 {
					put(w, ",")
				}
				fmt.Fprintf(w, `{"object":{"apiVersion":"v1","kind":"ConfigMap","namespace":"shop","name":"a%d","uid":"u%d"},"resourceVersion":"1","action":"deleted","restorable":true,"file":"%08d.json","size":%d,"sha256":"%s"}`, i, i, i+1, sizes[i], sums[i])
			}
			put(w, "]}\n")
		}
	}
	hash := sha256.New()
	write("manifest.json", func(w io.Writer) {
		both := bufio.NewWriterSize(io.MultiWriter(w, hash), 1<<20)
		manifest(both)
		_ = both.Flush() // the file behind it remembers what fails
	})
	prev, seq := hex.EncodeToString(hash.Sum(nil)), 0
	write("journal.jsonl", func(w io.Writer) {
		line := func(body string) {
			seq++
			text := fmt.Sprintf(`{"seq":%d,"prev":%q,%s}`, seq, prev, body)
			prev = sum(text)
			put(w, `{"sum":"`+prev+`",`+text[1:]+"\n")
		}
		line(`"kind":"sealed","time":"2026-01-02T03:04:05Z"`)
		if b.journal != nil {
			b.journal(w, line)
		}
	})
}

func sum(text string) string {
	s := sha256.Sum256([]byte(text))
	return hex.EncodeToString(s[:])
}

// configMap is the text of the n-th object, with more in it.
func configMap(n int, more string) string {
	return fmt.Sprintf(`{"apiVersion":"v1","kind":"ConfigMap","metadata":{"namespace":"shop","name":"a%d","uid":"u%d","resourceVersion":"1"}%s}`, n, n, more)
}

// cluster serves the cluster of the backups; it has none of their objects.
func cluster(t *testing.T) (server string) {
	t.Helper()
	served := []object.Resource{
		{Version: "v1", Name: "namespaces", Kind: "Namespace", Verbs: object.AllVerbs},
		{Version: "v1", Name: "configmaps", Kind: "ConfigMap", Namespaced: true, Verbs: object.AllVerbs},
	}
	rs := &object.Resources{}
	for _, r := range served {
		rs.Add(r)
	}
	space := func(name string, uid types.UID) *object.Object {
		return &object.Object{Ref: object.Ref{APIVersion: "v1", Kind: "Namespace", Name: name, UID: uid}}
	}
	there := []*object.Object{space("shop", "u-shop"), space("kube-system", "cluster")}
	front := httptest.NewServer(facade.New(there, rs, facade.Documents(served)))
	t.Cleanup(front.Close)
	return front.URL
}

// N22: a backup that somebody else has written.
func TestBackups(t *testing.T) {
	const noEntries = `"entries":[]}`
	intent := func(name, body string) string {
		return `"kind":"intent","time":"2026-01-02T03:04:05Z","object":{"apiVersion":"v1","kind":"ConfigMap","name":"` + name + `","uid":"u"},"verb":"POST","body":` + body
	}
	empty := func(w io.Writer) { put(w, backupHead+noEntries) }
	damaged := `"kind":"nothing"`
	server := cluster(t)
	long := map[string]bool{
		"a key of the manifest": true, "blanks in the manifest": true, "a manifest that is too large": true,
		"entries of long names": true, "a million lines of the journal": true, "two thousand objects": true,
	}
	undo := func(name string, b backup, objects, each int, want string) bomb {
		return bomb{name: name, long: long[name], args: []string{"undo", "--dry-run", "--server", server}, objects: objects, each: each, want: want,
			make: b.lay, backup: true}
	}
	tryAll(t, []bomb{
		undo("a value of the manifest", backup{manifest: inside(backupHead+`"a":"`, "x", large(400*mib), `"}`)}, 0, 0, "manifest.json: a value has more than"),
		undo("a key of the manifest", backup{manifest: inside(backupHead+`"`, "x", large(400*mib), `":1}`)}, 0, 0, "manifest.json: a value has more than"),
		undo("blanks in the manifest", backup{manifest: inside(backupHead, " ", large(400*mib), noEntries)}, 0, 0, "manifest.json: a value has more than"),
		undo("a manifest that is too large", backup{manifest: inside(backupHead+`"a":[0],`, `"a":0,`, 520*mib, noEntries)}, 0, 0, "manifest.json: it has more than"),
		undo("many witnesses", backup{manifest: inside(backupHead+`"witnesses":[{}`, `,{}`, large(200*mib), `],`+noEntries)}, 0, 0, "manifest.json: it has more than 100000 witnesses"),
		undo("entries of long names", backup{manifest: func(w io.Writer) {
			put(w, backupHead+`"entries":[`)
			counted(w, 400, `{"object":{"name":"%d`+strings.Repeat("x", mib)+`"},"action":"deleted","restorable":false,"why":"BackupRefused"},`)
		}}, 0, 0, memory),
		undo("a million entries without their files", backup{manifest: func(w io.Writer) {
			put(w, backupHead+`"entries":[`)
			for i := range many(1_000_000) {
				fmt.Fprintf(w, `{"object":{"apiVersion":"v1","kind":"ConfigMap","namespace":"shop","name":"a%[1]d","uid":"00000000-0000-0000-0000-%012[1]d"},"resourceVersion":"%[1]d","action":"deleted","restorable":true,"file":"%08[2]d.json","size":1,"sha256":"%064[1]d"},`, i, i+1)
			}
			put(w, `{"object":{"name":"z"},"action":"deleted","restorable":false,"why":"BackupRefused"}]}`)
		}}, many(1_000_000)+1, 0, fmt.Sprintf("and %d more", many(1_000_000)-100)),
		undo("a line of the journal", backup{manifest: empty, journal: func(w io.Writer, _ func(string)) { times(w, "x", large(400*mib)) }},
			0, 0, "journal.jsonl:2: it has more than"),
		undo("a million lines of the journal", backup{manifest: empty, journal: func(_ io.Writer, line func(string)) {
			for i := range many(1_000_000) {
				line(intent(fmt.Sprintf("a%d", i), `{"a":"`+strings.Repeat("x", 100)+`"}`))
			}
			line(damaged)
		}}, many(1_000_000), 0, fmt.Sprintf("journal.jsonl:%d: it is of the unknown kind", many(1_000_000)+2)),
		undo("lines that hold much", backup{manifest: empty, journal: func(_ io.Writer, line func(string)) {
			for range 400 {
				line(intent("a", `"`+strings.Repeat("x", mib)+`"`))
			}
		}}, 400, 0, memory),
		undo("an object of which decoding makes much", backup{objects: 1, object: func(n int) string {
			return configMap(n, `,"a":[{}`+strings.Repeat(",{}", 5*mib)+"]")
		}}, 1, perRestored, memory),
		undo("objects that hold much", backup{objects: 60, object: func(n int) string {
			return configMap(n, `,"data":{"a":"`+strings.Repeat("x", 4*mib)+`"}`)
		}}, 60, perRestored, memory),
		undo("two thousand objects", backup{objects: 2000, object: func(n int) string {
			return configMap(n, `,"data":{"a":"`+strings.Repeat("x", 3000)+`"}`)
		}}, 2000, perRestored, ""),
	})
}
