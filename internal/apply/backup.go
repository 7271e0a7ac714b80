package apply

import (
	"context"
	"errors"
	"fmt"
	"sync"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/kubectl-gc/kubectl-gc/internal/bundle"
	"github.com/kubectl-gc/kubectl-gc/internal/kube"
	"github.com/kubectl-gc/kubectl-gc/internal/object"
	"github.com/kubectl-gc/kubectl-gc/internal/report"
	"github.com/kubectl-gc/kubectl-gc/internal/snapshot"
)

// reading is how many objects are read at a time.
const reading = 8

// backup keeps the objects that a plan takes or changes.
type backup struct {
	client  *kube.Client
	writer  *bundle.Writer
	unsaved bool // nobody wants the bytes

	mu    sync.Mutex
	saved map[object.Ref]string
	fates map[object.Ref]bundle.Fate
	// gone and changed are objects that are not what the plan rests on.
	gone, changed map[object.Ref]bool
}

// subject is an object that a plan takes or changes.
type subject struct {
	ref  object.Ref
	fate bundle.Fate
	// written: it is the object of one of our own requests, which are for one
	// version only.
	written bool
}

// subjectsOf are the objects to keep: all of the account, and what is written to.
func subjectsOf(account []report.Consequence, written []object.Ref) []subject {
	fates, ours := map[object.Ref]bundle.Fate{}, map[object.Ref]bool{}
	for _, ref := range written {
		fates[ref], ours[ref] = bundle.Changed, true
	}
	for i := range account {
		ref := object.Ref(account[i].Object)
		if account[i].Change == report.ChangeDeleted {
			fates[ref] = bundle.Deleted
		} else {
			fates[ref] = bundle.Changed
		}
	}
	var list []subject
	for ref, fate := range fates {
		list = append(list, subject{ref, fate, ours[ref]})
	}
	sortSubjects(list)
	return list
}

// take backs the subjects up, those that are written to in exactly the version on
// which the plan rests.
func (b *backup) take(ctx context.Context, snap *snapshot.Snapshot, subjects []subject) error {
	return each(ctx, len(subjects), func(ctx context.Context, i int) error {
		s := subjects[i]
		seen := snap.Find(s.ref.APIVersion, s.ref.Kind, s.ref.Namespace, s.ref.Name)
		if seen == nil || seen.UID != s.ref.UID {
			return fmt.Errorf("%s is not in the snapshot", s.ref)
		}
		if err := b.keep(ctx, s, seen.ResourceVersion); err != nil {
			return fmt.Errorf("the backup of %s: %w", s.ref, err)
		}
		return nil
	})
}

func (b *backup) keep(ctx context.Context, s subject, version string) error {
	if b.unsaved {
		b.note(s, version)
		_, err := b.writer.AddUnsaved(s.ref, version, s.fate, bundle.BackupRefused)
		return err
	}
	raw, o, err := b.client.Raw(ctx, s.ref)
	switch {
	case apierrors.IsNotFound(err), err == nil && o.UID != s.ref.UID:
		b.mark(b.gone, s.ref)
		return nil
	case err != nil:
		return err
	case o.ResourceVersion != version && s.written:
		b.mark(b.changed, s.ref)
		return nil
	}
	// What only goes with something else has the version that it has now.
	b.note(s, o.ResourceVersion)
	_, err = b.writer.Add(s.ref, s.fate, raw)
	return err
}

func (b *backup) note(s subject, version string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.saved[s.ref], b.fates[s.ref] = version, s.fate
}

func (b *backup) mark(set map[object.Ref]bool, ref object.Ref) {
	b.mu.Lock()
	defer b.mu.Unlock()
	set[ref] = true
}

// again keeps another version of an object, when a DELETE is about to pin one that
// is not in the backup: one that our own patch has made, or one that was judged
// afresh after a conflict. If the object has changed once more, the answer is the
// conflict that the server would give.
func (b *backup) again(ctx context.Context, ref object.Ref, version string) error {
	b.mu.Lock()
	have, fate := b.saved[ref], b.fates[ref]
	b.mu.Unlock()
	if have == version || version == "" {
		return nil
	}
	if fate == "" {
		fate = bundle.Deleted
	}
	if b.unsaved {
		if _, err := b.writer.AddUnsaved(ref, version, fate, bundle.BackupRefused); err != nil {
			return &JournalError{err}
		}
		b.note(subject{ref: ref, fate: fate}, version)
		return nil
	}
	raw, o, err := b.client.Raw(ctx, ref)
	if err != nil {
		return err
	}
	if o.UID != ref.UID || o.ResourceVersion != version {
		r, err := b.client.Resource(ref.APIVersion, ref.Kind)
		if err != nil {
			return err
		}
		return apierrors.NewConflict(r.GroupResource(), ref.Name, errors.New("it has changed before it could be backed up"))
	}
	if _, err := b.writer.Add(ref, fate, raw); err != nil {
		return &JournalError{err}
	}
	b.note(subject{ref: ref, fate: fate}, version)
	return nil
}

// each does something n times, some of it at the same time, and returns the first
// failure.
func each(ctx context.Context, n int, do func(context.Context, int) error) error {
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	var all sync.WaitGroup
	next := make(chan int)
	for range min(reading, n) {
		all.Go(func() {
			for i := range next {
				if err := do(ctx, i); err != nil {
					stop(err)
				}
			}
		})
	}
	for i := range n {
		select {
		case next <- i:
		case <-ctx.Done():
		}
	}
	close(next)
	all.Wait()
	return context.Cause(ctx)
}
