package apply

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"

	"golang.org/x/sync/errgroup"
	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/kubectl-gc/kubectl-gc/internal/backup"
	"github.com/kubectl-gc/kubectl-gc/internal/kube"
	"github.com/kubectl-gc/kubectl-gc/internal/object"
	"github.com/kubectl-gc/kubectl-gc/internal/report"
	"github.com/kubectl-gc/kubectl-gc/internal/snapshot"
)

// maxReads is the number of concurrent reads.
const maxReads = 8

// runBackup saves the objects that a plan deletes or changes.
type runBackup struct {
	client  *kube.Client
	writer  *backup.Writer
	unsaved bool // the user wants no bytes
	secrets bool // the user wants the bytes of Secrets
	// protected returns why an object must be left alone; nil if it need not be.
	protected func(*object.Object) error

	mu      sync.Mutex
	saved   map[object.Ref]string
	actions map[object.Ref]backup.Action
	// contents holds the content of objects that are written to, in the version that the plan is
	// based on.
	contents map[object.Ref]kube.Content
	// gone and changed are objects that differ from what the plan is based on.
	gone, changed map[object.Ref]bool
}

// subject is an object that a plan deletes or changes.
type subject struct {
	ref    object.Ref
	action backup.Action
	// written reports that one of our own requests is for the object. Such requests are for one
	// version only.
	written bool
}

// subjectsOf returns the objects to save: all consequences, and the objects that are written to.
func subjectsOf(p *report.Plan, written []object.Ref) []subject {
	actions, ours := map[object.Ref]backup.Action{}, map[object.Ref]bool{}
	for _, ref := range written {
		actions[ref], ours[ref] = backup.Changed, true
	}
	for e := range p.Account() {
		if e.IsDeleted() {
			actions[e.Object] = backup.Deleted
		} else {
			actions[e.Object] = backup.Changed
		}
	}
	var list []subject
	for ref, action := range actions {
		list = append(list, subject{ref, action, ours[ref]})
	}
	slices.SortFunc(list, func(a, b subject) int { return object.Compare(a.ref, b.ref) })
	return list
}

// backUp backs the subjects up. Objects that are written to are saved only in the version that the
// plan is based on.
func (b *runBackup) backUp(ctx context.Context, snap *snapshot.Snapshot, subjects []subject) error {
	return forEach(ctx, len(subjects), func(ctx context.Context, i int) error {
		s := subjects[i]
		seen := snap.Find(s.ref.APIVersion, s.ref.Kind, s.ref.Namespace, s.ref.Name)
		if seen == nil || seen.UID != s.ref.UID {
			return fmt.Errorf("%s is not in the snapshot", s.ref)
		}
		if err := b.save(ctx, s, seen.ResourceVersion); err != nil {
			return fmt.Errorf("the backup of %s: %w", s.ref, err)
		}
		return nil
	})
}

// save saves one subject, or notes in gone or changed that it differs from what the plan is based
// on. version is the version in the snapshot. A protected consequence is a *RefusedError.
func (b *runBackup) save(ctx context.Context, s subject, version string) error {
	b.mu.Lock()
	b.actions[s.ref] = s.action // even if the object can't be saved now
	b.mu.Unlock()
	if b.unsaved {
		b.recordVersion(s.ref, version)
		if s.written { // to detect later changes; if the read fails, every change counts
			if raw, o, err := b.client.Raw(ctx, s.ref); err == nil && o.UID == s.ref.UID && o.ResourceVersion == version {
				b.recordContent(s.ref, raw)
			}
		}
		_, err := b.writer.AddUnsaved(s.ref, version, s.action, backup.BackupRefused)
		return err
	}
	raw, o, err := b.read(ctx, s)
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
	if !s.written && s.action == backup.Deleted {
		if err := b.protected(o); err != nil {
			return &RefusedError{Why: s.ref.ShortName() + strings.TrimPrefix(err.Error(), "it")}
		}
	}
	if s.written {
		b.recordContent(s.ref, raw)
	}
	// Objects deleted as a consequence are saved in their current version.
	b.recordVersion(s.ref, o.ResourceVersion)
	if raw == nil {
		_, err = b.writer.AddUnsaved(s.ref, o.ResourceVersion, s.action, backup.SecretLeftOut)
	} else {
		_, err = b.writer.Add(s.ref, s.action, raw)
	}
	return err
}

// read reads a subject. It does not read the values of a Secret that is not saved: raw is nil. Those of one
// that is written to tell whether it has changed.
func (b *runBackup) read(ctx context.Context, s subject) (raw []byte, o *object.Object, err error) {
	if s.ref.Is(object.Secret) && !b.secrets && !s.written {
		o, err = b.client.Get(ctx, s.ref)
		return nil, o, err
	}
	return b.client.Raw(ctx, s.ref)
}

// recordVersion records that the backup has a version of an object.
func (b *runBackup) recordVersion(ref object.Ref, version string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.saved[ref] = version
	delete(b.changed, ref)
}

// recordContent records the content of the version that the plan is based on.
func (b *runBackup) recordContent(ref object.Ref, raw []byte) {
	c, err := kube.ContentOf(raw)
	if err != nil {
		return // no content will equal it
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.contents[ref] = c
}

func (b *runBackup) mark(set map[object.Ref]bool, ref object.Ref) {
	b.mu.Lock()
	defer b.mu.Unlock()
	set[ref] = true
}

// saveAgain saves another version of an object, if a request is about to require one that the backup
// does not have: the result of our own patch, or a version judged again after a conflict. It fails
// if the object is protected now. If the object has changed once more, the error is the conflict
// that the server would return.
func (b *runBackup) saveAgain(ctx context.Context, ref object.Ref, version string) error {
	b.mu.Lock()
	have := b.saved[ref]
	b.mu.Unlock()
	if have == version || version == "" {
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
	if err := b.protected(o); err != nil {
		return err
	}
	return b.saveNewer(o, raw)
}

// saveNewer saves the version of an object that is about to be written to, unless the backup has it.
func (b *runBackup) saveNewer(o *object.Object, raw []byte) error {
	b.mu.Lock()
	have, action := b.saved[o.Ref], cmp.Or(b.actions[o.Ref], backup.Deleted)
	b.mu.Unlock()
	if have == o.ResourceVersion {
		return nil
	}
	var err error
	if b.unsaved {
		_, err = b.writer.AddUnsaved(o.Ref, o.ResourceVersion, action, backup.BackupRefused)
	} else {
		_, err = b.writer.Add(o.Ref, action, raw)
	}
	if err != nil {
		return &backup.JournalError{Err: err}
	}
	b.recordVersion(o.Ref, o.ResourceVersion)
	return nil
}

// forEach calls do for 0 to n-1 with limited concurrency, and returns the first error.
func forEach(ctx context.Context, n int, do func(context.Context, int) error) error {
	all, within := errgroup.WithContext(ctx)
	all.SetLimit(maxReads)
	for i := range n {
		all.Go(func() error {
			if within.Err() != nil {
				return context.Cause(within)
			}
			return do(within, i)
		})
	}
	err := all.Wait()
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return err
}

// remainingNamespaces returns the namespaces of the saved objects that remain and can be read. They
// later identify the cluster for users without permission to read kube-system.
func remainingNamespaces(ctx context.Context, get func(context.Context, object.Ref) (*object.Object, error), snap *snapshot.Snapshot, subjects []subject) []object.Ref {
	names := map[string]bool{}
	for _, s := range subjects {
		names[s.ref.Namespace] = true
	}
	delete(names, "")
	for _, s := range subjects {
		if s.ref.Is(object.Namespace) {
			delete(names, s.ref.Name)
		}
	}
	var all []object.Ref
	for name := range names {
		seen := snap.FindKind(object.Namespace, "", name)
		if seen == nil {
			var err error
			if seen, err = get(ctx, object.Namespace.Ref("", name)); err != nil {
				continue // without permission to read it, it can't be a witness
			}
		}
		all = append(all, seen.Ref)
	}
	slices.SortFunc(all, object.Compare)
	return all
}
