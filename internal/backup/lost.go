package backup

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"maps"
	"slices"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-gc/kubectl-gc/internal/kube"
	"github.com/kubectl-gc/kubectl-gc/internal/object"
	"github.com/kubectl-gc/kubectl-gc/internal/past"
)

// LostCommand is the command of the head of a backup of past losses.
const LostCommand = "lost"

// Losses selects what a backup of past losses will contain.
type Losses struct {
	Account *past.Account
	// Which are indexes of the account's losses. Each object is kept in its state before the
	// request that caused its deletion.
	Which []int
	// Whole are collections that were lost entirely.
	Whole []past.Collection
	// Earlier is a backup whose entries are copied unless this backup has the object already; nil
	// for none.
	Earlier *Backup
	// Living finds existing dependents of the kept objects, which are kept too. Nil: none are.
	Living Living
	// Kinds are lost kinds. Their objects were lost, too, and cannot be kept yet.
	Kinds []schema.GroupKind
}

// Kept describes a backup made by KeepLost.
type Kept struct {
	Path string
	// Objects is the number of objects in the backup.
	Objects int
	// OfKinds is the number of existing objects that refer to one of Losses.Kinds.
	OfKinds int
	// Unknown is why existing dependents may be missing from the backup; nil if none is. Unread is
	// the same for ServiceAccounts and ClusterRoles that controllers have changed.
	Unknown, Unread error
}

// KeepLost makes a backup of losses from a record of the past, with Secrets if the head says so.
// Objects that the record no longer contains are listed without their bytes. The backup is sealed
// if the error is nil.
func KeepLost(ctx context.Context, record past.Source, dir string, head Head, l Losses) (Kept, error) {
	head.Command, head.PlanDigest = LostCommand, l.digest()
	w, err := Create(dir, head)
	if err != nil {
		return Kept{}, err
	}
	k := &lossKeeper{ctx: ctx, record: record, writer: w, kept: map[types.UID]bool{}, earlier: map[types.UID]*Entry{}}
	out := Kept{Path: w.Path()}
	if err = k.keepAll(l); err == nil {
		out.OfKinds, out.Unknown = k.keepLive(l) // not fatal: the record forgets the rest within minutes
		out.Unread = k.unread
		out.Objects, err = len(k.kept), errors.Join(w.Seal(), ctx.Err())
	}
	return out, errors.Join(err, w.Close(head.Created))
}

// digest replaces the digest of a plan, since the run was not ours. It covers the kept losses and
// their revisions.
func (l *Losses) digest() string {
	h := sha256.New()
	for _, i := range l.Which {
		x := &l.Account.Losses[i]
		fmt.Fprintf(h, "%q %q %d\n", x.Object.String(), x.Object.UID, x.Began)
	}
	for _, of := range l.Whole {
		fmt.Fprintf(h, "%q %q %q %d\n", of.APIVersion, of.Kind, of.Namespace, of.Revision)
	}
	return "sha256:" + hex.EncodeToString(h.Sum(nil))
}

// page is a set of losses of one kind and namespace that are read at one revision.
type page struct {
	of     past.Collection
	wanted map[types.UID]wanted
}

// wanted is an object of the past.
type wanted struct {
	ref    object.Ref
	action Action
	// last is the revision before the deletion of the object itself began. An object that was
	// created after the request that caused its deletion is found only there, not in the page.
	last uint64
}

// After manyToList objects, reading a list ends if at most fewToList wanted objects are missing.
// These are then read by name.
const (
	manyToList = 500
	fewToList  = 8
)

// errListEnough ends a list early: all wanted objects were found, or the list is large.
var errListEnough = errors.New("enough was read")

// batchBodies groups losses into as few lists as possible.
func pagesOfLosses(account *past.Account, which []int) []*page {
	pages := map[past.Collection]*page{}
	first := account.Past.From.Revision
	for _, i := range which {
		l := &account.Losses[i]
		ref := l.Object.Ref
		at := past.Collection{APIVersion: ref.APIVersion, Kind: ref.Kind, Namespace: ref.Namespace, Revision: revisionBefore(account.RequestRevision(l), first)}
		if pages[at] == nil {
			pages[at] = &page{of: at, wanted: map[types.UID]wanted{}}
		}
		w := wanted{ref: ref, action: Deleted, last: revisionBefore(l.Began, first)}
		if l.Orphaned {
			w.action = Changed
		}
		pages[at].wanted[ref.UID] = w
	}
	return sortedPages(maps.Values(pages))
}

func sortedPages(pages iter.Seq[*page]) []*page {
	return slices.SortedFunc(pages, func(a, b *page) int {
		return cmp.Or(cmp.Compare(a.of.APIVersion, b.of.APIVersion), cmp.Compare(a.of.Kind, b.of.Kind),
			cmp.Compare(a.of.Namespace, b.of.Namespace), cmp.Compare(a.of.Revision, b.of.Revision))
	})
}

// revisionBefore returns the previous revision, but not one below first, the oldest one remembered.
func revisionBefore(revision, first uint64) uint64 {
	if revision <= first {
		return first
	}
	return revision - 1
}

// lossKeeper writes objects of the past into a backup.
type lossKeeper struct {
	ctx    context.Context //nolint:containedctx // of one KeepLost
	record past.Source
	writer *Writer
	kept   map[types.UID]bool
	// owners are the kept objects that were deleted.
	owners []object.Ref
	// earlier are the entries of the earlier backup.
	earlier map[types.UID]*Entry
	// rewritten are what controllers may have changed because an object was deleted.
	rewritten rewrites
	unread    error
}

// keepAll keeps the losses, then what controllers rewrote because of them. Entries of the earlier
// backup come last, because an object in the record is preferred to its earlier copy.
func (k *lossKeeper) keepAll(l Losses) error {
	if l.Earlier != nil {
		for i := range l.Earlier.Entries {
			k.earlier[l.Earlier.Entries[i].Object.UID] = &l.Earlier.Entries[i]
		}
	}
	for _, of := range l.Whole {
		if err := k.keepCollection(of); err != nil {
			return err
		}
	}
	for _, p := range pagesOfLosses(l.Account, l.Which) {
		if err := k.keepPage(p); err != nil {
			return err
		}
	}
	if err := k.keepRewritten(); err != nil {
		return err
	}
	for _, uid := range slices.Sorted(maps.Keys(k.earlier)) {
		if !k.kept[uid] {
			if err := k.copyFromBackup(l.Earlier, k.earlier[uid]); err != nil {
				return err
			}
		}
	}
	return nil
}

// keepCollection keeps all objects of a collection. It is an error if the record has forgotten
// them, since even their names are unknown then.
func (k *lossKeeper) keepCollection(of past.Collection) error {
	k.rewritten.revision = of.Revision
	return k.record.Bodies(k.ctx, of, func(raw []byte) error {
		var id identity
		if err := json.Unmarshal(raw, &id); err != nil {
			return err
		}
		m := &id.Metadata
		if k.kept[m.UID] {
			return nil
		}
		return k.add(object.Ref{APIVersion: of.APIVersion, Kind: of.Kind, Namespace: m.Namespace, Name: m.Name, UID: m.UID}, Deleted, raw)
	})
}

func (k *lossKeeper) add(ref object.Ref, action Action, raw []byte) error {
	k.kept[ref.UID] = true
	if action == Deleted {
		k.owners = append(k.owners, ref)
		k.collectRewrites(ref, raw)
	}
	_, err := k.writer.Add(ref, action, raw)
	return err
}

// keepPage reads a page and keeps its wanted objects. Forgotten ones are noted without their bytes.
func (k *lossKeeper) keepPage(p *page) error {
	if err := k.readPage(k.record, p); err != nil {
		return err
	}
	for _, uid := range slices.Sorted(maps.Keys(p.wanted)) {
		w := p.wanted[uid]
		if k.kept[uid] || k.earlier[uid] != nil {
			continue
		}
		if _, err := k.writer.AddUnsaved(w.ref, "", w.action, Forgotten); err != nil {
			return err
		}
	}
	return nil
}

// readPage reads the wanted objects of a page at its revision. Those missing there are read again,
// at the revision before their own deletion.
func (k *lossKeeper) readPage(from bodyReader, p *page) error {
	if err := k.readAtRevision(from, p.of, p.wanted); err != nil {
		return err
	}
	later := map[uint64]map[types.UID]wanted{}
	for uid, w := range p.wanted {
		if k.kept[uid] || w.last == p.of.Revision {
			continue
		}
		if later[w.last] == nil {
			later[w.last] = map[types.UID]wanted{}
		}
		later[w.last][uid] = w
	}
	for _, revision := range slices.Sorted(maps.Keys(later)) {
		at := p.of
		at.Revision = revision
		if err := k.readAtRevision(from, at, later[revision]); err != nil {
			return err
		}
	}
	return nil
}

// readAtRevision reads objects at one revision: one by name, more with a list.
func (k *lossKeeper) readAtRevision(from bodyReader, of past.Collection, some map[types.UID]wanted) error {
	isKept := func(uid types.UID, _ wanted) bool { return k.kept[uid] }
	maps.DeleteFunc(some, isKept)
	if len(some) > 1 {
		whole, err := k.read(from, of, some)
		if err != nil || whole {
			return err
		}
		some = maps.Clone(some)
		maps.DeleteFunc(some, isKept)
	}
	for _, uid := range slices.Sorted(maps.Keys(some)) {
		of.Name = some[uid].ref.Name
		if _, err := k.read(from, of, some); err != nil {
			return err
		}
	}
	return nil
}

// read keeps the wanted objects of a list. It ignores unserved kinds, unreadable lists and
// forgotten revisions. whole is false if it has left the end of a large list out, and a few objects
// are missing.
func (k *lossKeeper) read(from bodyReader, of past.Collection, wanted map[types.UID]wanted) (whole bool, err error) {
	missing, seen := len(wanted), 0
	err = from.Bodies(k.ctx, of, func(raw []byte) error {
		var id identity
		if err := json.Unmarshal(raw, &id); err != nil {
			return err
		}
		seen++
		if w, ok := wanted[id.Metadata.UID]; ok && !k.kept[id.Metadata.UID] {
			missing--
			k.rewritten.revision = of.Revision
			if err := k.add(w.ref, w.action, raw); err != nil {
				return err
			}
		}
		if missing == 0 || seen >= manyToList && missing <= fewToList {
			return errListEnough
		}
		return nil
	})
	_, unserved := errors.AsType[*object.UnknownKindError](err)
	_, unread := errors.AsType[*past.UnreadError](err)
	switch {
	case errors.Is(err, errListEnough):
		return missing == 0, nil
	case unserved || unread || kube.Forgotten(err):
		return true, nil
	}
	return true, err
}

// copyFromBackup copies an entry of the earlier backup.
func (k *lossKeeper) copyFromBackup(from *Backup, e *Entry) error {
	if !e.Restorable {
		_, err := k.writer.AddUnsaved(e.Object, e.ResourceVersion, e.Action, e.Why)
		return err
	}
	raw, err := from.Raw(e)
	if err != nil {
		return err
	}
	return k.add(e.Object, e.Action, raw)
}

// bodyReader reads whole objects, as a past.Source does.
type bodyReader interface {
	Bodies(ctx context.Context, of past.Collection, take func(raw []byte) error) error
}

// Living reads the present state of the cluster that losses are restored to. Its collections
// have revision 0.
type Living interface {
	bodyReader
	// Dependents returns the existing objects that refer to one of the owners or to any object of
	// the kinds, and the number of the latter.
	Dependents(ctx context.Context, owners []object.Ref, kinds []schema.GroupKind) (refs []object.Ref, ofKinds int, err error)
}

// keepLive keeps existing objects that refer to deleted ones. The garbage collector has not
// processed them yet, or cannot while the CRD of their owner is missing. It deletes them as soon as
// it can, because a recreated owner has another UID. With the backup, an undo can point their
// references to the new owner, or recreate them if the collector was faster.
func (k *lossKeeper) keepLive(l Losses) (ofKinds int, err error) {
	if l.Living == nil || len(k.owners)+len(l.Kinds) == 0 {
		return 0, nil
	}
	refs, ofKinds, err := l.Living.Dependents(k.ctx, k.owners, l.Kinds)
	if err != nil {
		return 0, err
	}
	pages := map[past.Collection]*page{}
	for _, ref := range refs {
		of := past.Collection{APIVersion: ref.APIVersion, Kind: ref.Kind, Namespace: ref.Namespace}
		if pages[of] == nil {
			pages[of] = &page{of: of, wanted: map[types.UID]wanted{}}
		}
		pages[of].wanted[ref.UID] = wanted{ref: ref, action: Changed}
	}
	for _, p := range sortedPages(maps.Values(pages)) {
		err = errors.Join(err, k.readPage(l.Living, p))
	}
	return ofKinds, err
}
