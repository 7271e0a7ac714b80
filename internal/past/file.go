package past

import (
	"cmp"
	"context"
	"crypto/sha256"
	"errors"
	"hash"
	"io"
	"maps"
	"slices"
	"strconv"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-gc/kubectl-gc/internal/codec"
	"github.com/kubectl-gc/kubectl-gc/internal/object"
	"github.com/kubectl-gc/kubectl-gc/internal/snapshot"
)

// formatVersion is increased when an older reader would misunderstand a newer file.
const formatVersion = 2

// magic is the beginning of every file.
const magic = `{"kubectlGCHistory":`

// header is the first line of a file.
type header struct {
	Format  int       `json:"kubectlGCHistory"`
	Cluster Cluster   `json:"cluster"`
	Created time.Time `json:"created,omitzero"`
	// Secrets is true if the file has the content of Secrets.
	Secrets bool `json:"secrets,omitzero"`
	// From and To are the moments between which the history is complete, except for the limits.
	From Moment `json:"from"`
	To   Moment `json:"to"`
}

// Cluster is the cluster of a history.
type Cluster struct {
	UID     types.UID `json:"uid,omitzero"`
	Server  string    `json:"server,omitzero"`
	Context string    `json:"context,omitzero"`
	Version string    `json:"version,omitzero"`
}

// entry is a line after the first one. Exactly one field is set.
type entry struct {
	Served    []object.Resource      `json:"served,omitempty"`
	Limit     *Limit                 `json:"limit,omitzero"`
	Tick      *Moment                `json:"tick,omitzero"`
	Stood     *snapshot.StoredObject `json:"stood,omitzero"`
	Elsewhere *snapshot.StoredObject `json:"elsewhere,omitzero"`
	Absent    *snapshot.StoredRef    `json:"absent,omitzero"`
	Change    *change                `json:"change,omitzero"`
	Body      *savedBody             `json:"body,omitzero"`
	// SHA256 is the hash of all lines before it. Only the last line has it.
	SHA256 []byte `json:"sha256,omitempty"`
}

// savedKind is a kind without its version.
type savedKind struct {
	Group string `json:"group,omitzero"`
	Kind  string `json:"kind"`
}

func kindOf(r object.Ref) savedKind { return savedKind{r.Group(), r.Kind} }

// change is a write.
type change struct {
	Revision uint64 `json:"revision"`
	// After and Unseen are as in Change.
	After  uint64                 `json:"after,omitzero"`
	Unseen bool                   `json:"unseen,omitzero"`
	Type   object.EventType       `json:"type,omitzero"`
	Object *snapshot.StoredObject `json:"object"`
	Old    *snapshot.StoredObject `json:"old,omitzero"`
}

// savedBody is a whole object that existed from one revision until another one.
type savedBody struct {
	Kind  savedKind      `json:"kind"`
	From  uint64         `json:"from"`
	Until uint64         `json:"until"`
	Text  jsontext.Value `json:"text"`
	// uid is the uid in Text.
	uid types.UID
}

// SaveOptions configures Save.
type SaveOptions struct {
	Cluster Cluster
	Created time.Time
	// Secrets is true if the content of Secrets is saved.
	Secrets bool
}

// Saved counts the saved objects.
type Saved struct {
	// Bodies are whole objects, WithoutBody those with only metadata.
	Bodies, WithoutBody int
}

// Save writes a past to f. For each lost object it adds the whole content just before its deletion
// began, read from from.
func Save(ctx context.Context, f io.Writer, record *Record, from Source, o SaveOptions) (Saved, error) {
	w, err := newWriter(f)
	if err != nil {
		return Saved{}, err
	}
	w.add(header{
		Format: formatVersion, Cluster: o.Cluster, Created: o.Created.UTC(), Secrets: o.Secrets,
		From: record.From, To: record.To,
	})
	w.past(record)
	s := &saver{ctx: ctx, w: w, from: from}
	for _, p := range batchBodies(record, o.Secrets) {
		if err := s.saveBatch(p); err != nil {
			return s.Saved, err
		}
	}
	return s.Saved, w.end()
}

// writer writes lines.
type writer struct {
	compressor io.WriteCloser
	sum        hash.Hash
	to         io.Writer
	err        error
}

func newWriter(f io.Writer) (*writer, error) {
	pack, err := codec.NewWriter(codec.Zstd, f, true)
	if err != nil {
		return nil, err
	}
	sum := sha256.New()
	return &writer{compressor: pack, sum: sum, to: io.MultiWriter(pack, sum)}, nil
}

// add writes a line. The first error is returned by end.
func (w *writer) add(line any) {
	text, err := json.Marshal(line, json.Deterministic(true))
	if w.err == nil && err == nil {
		_, err = w.to.Write(append(text, '\n'))
	}
	w.err = cmp.Or(w.err, err)
}

// end writes the last line.
func (w *writer) end() error {
	w.add(entry{SHA256: w.sum.Sum(nil)})
	return errors.Join(w.err, w.compressor.Close())
}

// past writes everything except whole objects.
func (w *writer) past(p *Record) {
	w.add(entry{Served: p.Resources.All()})
	for i := range p.Limits {
		w.add(entry{Limit: &p.Limits[i]})
	}
	for _, t := range p.Clock.Ticks() {
		w.add(entry{Tick: &t})
	}
	for _, o := range p.Unchanged {
		w.add(entry{Stood: snapshot.StoreObject(o)})
	}
	for _, o := range p.ForeignOwners {
		w.add(entry{Elsewhere: snapshot.StoreObject(o)})
	}
	for _, r := range p.Absent {
		w.add(entry{Absent: new(snapshot.StoredRef(r))})
	}
	for i := range p.Changes {
		c := &p.Changes[i]
		e := &change{Revision: c.Revision, After: c.After, Unseen: c.Unseen, Type: c.Type, Object: snapshot.StoreObject(c.Object)}
		if c.Old != nil {
			e.Old = snapshot.StoreObject(c.Old)
		}
		w.add(entry{Change: e})
	}
}

// bodyBatch has the losses of one kind and namespace.
type bodyBatch struct {
	collection Collection
	// losses are ordered by the beginning of the loss. An object may be lost more than once.
	losses []*Loss
}

// batchBodies groups the losses into as few lists as possible, each just before the first of its
// losses.
func batchBodies(record *Record, secrets bool) []*bodyBatch {
	pages := map[Collection]*bodyBatch{}
	losses := Trace(record).Losses
	for i := range losses {
		l := &losses[i]
		r := l.Object.Ref
		if r.Is(object.Secret) && !secrets {
			continue
		}
		at := Collection{APIVersion: r.APIVersion, Kind: r.Kind, Namespace: r.Namespace}
		p := pages[at]
		if p == nil {
			p = &bodyBatch{collection: at}
			p.collection.Revision = revisionBefore(l, record)
			pages[at] = p
		}
		p.losses = append(p.losses, l)
		p.collection.Revision = min(p.collection.Revision, revisionBefore(l, record))
	}
	return slices.SortedFunc(maps.Values(pages), func(a, b *bodyBatch) int {
		return cmp.Or(cmp.Compare(a.collection.APIVersion, b.collection.APIVersion), cmp.Compare(a.collection.Kind, b.collection.Kind), cmp.Compare(a.collection.Namespace, b.collection.Namespace))
	})
}

// revisionBefore returns the last revision before a loss began.
func revisionBefore(l *Loss, record *Record) uint64 {
	if l.Began <= record.From.Revision {
		return record.From.Revision
	}
	return l.Began - 1
}

// saver writes whole objects.
type saver struct {
	Saved
	ctx  context.Context //nolint:containedctx // of one Save
	w    *writer
	from Source
}

// maxSingleReads is the largest number of objects of a batch that are read one by one.
const maxSingleReads = 8

// saveBatch saves the objects of a batch: many with one list, and those that the list lacks one by
// one.
func (s *saver) saveBatch(p *bodyBatch) error {
	found := map[*Loss]bool{}
	if len(p.losses) > maxSingleReads {
		if err := s.saveBodies(p.collection, p.losses, found); err != nil {
			return err
		}
	}
	for _, l := range p.losses {
		if found[l] {
			continue
		}
		one := p.collection
		one.Name = l.Object.Name
		one.Revision = max(p.collection.Revision, l.Began-min(l.Began, 1))
		if err := s.saveBodies(one, []*Loss{l}, found); err != nil {
			return err
		}
		if !found[l] {
			s.WithoutBody++
		}
	}
	return nil
}

// saveBodies saves the wanted objects of a list, except those that changed between it and their
// loss.
func (s *saver) saveBodies(of Collection, wanted []*Loss, found map[*Loss]bool) error {
	by := map[types.UID][]*Loss{}
	for _, l := range wanted {
		by[l.Object.UID] = append(by[l.Object.UID], l)
	}
	err := s.from.Bodies(s.ctx, of, func(raw []byte) error {
		var id bodyIdentity
		if err := json.Unmarshal(raw, &id); err != nil {
			return err
		}
		for _, l := range by[id.Metadata.UID] {
			until := max(l.Began, of.Revision+1)
			if found[l] || until > of.Revision+1 && id.Metadata.ResourceVersion != l.Object.ResourceVersion {
				continue
			}
			found[l] = true
			s.Bodies++
			version, err := strconv.ParseUint(id.Metadata.ResourceVersion, 10, 64)
			if err != nil || version == 0 || version > of.Revision {
				version = of.Revision
			}
			s.w.add(entry{Body: &savedBody{Kind: kindOf(l.Object.Ref), From: version, Until: until, Text: raw}})
		}
		return nil
	})
	if _, unserved := errors.AsType[*object.UnknownKindError](err); unserved || apierrors.IsResourceExpired(err) || apierrors.IsGone(err) {
		return nil
	}
	return err
}
