package kept

import (
	"bytes"
	"crypto/rand"
	"errors"
	"fmt"
	"strconv"
	"sync"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-gc/kubectl-gc/internal/history"
	"github.com/kubectl-gc/kubectl-gc/internal/object"
	"github.com/kubectl-gc/kubectl-gc/internal/private"
	"github.com/kubectl-gc/kubectl-gc/internal/snapshot"
)

// Keeping says how a history is kept while it happens.
type Keeping struct {
	// Dir is where its files are.
	Dir string
	Key Key
	// Secrets says that the content of Secrets is kept.
	Secrets bool
	// Age and Size bound what is kept: files that are older, or more bytes, are removed.
	Age  time.Duration
	Size int64
	Now  func() time.Time
}

// segmentsKept is of how many segments about a history consists when it has reached a bound.
const segmentsKept = 8

// mostPending is how much is kept in memory while the disk does not take it.
const mostPending = 64 << 20

// Recorder writes down what watches show. The calls about one kind come one after the other;
// they do not wait for the disk.
type Recorder struct {
	o       Keeping
	cluster Cluster
	dir     *private.Directory
	run     string
	// last is up to where the history had seen everything when this run began.
	last uint64
	// bridge is the number of the file for the time since.
	bridge int

	// writing guards the files: what is below it.
	writing sync.Mutex
	segment int
	w       *writer
	base    int64 // the size of what the segment began with
	created time.Time

	// mu guards what the watches have shown since.
	mu      sync.Mutex
	pending bytes.Buffer
	encoder *jsontext.Encoder
	full    bool
	kinds   map[kind]*watched
	served  []snapshot.StoredResource
	synced  bool
	// highest is the newest revision that was seen, before that of the flush before.
	highest, before, settled uint64
	ticked                   int64
}

// watched is a kind as its watch goes.
type watched struct {
	seen map[types.UID]seen
	// listing: a list has begun and is not over. Broken: nothing comes at present.
	listing, broken bool
	up              bool
	since           time.Time
	// bound is what had been seen of all kinds when the watch ended.
	bound uint64
}

// seen is an object as it was written last.
type seen struct {
	version uint64
	// looks stands for all of it, marks for what tells of its end.
	looks, marks uint64
}

// NewRecorder begins a run behind what the directory holds.
func NewRecorder(o Keeping, cluster Cluster) (*Recorder, error) {
	if err := private.MakeAll(o.Dir); err != nil {
		return nil, err
	}
	dir, err := private.Enter(o.Dir)
	if err != nil {
		return nil, err
	}
	id := make([]byte, 8)
	_, _ = rand.Read(id) // it never fails
	r := &Recorder{o: o, cluster: cluster, dir: dir, run: fmt.Sprintf("%x", id), kinds: map[kind]*watched{}}
	r.encoder = jsontext.NewEncoder(&r.pending)
	if err := r.resume(); err != nil {
		return nil, errors.Join(err, dir.Close())
	}
	return r, nil
}

// Last is the revision up to which the history had seen everything when this run began; 0 where
// there was none.
func (r *Recorder) Last() uint64 { return r.last }

// Whole reports whether changes of a kind are wanted as whole objects. Those of Leases tell the
// time.
func (r *Recorder) Whole(of object.Resource) bool { return !of.Is(object.Secret) || r.o.Secrets }

func (r *Recorder) put(e *entry) {
	if r.full {
		return
	}
	if err := json.MarshalEncode(r.encoder, e, json.Deterministic(true)); err != nil || r.pending.Len() > mostPending {
		r.full = true
		r.pending.Reset()
	}
}

func (r *Recorder) kind(of object.Resource) *watched {
	k := kindOf(of)
	if r.kinds[k] == nil {
		r.kinds[k] = &watched{seen: map[types.UID]seen{}}
	}
	return r.kinds[k]
}

// Served notes which kinds there are.
func (r *Recorder) Served(rs *object.Resources) {
	stored := snapshot.StoreResources(rs)
	r.mu.Lock()
	defer r.mu.Unlock()
	if equalJSON(stored, r.served) {
		return
	}
	r.served = stored
	r.put(&entry{Served: stored})
}

func equalJSON(a, b any) bool {
	x, err := json.Marshal(a)
	y, other := json.Marshal(b)
	return err == nil && other == nil && bytes.Equal(x, y)
}

// Synced says that every kind was listed that can be.
func (r *Recorder) Synced() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.synced = true
}

// Begin begins a list of a kind, anew if one has begun.
func (r *Recorder) Begin(of object.Resource) {
	if history.Ordinary(of) {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	w := r.kind(of)
	w.listing, w.seen = true, map[types.UID]seen{}
	r.put(&entry{Begin: new(kindOf(of))})
}

// Object is one of the list.
func (r *Recorder) Object(of object.Resource, o *object.Object) {
	if history.Ordinary(of) {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.kind(of).seen[o.UID] = look(o)
	r.put(&entry{Object: snapshot.StoreObject(o)})
}

// Listed ends the list: it was all that there was at a version.
func (r *Recorder) Listed(of object.Resource, version string) {
	at, err := strconv.ParseUint(version, 10, 64)
	if history.Ordinary(of) || err != nil {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	w := r.kind(of)
	w.listing, w.broken, w.bound = false, false, at
	r.highest = max(r.highest, at)
	r.put(&entry{Listed: &listed{kindOf(of), at}})
}

// Watching says whether the changes of a kind arrive.
func (r *Recorder) Watching(of object.Resource, on bool) {
	if history.Ordinary(of) {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	w := r.kind(of)
	if w.up && !on {
		w.bound = r.highest
	}
	w.up, w.since = on, r.o.Now()
}

// Broken says that nothing is seen of a kind until it is listed again.
func (r *Recorder) Broken(of object.Resource, why string) {
	if history.Ordinary(of) {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	w := r.kind(of)
	if w.broken {
		return
	}
	w.broken, w.listing = true, false
	r.put(&entry{Broken: &broken{kindOf(of), why}})
}

// Change is a write, with the whole object where that is wanted.
func (r *Recorder) Change(of object.Resource, e object.Event, raw []byte) {
	revision, err := strconv.ParseUint(e.Object.ResourceVersion, 10, 64)
	if err != nil {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.highest = max(r.highest, revision)
	if history.Ordinary(of) {
		r.renewed(of, e, revision, raw)
		return
	}
	w := r.kind(of)
	o := e.Object
	had, known := w.seen[o.UID]
	now := look(o)
	if e.Type == object.Deleted {
		delete(w.seen, o.UID)
	} else {
		w.seen[o.UID] = now
	}
	if e.Type == object.Modified && known && had.looks == now.looks {
		return // nothing that is kept of it has changed
	}
	c := &change{Revision: revision, Type: e.Type, Object: snapshot.StoreObject(o), Before: had.version}
	if known && (e.Type == object.Deleted || had.marks != now.marks) && r.Whole(of) {
		c.Body = raw
	}
	r.put(&entry{Change: c})
}

// precise is how many seconds two ticks are apart at least.
const precise = 5

// renewed takes the time from a lease of the control plane.
func (r *Recorder) renewed(of object.Resource, e object.Event, revision uint64, raw []byte) {
	if !of.Is(object.Lease) || e.Object.Namespace != "kube-system" || e.Type == object.Deleted {
		return
	}
	var lease struct {
		Spec struct {
			RenewTime time.Time `json:"renewTime"`
		} `json:"spec"`
	}
	if err := json.Unmarshal(raw, &lease); err != nil || lease.Spec.RenewTime.IsZero() {
		return
	}
	at := lease.Spec.RenewTime.Unix()
	if at >= r.ticked+precise {
		r.ticked = at
		r.put(&entry{Tick: &tick{revision, at}})
	}
}
