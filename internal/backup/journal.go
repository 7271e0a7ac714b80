package backup

import (
	"fmt"
	"sync"

	"github.com/kubectl-gc/kubectl-gc/internal/private"
)

// journal appends records. Each is on the disk when append returns. Concurrent appends share one
// flush.
type journal struct {
	f private.File

	write sync.Mutex // guards the fields up to failed
	seq   int
	prev  string
	// failed is the first error. Nothing is written after it, so only the last line of a journal
	// can be torn.
	failed error

	flush  sync.Mutex // guards synced and lost
	synced int
	lost   error // the first flush that failed
}

// append numbers and writes a record and returns its number. It is safe for concurrent use.
func (j *journal) append(r *Record) (int, error) {
	seq, err := j.put(r)
	if err != nil {
		return 0, err
	}
	return seq, j.sync(seq)
}

func (j *journal) put(r *Record) (int, error) {
	j.write.Lock()
	defer j.write.Unlock()
	if j.failed != nil {
		return 0, j.failed
	}
	r.Seq = j.seq + 1
	line, sum, err := encode(r, j.prev)
	if err != nil {
		return 0, err // nothing was written
	}
	if _, err := j.f.Write(line); err != nil {
		j.failed = fmt.Errorf("%s: %w", journalName, err)
		return 0, j.failed
	}
	j.seq, j.prev = r.Seq, sum
	if r.Kind == Ended {
		j.failed = errClosed
	}
	return r.Seq, nil
}

// sync flushes the file unless records up to seq are on the disk already.
func (j *journal) sync(seq int) error {
	j.flush.Lock()
	defer j.flush.Unlock()
	if j.lost != nil || j.synced >= seq {
		return j.lost
	}
	j.write.Lock()
	upTo := j.seq
	j.write.Unlock()
	if err := j.f.Sync(); err != nil {
		// A second flush cannot repair what a failed one has lost, nor report it.
		j.lost = fmt.Errorf("%s: %w", journalName, err)
		j.write.Lock()
		defer j.write.Unlock()
		j.failed = j.lost
		return j.lost
	}
	j.synced = upTo
	return nil
}
