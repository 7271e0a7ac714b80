package backup

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"github.com/kubectl-gc/kubectl-gc/internal/backup/undo"
)

// FuzzJournal: any bytes are read or refused. The records have consecutive numbers, and reading
// them again with a torn line at the end gives the same.
func FuzzJournal(f *testing.F) {
	var whole []byte
	prev := "m"
	for i, r := range []Record{
		{Kind: Sealed, Time: noon},
		{Kind: Intended, Time: noon, Intent: Intent{Object: ref("Pod", "a"), Verb: "DELETE", ResourceVersion: "1", Body: []byte(`{}`)}},
		{Kind: Answered, Time: noon, Of: 2, Result: Result{Outcome: Confirmed, Code: 200}},
		{Kind: Ended, Time: noon},
	} {
		r.Seq = i + 1
		line, sum, err := encode(&r, prev)
		if err != nil {
			f.Fatal(err)
		}
		prev = sum
		whole = append(whole, line...)
		f.Add(bytes.Clone(whole))
	}
	f.Add(whole[:len(whole)-9])
	f.Add([]byte(sumOpen))
	f.Fuzz(func(t *testing.T, text []byte) {
		records, torn, err := readJournal(bytes.NewReader(text), "m", &memoryUse{})
		if err != nil {
			return
		}
		for i, r := range records {
			if r.Seq != i+1 {
				t.Fatalf("record %d has the number %d", i+1, r.Seq)
			}
		}
		if torn != !bytes.HasSuffix(text, []byte("\n")) {
			t.Fatalf("torn: %v", torn)
		}
		again, torn, err := readJournal(bytes.NewReader(append(bytes.Clone(text), '{')), "m", &memoryUse{})
		if err != nil || !torn || len(again) != len(records) {
			t.Fatalf("%d records, then %d, torn %v, %v", len(records), len(again), torn, err)
		}
	})
}

// FuzzOpen: a directory with any manifest, journal and object is read or refused. A backup that is
// read has the bytes that its entries describe.
func FuzzOpen(f *testing.F) {
	pod := ref("Pod", "a")
	dir := f.TempDir()
	w, err := Create(filepath.Join(dir, "backups"), head)
	if err == nil {
		_, err = w.Add(pod, Deleted, bytesOf(pod, "1"))
	}
	if err == nil {
		err = w.Seal()
	}
	if err == nil {
		err = w.Close(noon)
	}
	if err != nil {
		f.Fatal(err)
	}
	var parts [3][]byte
	for i, name := range []string{manifestName, journalName, objectName(1)} {
		if parts[i], err = os.ReadFile(filepath.Join(w.Path(), name)); err != nil {
			f.Fatal(err)
		}
	}
	f.Add(parts[0], parts[1], parts[2])
	f.Add([]byte(`{"kubectlGCBackup":1}`), parts[1], []byte{})
	f.Add([]byte(`{"kubectlGCBackup":1,"entries":[{"file":"/etc/passwd","restorable":true}]}`), []byte{}, []byte{})
	at := f.TempDir()
	if err := os.Chmod(at, 0o700); err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, manifest, journal, raw []byte) {
		write(t, at, manifestName, manifest)
		write(t, at, journalName, journal)
		write(t, at, objectName(1), raw)
		b, err := Open(at, nil)
		if err != nil {
			return
		}
		for i := range b.Entries {
			if got, err := b.Raw(&b.Entries[i]); err != nil || b.Entries[i].Restorable && !bytes.Equal(got, raw) {
				t.Fatalf("%s, %v", got, err)
			}
		}
		must(t, b.Close())
	})
}

// FuzzRecords passes the hash check: whatever the lines of a valid chain contain, they are read or
// refused, and every result belongs to an intent.
func FuzzRecords(f *testing.F) {
	f.Add([]byte("{\"seq\":1,\"kind\":\"sealed\"}\n{\"seq\":2,\"kind\":\"intent\",\"object\":{\"name\":\"a\"},\"verb\":\"DELETE\"}\n" +
		"{\"seq\":3,\"kind\":\"result\",\"of\":2,\"outcome\":\"refused\"}\n{\"seq\":4,\"kind\":\"end\"}"))
	f.Add([]byte("{\"seq\":1,\"kind\":\"sealed\"}\n{\"seq\":2,\"kind\":\"saved\",\"entry\":{\"action\":\"deleted\",\"restorable\":true,\"file\":\"../x\"}}"))
	f.Add([]byte("{\"seq\":1,\"kind\":\"sealed\"}\n{\"seq\":2,\"kind\":\"saved\",\"entry\":null}\n{}"))
	f.Fuzz(func(t *testing.T, text []byte) {
		var journal []byte
		prev := "m"
		for said := range bytes.SplitSeq(text, []byte("\n")) {
			var s Record
			if json.Unmarshal(said, &s) != nil {
				return
			}
			s.Prev = prev
			body, err := undo.Marshal(s)
			if err != nil {
				return
			}
			prev = sumOf(body)
			journal = append(journal, sumOpen+prev+sumClose+string(body[1:])+"\n"...)
		}
		records, torn, err := readJournal(bytes.NewReader(journal), "m", &memoryUse{})
		if err != nil {
			return
		}
		if torn {
			t.Fatal("a whole line was taken for torn")
		}
		for _, r := range records {
			if r.Kind == Answered && (r.Of >= r.Seq || records[r.Of-1].Kind != Intended) {
				t.Fatalf("record %d answers %d", r.Seq, r.Of)
			}
		}
		late, err := lateEntries(records, nil)
		if err != nil {
			return
		}
		files := 0
		for i := range late {
			if !late[i].Restorable {
				continue
			}
			if files++; late[i].File != objectName(files) {
				t.Fatalf("the bytes would be read from %q", late[i].File)
			}
		}
	})
}
