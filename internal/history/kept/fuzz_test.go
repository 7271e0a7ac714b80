package kept

import (
	"context"
	"os"
	"path/filepath"
	"testing"

	"github.com/klauspost/compress/zstd"

	"github.com/kubectl-gc/kubectl-gc/internal/history"
)

// FuzzEntries: any entries are read or refused, and what was read can be told.
func FuzzEntries(f *testing.F) {
	dir := f.TempDir()
	pack, err := zstd.NewWriter(nil, zstd.WithEncoderConcurrency(1))
	must(f, err)
	const first = `{"head":{"cluster":{"uid":"here"},"run":"a"}}` + "\n"
	for _, text := range []string{
		first,
		first + `{"span":{"from":{"revision":3},"to":{"revision":1}}}`,
		first + `{"begin":{"kind":"Pod"}}` + "\n" + `{"listed":{"kind":"Pod","at":7}}` + "\n" + `{"settled":8}`,
		first + `{"listed":{"kind":"Pod","at":7}}`,
		first + `{"change":{"revision":1,"object":null}}`,
		first + `{"change":{"revision":9,"type":2,"object":{"apiVersion":"v1","kind":"Pod","rest":{"t":0,"n":"a","u":"u"}},"body":{}}}` + "\n" + `{"settled":18446744073709551615}`,
		first + `{"body":{"kind":{"kind":"Pod"},"from":9,"until":1,"text":{"metadata":{"uid":"u"}}}}`,
		first + `{"limit":{"resource":{"version":"v1","name":"pods","kind":"Pod","verbs":[]}}}`,
		`{"settled":1}`,
	} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		path := filepath.Join(dir, "some")
		id := []byte("id")
		s, err := newSealing(id, nil)
		must(t, err)
		frame, err := s.seal(pack, text, 0)
		if err != nil {
			return
		}
		must(t, os.WriteFile(path, append([]byte(mark+`1,"id":"aWQ="}`+"\n"), frame...), 0o600))
		r, err := Open(context.Background(), path, nil)
		if err != nil {
			return
		}
		defer r.Close()
		past, err := r.Past(context.Background(), history.Window{})
		if err != nil {
			return
		}
		for _, l := range history.Trace(past).Losses {
			_ = r.Bodies(context.Background(), history.Collection{APIVersion: l.Object.APIVersion, Kind: l.Object.Kind, Revision: l.Asked}, func([]byte) error { return nil })
		}
	})
}

// FuzzOpen: any bytes are read or refused.
func FuzzOpen(f *testing.F) {
	dir := f.TempDir()
	f.Add([]byte(nil))
	f.Add([]byte(mark))
	f.Add([]byte(mark + `1,"id":"aWQ="}` + "\n" + string(make([]byte, headSize+9))))
	f.Add([]byte(mark + `1,"id":"aWQ=","encrypted":true}` + "\n"))
	f.Add([]byte(mark + `2}` + "\n"))
	f.Fuzz(func(t *testing.T, text []byte) {
		path := filepath.Join(dir, "some")
		must(t, os.WriteFile(path, text, 0o600))
		if r, err := Open(context.Background(), path, someKey); err == nil {
			r.Close()
		}
	})
}
