package kept

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
	"github.com/klauspost/compress/zstd"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-gc/kubectl-gc/internal/history"
	"github.com/kubectl-gc/kubectl-gc/internal/object"
	"github.com/kubectl-gc/kubectl-gc/internal/snapshot"
)

// Saving configures Save.
type Saving struct {
	Cluster Cluster
	Created time.Time
	// Secrets is true if the content of Secrets is saved.
	Secrets bool
}

// Saved counts the saved objects.
type Saved struct {
	// Bodies are whole objects, Lacking those with only metadata.
	Bodies, Lacking int
}

// Save writes a past to f. For each lost object it adds the whole content just before its deletion
// began, read from from.
func Save(ctx context.Context, f io.Writer, past *history.Past, from history.Record, o Saving) (Saved, error) {
	w, err := newWriter(f)
	if err != nil {
		return Saved{}, err
	}
	w.add(title{
		Format: formatVersion, Cluster: o.Cluster, Created: o.Created.UTC(), Secrets: o.Secrets,
		From: tick(past.From), To: tick(past.To),
	})
	w.past(past)
	s := &saver{ctx: ctx, w: w, from: from}
	for _, p := range pagesOf(past, o.Secrets) {
		if err := s.page(p); err != nil {
			return s.Saved, err
		}
	}
	return s.Saved, w.end()
}

// writer writes lines.
type writer struct {
	pack *zstd.Encoder
	sum  hash.Hash
	to   io.Writer
	err  error
}

func newWriter(f io.Writer) (*writer, error) {
	pack, err := zstd.NewWriter(f, zstd.WithEncoderConcurrency(1), zstd.WithLowerEncoderMem(true))
	if err != nil {
		return nil, err
	}
	sum := sha256.New()
	return &writer{pack: pack, sum: sum, to: io.MultiWriter(pack, sum)}, nil
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
	return errors.Join(w.err, w.pack.Close())
}

// past writes everything except whole objects.
func (w *writer) past(p *history.Past) {
	w.add(entry{Served: snapshot.StoreResources(p.Resources)})
	for i := range p.Limits {
		l := &p.Limits[i]
		w.add(entry{Limit: &limit{Resource: snapshot.StoreResource(l.Resource), From: tick(l.From), Listed: l.Listed, Why: l.Why}})
	}
	for _, t := range p.Clock.Ticks() {
		w.add(entry{Tick: new(tick(t))})
	}
	for _, o := range p.Standing {
		w.add(entry{Stood: snapshot.StoreObject(o)})
	}
	for _, o := range p.Elsewhere {
		w.add(entry{Elsewhere: snapshot.StoreObject(o)})
	}
	for _, r := range p.Absent {
		w.add(entry{Absent: new(ref(r))})
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

// page has losses of one kind and namespace.
type page struct {
	of history.Collection
	// wanted are ordered by the beginning of the loss. An object may be lost more than once.
	wanted []*history.Loss
}

// pagesOf groups the losses into as few lists as possible, each just before the first of its
// losses.
func pagesOf(past *history.Past, secrets bool) []*page {
	pages := map[history.Collection]*page{}
	losses := history.Trace(past).Losses
	for i := range losses {
		l := &losses[i]
		r := l.Object.Ref
		if r.Is(object.Secret) && !secrets {
			continue
		}
		at := history.Collection{APIVersion: r.APIVersion, Kind: r.Kind, Namespace: r.Namespace}
		p := pages[at]
		if p == nil {
			p = &page{of: at}
			p.of.Revision = before(l, past)
			pages[at] = p
		}
		p.wanted = append(p.wanted, l)
		p.of.Revision = min(p.of.Revision, before(l, past))
	}
	return slices.SortedFunc(maps.Values(pages), func(a, b *page) int {
		return cmp.Or(cmp.Compare(a.of.APIVersion, b.of.APIVersion), cmp.Compare(a.of.Kind, b.of.Kind), cmp.Compare(a.of.Namespace, b.of.Namespace))
	})
}

// before returns the last revision before a loss began.
func before(l *history.Loss, past *history.Past) uint64 {
	if l.Asked <= past.From.Revision {
		return past.From.Revision
	}
	return l.Asked - 1
}

// saver writes whole objects.
type saver struct {
	Saved
	ctx  context.Context //nolint:containedctx // of one Save
	w    *writer
	from history.Record
}

// single is the largest number of objects of a page that are read one by one.
const single = 8

func (s *saver) page(p *page) error {
	found := map[*history.Loss]bool{}
	if len(p.wanted) > single {
		if err := s.read(p.of, p.wanted, found); err != nil {
			return err
		}
	}
	for _, l := range p.wanted {
		if found[l] {
			continue
		}
		one := p.of
		one.Name = l.Object.Name
		one.Revision = max(p.of.Revision, l.Asked-min(l.Asked, 1))
		if err := s.read(one, []*history.Loss{l}, found); err != nil {
			return err
		}
		if !found[l] {
			s.Lacking++
		}
	}
	return nil
}

// read saves the wanted objects of a list, except those that changed between it and their loss.
func (s *saver) read(of history.Collection, wanted []*history.Loss, found map[*history.Loss]bool) error {
	by := map[types.UID][]*history.Loss{}
	for _, l := range wanted {
		by[l.Object.UID] = append(by[l.Object.UID], l)
	}
	err := s.from.Bodies(s.ctx, of, func(raw []byte) error {
		var id identity
		if err := json.Unmarshal(raw, &id); err != nil {
			return err
		}
		for _, l := range by[id.Metadata.UID] {
			until := max(l.Asked, of.Revision+1)
			if found[l] || until > of.Revision+1 && id.Metadata.ResourceVersion != l.Object.ResourceVersion {
				continue
			}
			found[l] = true
			s.Bodies++
			version, err := strconv.ParseUint(id.Metadata.ResourceVersion, 10, 64)
			if err != nil || version == 0 || version > of.Revision {
				version = of.Revision
			}
			s.w.add(entry{Body: &body{Kind: kindOf(l.Object.Ref), From: version, Until: until, Text: raw}})
		}
		return nil
	})
	if _, unserved := errors.AsType[*object.UnknownKindError](err); unserved || apierrors.IsResourceExpired(err) || apierrors.IsGone(err) {
		return nil
	}
	return err
}
