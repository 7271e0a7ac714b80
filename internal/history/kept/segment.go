package kept

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/kubectl-gc/kubectl-gc/internal/history"
	"github.com/kubectl-gc/kubectl-gc/internal/private"
	"github.com/kubectl-gc/kubectl-gc/internal/snapshot"
)

// resume finds out how far the history came before this run, and begins a segment. The number
// before it is left to the past in between.
func (r *Recorder) resume() error {
	list, err := segments(r.o.Dir)
	if err != nil {
		return err
	}
	for i := len(list) - 1; i >= 0 && r.last == 0; i-- {
		one := &Record{annals: newAnnals()}
		err := one.read(context.Background(), filepath.Join(r.o.Dir, nameOf(list[i])), nameOf(list[i]), r.o.Key)
		one.Close()
		switch {
		case err != nil:
			return err
		case one.annals.head != nil && one.annals.cluster.UID != r.cluster.UID:
			return fmt.Errorf("%s holds the history of another cluster: namespace kube-system had uid %q there, and has %q here", r.o.Dir, one.annals.cluster.UID, r.cluster.UID)
		}
		r.last = one.annals.to
	}
	if len(list) > 0 {
		r.segment = list[len(list)-1]
	}
	if r.last > 0 {
		r.segment++
		r.bridge = r.segment
	}
	return errors.Join(r.next(0, nil), r.prune())
}

// next begins another segment, with what was there as of a revision.
func (r *Recorder) next(at uint64, lists *annals) error {
	now := r.o.Now()
	name := nameOf(r.segment + 1)
	f, err := r.dir.Create(name)
	if err != nil {
		return err
	}
	w, err := newWriter(f, r.o.Key, &head{Cluster: r.cluster, Created: now.UTC(), Run: r.run, At: at, Secrets: r.o.Secrets})
	if err == nil && lists != nil {
		err = w.lists(lists, at)
	}
	if err == nil {
		err = errors.Join(w.flush(), r.dir.Sync())
	}
	if err != nil {
		return errors.Join(err, f.Close(), r.dir.Remove(name))
	}
	r.segment++
	r.w, r.base, r.created = w, w.size, now
	return nil
}

// lists writes what is known of all kinds.
func (w *writer) lists(a *annals, at uint64) error {
	if err := w.add(&entry{Served: snapshot.StoreResources(a.served)}); err != nil {
		return err
	}
	if n := len(a.ticks); n > 0 {
		if err := w.add(&entry{Tick: new(tick(a.ticks[n-1]))}); err != nil {
			return err
		}
	}
	for _, k := range a.order() {
		s := a.kinds[k]
		if s.whole {
			if err := w.add(&entry{Begin: &k}); err != nil {
				return err
			}
			for _, o := range sortedObjects(s.known) {
				if err := w.add(&entry{Object: snapshot.StoreObject(o)}); err != nil {
					return err
				}
			}
			if err := w.add(&entry{Listed: &listed{k, at}}); err != nil {
				return err
			}
		}
		if s.missed {
			if err := w.add(&entry{Broken: &broken{k, s.why}}); err != nil {
				return err
			}
		}
	}
	return nil
}

// arrival is for how long a watch that begins again may tell what happened before.
const arrival = 2 * time.Second

// Flush has on the disk what the watches have shown, and says how far that was everything: up to
// what had been seen when it was called the time before, which has to be some seconds ago. It
// begins another segment when it is time, and removes old ones.
func (r *Recorder) Flush() error {
	r.writing.Lock()
	defer r.writing.Unlock()
	r.mu.Lock()
	r.settle()
	lines := bytes.Clone(r.pending.Bytes())
	r.pending.Reset()
	at, full, listing := r.highest, r.full, false
	for _, k := range r.kinds {
		listing = listing || k.listing
	}
	r.mu.Unlock()
	if full {
		return errFull
	}
	if err := errors.Join(r.w.lines(lines), r.w.flush()); err != nil {
		if r.w.entries.Len() > mostPending {
			r.mu.Lock()
			r.full = true
			r.mu.Unlock()
		}
		return err
	}
	if old := r.o.Age > 0 && r.o.Now().Sub(r.created) > r.o.Age/segmentsKept; listing || !old && (r.o.Size == 0 || r.w.size-r.base < r.o.Size/segmentsKept) {
		return nil
	}
	if err := r.rotate(at); err != nil {
		return err
	}
	return r.prune()
}

var errFull = errors.New("the history could not be written for too long, and has ended: it continues when the controller is restarted")

// settle notes up to where everything was seen.
func (r *Recorder) settle() {
	settled := r.before
	for _, k := range r.kinds {
		if !k.broken && !k.listing && (!k.up || r.o.Now().Sub(k.since) < arrival) {
			settled = min(settled, k.bound)
		}
	}
	if r.synced && settled > r.settled {
		r.settled = settled
		r.put(&entry{Settled: settled})
	}
	r.before = 0
	if r.synced {
		r.before = r.highest
	}
}

// rotate begins another segment with all that this one knows in the end.
func (r *Recorder) rotate(at uint64) error {
	one := &Record{annals: newAnnals()}
	name := nameOf(r.segment)
	err := one.read(context.Background(), filepath.Join(r.o.Dir, name), name, r.o.Key)
	one.Close()
	if err != nil {
		return err
	}
	old := r.w
	if err := r.next(at, one.annals); err != nil {
		return err
	}
	return old.close()
}

// prune removes the oldest segments while they are more than there may be.
func (r *Recorder) prune() error {
	list, err := segments(r.o.Dir)
	if err != nil {
		return err
	}
	total := r.o.Size / segmentsKept // what the one that is written may grow to
	sizes := make([]fs.FileInfo, len(list))
	for i, n := range list {
		if sizes[i], err = os.Lstat(filepath.Join(r.o.Dir, nameOf(n))); err != nil {
			return err
		}
		total += sizes[i].Size()
	}
	for i, n := range list {
		tooMuch := r.o.Size > 0 && total > r.o.Size
		tooOld := r.o.Age > 0 && r.o.Now().Sub(sizes[i].ModTime()) > r.o.Age
		if n == r.segment || !tooMuch && !tooOld {
			break
		}
		if err := r.dir.Remove(nameOf(n)); err != nil {
			return err
		}
		total -= sizes[i].Size()
	}
	return r.dir.Sync()
}

// Bridge writes the past between the last run and this one, as a server still knows it. It is
// called once, when everything was listed, if Last says that there was a run before.
func (r *Recorder) Bridge(ctx context.Context, past *history.Past, from history.Record) error {
	o := Saving{Cluster: r.cluster, Created: r.o.Now(), Key: r.o.Key, Secrets: r.o.Secrets}
	return private.Whole(filepath.Join(r.dir.Path, nameOf(r.bridge)), func(f private.File) error {
		_, err := Save(ctx, f, past, from, o)
		return err
	})
}

// Close has all that was seen on the disk and lets go of the directory.
func (r *Recorder) Close() error {
	err := r.Flush()
	return errors.Join(err, r.w.f.Close(), r.dir.Close())
}
