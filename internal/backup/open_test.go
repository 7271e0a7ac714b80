package backup

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func read(t *testing.T, path, name string) []byte {
	t.Helper()
	content, err := os.ReadFile(filepath.Join(path, name))
	must(t, err)
	return content
}

func write(t *testing.T, path, name string, content []byte) {
	t.Helper()
	must(t, os.WriteFile(filepath.Join(path, name), content, 0o600))
}

// finished returns a backup with all kinds of records.
func finished(t *testing.T) string {
	t.Helper()
	w := run(t)
	must(t, w.Close(noon))
	return w.Path()
}

// damaged opens a damaged backup and returns the damaged places.
func damaged(t *testing.T, path string) []string {
	t.Helper()
	b, err := Open(path, nil)
	if err == nil {
		must(t, b.Close())
		return nil
	}
	if d, ok := errors.AsType[*DamageError](err); !ok || d.Error() == "" {
		t.Errorf("the error is no damage: %v", err)
	}
	return strings.Split(err.Error(), "\n")
}

// TestTornTail: wherever a crash cuts the journal, the complete lines are read and the torn one is
// reported. The first line is excluded: it is on the disk before the backup counts as one.
func TestTornTail(t *testing.T) {
	path := finished(t)
	whole := read(t, path, journalName)
	manifest := sumOf(read(t, path, manifestName))
	all, torn, err := readJournal(bytes.NewReader(whole), manifest, &memoryUse{})
	if err != nil || torn || len(all) != 9 {
		t.Fatalf("%d records, torn %v, %v", len(all), torn, err)
	}
	for at := range whole {
		cut := whole[:at]
		lines := bytes.Count(cut, []byte("\n"))
		got, torn, err := readJournal(bytes.NewReader(cut), manifest, &memoryUse{})
		if lines == 0 {
			if d, ok := errors.AsType[*DamageError](err); !ok || d.Line != 1 {
				t.Fatalf("cut at %d: %v", at, err)
			}
			continue
		}
		if err != nil || torn == bytes.HasSuffix(cut, []byte("\n")) {
			t.Fatalf("cut at %d: torn %v, %v", at, torn, err)
		}
		if diff := cmp.Diff(all[:lines], got); diff != "" {
			t.Fatalf("cut at %d:\n%s", at, diff)
		}
		// A file system may have allocated the line without writing it.
		if _, torn, err := readJournal(bytes.NewReader(append(bytes.Clone(cut), 0, 0, 0)), manifest, &memoryUse{}); err != nil || !torn {
			t.Fatalf("cut at %d with zeros: torn %v, %v", at, torn, err)
		}
	}
	write(t, path, journalName, whole[:len(whole)-1])
	if b := open(t, path); !b.Torn || b.Ended || len(b.Journal) != 8 {
		t.Errorf("torn %v, ended %v, %d lines", b.Torn, b.Ended, len(b.Journal))
	}
}

// TestEveryByteCounts (N31): any changed byte of a journal is detected, and its line is named.
func TestEveryByteCounts(t *testing.T) {
	path := finished(t)
	whole := read(t, path, journalName)
	manifest := sumOf(read(t, path, manifestName))
	for at := range len(whole) - 1 {
		bad := bytes.Clone(whole)
		bad[at] ^= 1
		line := 1 + bytes.Count(whole[:at], []byte("\n"))
		_, _, err := readJournal(bytes.NewReader(bad), manifest, &memoryUse{})
		if d, ok := errors.AsType[*DamageError](err); !ok || d.Line != line && d.Line != line+1 {
			t.Fatalf("byte %d in line %d: %v", at, line, err)
		}
	}
}

// TestLinesInDisorder: valid lines are a valid journal only if all are present and in order.
func TestLinesInDisorder(t *testing.T) {
	path := finished(t)
	lines := bytes.SplitAfter(read(t, path, journalName), []byte("\n"))[:9]
	for name, c := range map[string]struct {
		lines []int
		want  string
	}{
		"one left out":   {[]int{0, 1, 3}, "journal.jsonl:3: it does not follow the line before it"},
		"the first gone": {[]int{1, 2}, "journal.jsonl:1: it does not follow the line before it"},
		"exchanged":      {[]int{0, 2, 1}, "journal.jsonl:2: it does not follow the line before it"},
		"twice":          {[]int{0, 1, 1}, "journal.jsonl:3: it does not follow the line before it"},
		"none":           {nil, "journal.jsonl:1: the first line is incomplete"},
	} {
		var text []byte
		for _, i := range c.lines {
			text = append(text, lines[i]...)
		}
		write(t, path, journalName, text)
		if diff := cmp.Diff([]string{"backup " + path + ": " + c.want}, damaged(t, path)); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
}

// TestRecordsThatMakeNoSense: a valid chain of hashes does not make its records valid.
func TestRecordsThatMakeNoSense(t *testing.T) {
	sealed := Record{Kind: Sealed, Seq: 1}
	for want, list := range map[string][]Record{
		"the first line, and no other, must say that the backup is complete": {{Kind: Ended, Seq: 1}},
		"it has the number 5":                       {sealed, {Kind: Ended, Seq: 5}},
		"it is the result of 1, which expects none": {sealed, {Kind: Answered, Seq: 2, Of: 1, Result: Result{Outcome: Refused}}},
		"it names no object":                        {sealed, {Kind: Intended, Seq: 2}},
		"it saves nothing":                          {sealed, {Kind: Saved, Seq: 2}},
		"it follows the end":                        {sealed, {Kind: Ended, Seq: 2}, {Kind: Ended, Seq: 3}},
		`it is of the unknown kind "x"`:             {sealed, {Kind: "x", Seq: 2}},
		`it has the unknown outcome "?"`:            {sealed, {Kind: Intended, Seq: 2, Intent: Intent{Object: ref("Pod", "a")}}, {Kind: Answered, Seq: 3, Of: 2, Result: Result{Outcome: "?"}}},
		`v1 Pod shop/a has the unknown action ""`:   {sealed, {Kind: Saved, Seq: 2, Entry: Entry{Object: ref("Pod", "a")}}},
		"the first line, and no other, must say ":   {sealed, {Kind: Sealed, Seq: 2}},
	} {
		prev := "m"
		var text []byte
		for i := range list {
			line, sum, err := encode(&list[i], prev)
			must(t, err)
			prev = sum
			text = append(text, line...)
		}
		_, _, err := readJournal(bytes.NewReader(text), "m", &memoryUse{})
		if d, ok := errors.AsType[*DamageError](err); !ok || d.Line != len(list) || !strings.HasPrefix(d.Why, want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
}

// TestDamage (N31): all damage to the bytes of objects is listed.
func TestDamage(t *testing.T) {
	path := finished(t)
	first, second := read(t, path, "00000001.json"), read(t, path, "00000002.json")
	write(t, path, "00000001.json", append(first, ' '))
	write(t, path, "00000002.json", bytes.Replace(second, []byte("0.10"), []byte("0.11"), 1))
	must(t, os.Remove(filepath.Join(path, "00000003.json")))
	want := []string{
		"backup " + path + ": 00000001.json: its hash is not that of the manifest",
		"00000002.json: its hash is not that of the manifest",
		"00000003.json: it is missing",
	}
	if diff := cmp.Diff(want, damaged(t, path)); diff != "" {
		t.Error(diff)
	}
}

// TestDamagedLater (L55): changes while the backup is open are detected.
func TestDamagedLater(t *testing.T) {
	path := finished(t)
	b := open(t, path)
	write(t, path, "00000002.json", []byte("{}"))
	if raw, err := b.Raw(&b.Entries[2]); err == nil {
		t.Errorf("%s", raw)
	}
}

// TestManifestIsPartOfTheChain: an edited manifest does not match the journal.
func TestManifestIsPartOfTheChain(t *testing.T) {
	path := finished(t)
	text := read(t, path, manifestName)
	for _, c := range [][3]string{
		{`"kubectlGCBackup": 1`, `"kubectlGCBackup": 2`, "manifest.json: its format version is 2, but this program reads 1"},
		{`kube-system-uid`, `another-cluster`, "journal.jsonl:1: it does not follow the line before it"},
		{`"file": "00000001.json"`, `"file": "../../x/00000001.json"`, `manifest.json: v1 Pod shop/a is in file "../../x/00000001.json", want "00000001.json"`},
		{`"action": "deleted"`, `"action": "renamed"`, `manifest.json: v1 Pod shop/a has the unknown action "renamed"`},
		{`"restorable": false`, `"restorable": true`, "manifest.json: v1 Secret shop/s says that it is restorable, and why it is not"},
		{`{`, `[`, "manifest.json: it is not a manifest: [ instead of {"},
	} {
		bad := bytes.Replace(text, []byte(c[0]), []byte(c[1]), 1)
		if bytes.Equal(bad, text) {
			t.Fatalf("%s is not in\n%s", c[0], text)
		}
		write(t, path, manifestName, bad)
		if diff := cmp.Diff([]string{"backup " + path + ": " + c[2]}, damaged(t, path)); diff != "" {
			t.Error(diff)
		}
	}
}

// TestUnfinished: a backup that a crash ended before the first request can't be undone, and says
// that there is nothing to undo.
func TestUnfinished(t *testing.T) {
	w := create(t, head)
	add(t, w, ref("Pod", "a"), "1")
	if _, err := Open(w.Path(), nil); !errors.Is(err, ErrUnsealed) {
		t.Errorf("without a manifest: %v", err)
	}
	must(t, w.Seal())
	must(t, os.Remove(filepath.Join(w.Path(), journalName)))
	if _, err := Open(w.Path(), nil); !errors.Is(err, ErrUnsealed) {
		t.Errorf("without a journal: %v", err)
	}
	must(t, w.Close(noon))
}

func TestCheckCluster(t *testing.T) {
	b := &Backup{Head: head}
	if err := b.CheckCluster("kube-system-uid"); err != nil {
		t.Error(err)
	}
	if err := b.CheckCluster("another"); err == nil || errors.Is(err, ErrUnknownCluster) {
		t.Errorf("another cluster is taken for the right one, or for one that may be: %v", err)
	}
	for _, err := range []error{b.CheckCluster(""), (&Backup{}).CheckCluster(""), (&Backup{}).CheckCluster("kube-system-uid")} {
		if !errors.Is(err, ErrUnknownCluster) {
			t.Errorf("what is not known is %v", err)
		}
	}
}
