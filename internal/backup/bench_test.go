package backup

import (
	"fmt"
	"path/filepath"
	"sync"
	"testing"
)

// BenchmarkAdd measures saving one object to the disk before a run.
func BenchmarkAdd(b *testing.B) {
	w, err := Create(filepath.Join(b.TempDir(), "backups"), head)
	if err != nil {
		b.Fatal(err)
	}
	r := ref("Pod", "a")
	raw := bytesOf(r, "1")
	b.ReportAllocs()
	for b.Loop() {
		if _, err := w.Add(r, Deleted, raw); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkJournal measures an intent and its result, alone and with as many concurrent requests as
// a run has.
func BenchmarkJournal(b *testing.B) {
	for _, inFlight := range []int{1, 20} {
		b.Run(fmt.Sprintf("inFlight=%d", inFlight), func(b *testing.B) {
			w, err := Create(filepath.Join(b.TempDir(), "backups"), head)
			if err == nil {
				err = w.Seal()
			}
			if err != nil {
				b.Fatal(err)
			}
			b.ReportAllocs()
			for b.Loop() {
				var all sync.WaitGroup
				for range inFlight {
					all.Go(func() {
						n, err := w.Intent(Intent{Time: noon, Object: ref("Pod", "a"), Verb: "PATCH", ResourceVersion: "1"})
						if err == nil {
							err = w.Result(n, Result{Time: noon, Outcome: Confirmed, Code: 200})
						}
						if err != nil {
							b.Error(err)
						}
					})
				}
				all.Wait()
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*inFlight), "ns/request")
		})
	}
}
