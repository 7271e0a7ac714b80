package kube

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"sync"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-gc/kubectl-gc/internal/object"
)

// ProofOptions configure the proof of absence.
type ProofOptions struct {
	// AbsentGracePeriod is how long an object must stay absent before it counts as absent; 0 needs
	// a single check. Until then its absence is unknown, so the caller retries.
	AbsentGracePeriod time.Duration
	// SeenAlive reports whether an object was observed before. Such an object needs no grace
	// period: it existed and is gone. Nil means that none was observed.
	SeenAlive func(types.UID) bool
	// Now is the clock; nil means the system clock.
	Now func() time.Time
}

const (
	// proofReuseTime is how long a proof is reused for the same object: long enough that the
	// dependents of one owner need few proofs, and shorter than it takes to restore a storage.
	proofReuseTime = 250 * time.Millisecond
	// maxDiscoveryAge is the largest age of discovery for a proof.
	maxDiscoveryAge = 10 * time.Second
	// maxProofs bounds the remembered proofs.
	maxProofs = 1 << 14
)

// Proven is a Client with a Get that returns NotFound only if the absence of the object is proven.
// Get returns an *object.UncoveredError if the server said NotFound and the proof failed. Deletes
// of this program use it: Decide keeps everything that depends on something unknown.
//
// The proof consists of live steps in this order: discovery is fresh and has the resource; GET
// returns 404 with a Status about exactly this object; a LIST of the objects of that name succeeds
// and is empty, so the path is served and two reads agree; its resourceVersion is not lower than
// any that was seen before. (spec §17)
//
// An object with the same name and another UID also proves absence: the object with the UID of ref
// is gone. The same proof is needed, except that the list shows the other object.
type Proven struct {
	*Client
	options ProofOptions

	mu     sync.Mutex
	proofs map[object.Ref]proof
}

// proof is a proven absence.
type proof struct {
	// first and last are the start times of the first and the last proof. No proof failed in
	// between.
	first, last time.Time
	answerForName
}

// answerForName is the server's response: NotFound, or the object that has the name now.
type answerForName struct {
	o   *object.Object
	err error
}

// Proven returns a Proven that uses the client.
func (c *Client) Proven(o ProofOptions) *Proven {
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.SeenAlive == nil {
		o.SeenAlive = func(types.UID) bool { return false }
	}
	return &Proven{Client: c, options: o, proofs: map[object.Ref]proof{}}
}

// Get reads the object. Later calls for an absent one share the proof for a moment. engine.Run merges
// concurrent calls for one owner.
func (p *Proven) Get(ctx context.Context, ref object.Ref) (*object.Object, error) {
	// A cluster-scoped owner has the namespace of its dependent until it is resolved. All of these
	// calls are about one object and share one grace period.
	if r, err := p.Resource(ref.APIVersion, ref.Kind); err == nil && !r.Namespaced {
		ref.Namespace = ""
	}
	began := p.options.Now()
	p.mu.Lock()
	have, ok := p.proofs[ref]
	p.mu.Unlock()
	if ok && began.Sub(have.last) < proofReuseTime {
		return p.resultOf(ref, have)
	}
	if err := p.refresh(ctx, began); err != nil {
		return nil, fmt.Errorf("%s: %w", ref, err)
	}
	o, err := p.Client.Get(ctx, ref)
	if other := err == nil && ref.UID != "" && o.UID != ref.UID; !other && !apierrors.IsNotFound(err) {
		p.forget(ref)
		return o, err
	}
	if why := p.verifyServed(ctx, ref, o); why != nil {
		p.forget(ref)
		if isContext(why) {
			return nil, why
		}
		return nil, &object.UncoveredError{Ref: ref, Why: "its absence is not proven: " + why.Error()}
	}
	return p.resultOf(ref, p.remember(ref, began, answerForName{o, err}))
}

// refresh runs discovery if the last one is too old for a proof.
func (p *Proven) refresh(ctx context.Context, now time.Time) error {
	if d := p.Discovered(); d != nil && now.Sub(d.At) < maxDiscoveryAge {
		return nil
	}
	_, err := p.rediscover(ctx)
	return err
}

// verifyServed proves that the path of an object that was not found is served: a list of the
// objects with that name succeeds, has no object except instead, and is not older than earlier
// responses.
func (p *Proven) verifyServed(ctx context.Context, ref object.Ref, instead *object.Object) error {
	at, err := p.locate(ref)
	if err != nil {
		return err
	}
	floor := p.highest.highestOf(at.Resource)
	listed, shown, err := p.listByName(ctx, at, ref.Name)
	switch {
	case err != nil:
		return err
	case shown != nil && shown.Name == ref.Name && shown.Namespace == at.Namespace && (instead == nil || shown.UID != instead.UID):
		return errors.New("it existed a moment later")
	case !isAtLeast(floor, listed):
		return wentBackError(at.Resource, listed)
	}
	p.highest.record(at.Resource, listed)
	return nil
}

// listByName lists the object of a name at a place, and returns it and the resourceVersion of the
// list.
func (c *Client) listByName(ctx context.Context, at Place, name string) (resourceVersion string, first *object.Object, err error) {
	byName := fields.OneTermEqualSelector("metadata.name", name).String()
	a, err := c.send(ctx, request{
		verb: http.MethodGet, path: at.path(), query: url.Values{"limit": {"1"}, "fieldSelector": {byName}}, accept: acceptList, about: at.subject(),
	})
	if err != nil {
		return "", nil, err
	}
	defer func() { _ = a.body.Close() }()
	rd := newListReader(at, Listing{Object: func(o *object.Object) error { first = o; return nil }})
	rd.whole = false // metadata is enough
	page, err := rd.page(a)
	if err != nil {
		return "", nil, rd.wrap(err)
	}
	return page.resourceVersion, first, nil
}

// remember stores a proof that began at a time.
func (p *Proven) remember(ref object.Ref, began time.Time, answer answerForName) proof {
	p.mu.Lock()
	defer p.mu.Unlock()
	have, ok := p.proofs[ref]
	if !ok {
		have.first = began
	}
	have.last, have.answerForName = began, answer
	if len(p.proofs) >= maxProofs {
		clear(p.proofs)
	}
	p.proofs[ref] = have
	return have
}

func (p *Proven) forget(ref object.Ref) {
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.proofs, ref)
}

// resultOf returns the result of a proof: the server's response, or an error while the grace period
// runs.
func (p *Proven) resultOf(ref object.Ref, have proof) (*object.Object, error) {
	age := have.last.Sub(have.first)
	if p.options.AbsentGracePeriod <= age || p.options.SeenAlive(ref.UID) {
		return have.o, have.err
	}
	return nil, &object.UncoveredError{Ref: ref, Why: fmt.Sprintf(
		"it was found absent, and counts as absent after staying so for %s", p.options.AbsentGracePeriod)}
}

// Delete sends a delete. Its preconditions must have the uid and the resourceVersion of the judged
// object.
func (p *Proven) Delete(ctx context.Context, ref object.Ref, o metav1.DeleteOptions) error {
	switch pre := o.Preconditions; {
	case pre == nil || pre.UID == nil || *pre.UID == "":
		return fmt.Errorf("%s: a delete without the uid of what is deleted", ref)
	case pre.ResourceVersion == nil || *pre.ResourceVersion == "":
		return fmt.Errorf("%s: a delete without the resourceVersion of what was judged", ref)
	}
	return p.Client.Delete(ctx, ref, o)
}

// Patch sends a patch. It must have the uid of the judged object.
func (p *Proven) Patch(ctx context.Context, ref object.Ref, change object.Patch) error {
	if change.UID == "" {
		return fmt.Errorf("%s: a patch without the uid of what is changed", ref)
	}
	return p.Client.Patch(ctx, ref, change)
}

// highestRevisions has the highest resourceVersion that was seen of each resource. A server that
// shows a lower one has gone back in time: it was restored, or it is another server. (spec §17 step
// 5)
type highestRevisions struct {
	mu      sync.Mutex
	highest map[schema.GroupResource]uint64
}

// record records a resourceVersion. One that is not a number is ignored.
func (v *highestRevisions) record(r object.Resource, resourceVersion string) {
	n, err := strconv.ParseUint(resourceVersion, 10, 64)
	if err != nil {
		return
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.highest == nil {
		v.highest = map[schema.GroupResource]uint64{}
	}
	gr := r.GroupResource()
	v.highest[gr] = max(v.highest[gr], n)
}

// highestOf returns the highest resourceVersion that was seen of a resource.
func (v *highestRevisions) highestOf(r object.Resource) uint64 {
	v.mu.Lock()
	defer v.mu.Unlock()
	return v.highest[r.GroupResource()]
}

// isAtLeast reports whether a resourceVersion is a number that is not lower than floor. The floor
// must be read before the request is sent, because it may rise meanwhile.
func isAtLeast(floor uint64, resourceVersion string) bool {
	n, err := strconv.ParseUint(resourceVersion, 10, 64)
	return err == nil && n > 0 && n >= floor
}

// isLower reports whether a resourceVersion is a number that is lower than floor. It returns false
// for one that is not a number.
func isLower(floor uint64, resourceVersion string) bool {
	n, err := strconv.ParseUint(resourceVersion, 10, 64)
	return err == nil && n < floor
}

// wentBackError returns the error for a server that shows an older state than before.
func wentBackError(r object.Resource, shown string) error {
	return fmt.Errorf("the server shows resourceVersion %s of %s, and a higher one was seen: it has gone back in time", quote(shown), r.GroupResource())
}
