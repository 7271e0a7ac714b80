package past

import (
	"context"
	"os"
	"path/filepath"
	"testing"

	"github.com/kubectl-gc/kubectl-gc/internal/snapshot"
)

// FuzzEntries: any lines are read or refused, and a result can be traced.
func FuzzEntries(f *testing.F) {
	dir := f.TempDir()
	for _, text := range []string{
		"",
		`{"served":[]}`,
		`{"change":{"revision":1,"object":null}}`,
		`{"stood":{"apiVersion":"v1","kind":"Pod","rest":{"t":0,"n":"a","u":"u"}}}` + "\n" +
			`{"change":{"revision":9,"type":2,"object":{"apiVersion":"v1","kind":"Pod","rest":{"t":0,"n":"a","u":"u"}}}}`,
		`{"body":{"kind":{"kind":"Pod"},"from":9,"until":1,"text":{"metadata":{"uid":"u"}}}}`,
		`{"limit":{"resource":{"version":"v1","name":"pods","kind":"Pod","verbs":[]}}}`,
	} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		path := filepath.Join(dir, "some")
		out, err := os.Create(path)
		must(t, err)
		w, err := newWriter(out)
		must(t, err)
		w.add(header{Format: formatVersion, From: Moment{Revision: 1}, To: Moment{Revision: 9}})
		_, err = w.to.Write(append(text, '\n'))
		must(t, err)
		must(t, w.end())
		must(t, out.Close())
		r, err := OpenFile(context.Background(), path, snapshot.Options{})
		if err != nil {
			return
		}
		record, err := r.Past(context.Background(), Window{SinceRevision: 3})
		must(t, err)
		for _, l := range Trace(record).Losses {
			_ = r.Bodies(context.Background(), Collection{APIVersion: l.Object.APIVersion, Kind: l.Object.Kind, Revision: l.Began}, func([]byte) error { return nil })
		}
	})
}

// FuzzOpen: any bytes are read or refused.
func FuzzOpen(f *testing.F) {
	dir := f.TempDir()
	f.Add([]byte(nil))
	f.Add([]byte(magic))
	f.Add([]byte{0x28, 0xb5, 0x2f, 0xfd})
	f.Fuzz(func(t *testing.T, text []byte) {
		path := filepath.Join(dir, "some")
		must(t, os.WriteFile(path, text, 0o600))
		_, _ = IsFile(path)
		_, _ = OpenFile(context.Background(), path, snapshot.Options{})
	})
}
