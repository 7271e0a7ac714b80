package kube

import (
	"cmp"
	"context"
	"errors"
	"io"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
	"weak"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-gc/kubectl-gc/internal/manifest"
	"github.com/kubectl-gc/kubectl-gc/internal/object"
	"github.com/kubectl-gc/kubectl-gc/internal/reason"
	"github.com/kubectl-gc/kubectl-gc/internal/snapshot"
)

// Progress is the progress of a snapshot.
type Progress struct {
	// Done of Kinds lists are complete or have failed.
	Done, Kinds int
	Objects     int
	// Bytes is the number of bytes that arrived, after decompression.
	Bytes int64
}

// inFlight is how many lists are in progress at a time.
const inFlight = 16

// Snapshot discovers and lists everything in the scope. What cannot be listed is a gap with its
// reason. progress is never called concurrently. It may be nil.
func (c *Client) Snapshot(ctx context.Context, scope Scope, progress func(Progress)) (*snapshot.Snapshot, error) {
	if err := scope.Check(); err != nil {
		return nil, err
	}
	d, err := c.Discover(ctx)
	if err != nil {
		return nil, err
	}
	places, leftOut := scope.places(d.Resources)
	coverage := &snapshot.Coverage{}
	for _, r := range leftOut {
		coverage.Fail(r.GroupResource(), "", reason.LeftOut, "left out on request")
	}
	if len(scope.Namespaces) > 0 {
		coverage.LeaveOut("only some namespaces were looked at")
	}
	snap, err := c.snapshot(ctx, d, places, scope, coverage, progress)
	if snap != nil {
		snap.Source.Namespaces = slices.Compact(slices.Sorted(slices.Values(scope.Namespaces)))
	}
	return snap, err
}

// snapshot lists places as the scope says. Places that are forbidden are listed in the namespaces
// of Scope.Instead.
func (c *Client) snapshot(ctx context.Context, d *Discovery, places []Place, scope Scope, coverage *snapshot.Coverage, progress func(Progress)) (*snapshot.Snapshot, error) {
	source, err := c.source(ctx, d)
	if err != nil {
		return nil, err
	}
	places = slices.Clone(places)
	slices.SortFunc(places, comparePlaces)
	g := &snapshotRun{scope: scope, progress: progress, results: make([]placeResult, len(places))}
	g.state.Kinds = len(places)
	if err := c.listPlaces(ctx, places, g); err != nil {
		return nil, err
	}
	if err := g.unauthorized(); err != nil {
		return nil, err
	}
	places, err = c.listPermitted(ctx, places, g, coverage)
	if err != nil {
		return nil, err
	}
	n := len(g.named)
	for i := range g.results {
		n += len(g.results[i].objects)
	}
	objects := append(make([]*object.Object, 0, n), g.named...)
	revisions := map[string]uint64{}
	var taken time.Time // of the first list
	for i := range g.results {
		got := &g.results[i]
		gr := places[i].Resource.GroupResource()
		switch {
		case got.replaced:
			continue
		case got.err != nil:
			coverage.Fail(gr, places[i].Namespace, reasonOf(got.err), got.err.Error())
			continue
		}
		coverage.Add(gr, places[i].Namespace)
		if revision, err := strconv.ParseUint(got.listed.ResourceVersion, 10, 64); err == nil && got.ordered {
			revisions[places[i].about()] = revision
		}
		objects = append(objects, got.objects...)
		if t := got.listed.Taken; !t.IsZero() && (taken.IsZero() || t.Before(taken)) {
			taken = t
		}
		got.objects = nil
	}
	if !taken.IsZero() {
		source.TakenAt = taken.UTC().Format(time.RFC3339)
	}
	snap, err := snapshot.Listed(objects, d.Resources, d.Missing, coverage, source)
	if err == nil {
		c.seen.Store(&snapshotLists{in: weak.Make(snap), revisions: revisions})
	}
	return snap, err
}

func compareObjects(a, b *object.Object) int { return object.Compare(a.Ref, b.Ref) }

// comparePlaces orders places like their objects in a snapshot.
func comparePlaces(a, b Place) int {
	return cmp.Or(
		strings.Compare(a.Resource.APIVersion(), b.Resource.APIVersion()),
		strings.Compare(a.Resource.Kind, b.Resource.Kind),
		strings.Compare(a.Namespace, b.Namespace),
	)
}

// source reads the identity of the server. The served APIs bound a version that may not be read.
func (c *Client) source(ctx context.Context, d *Discovery) (snapshot.Source, error) {
	id, err := c.Cluster(ctx)
	s := snapshot.Source{Server: id.Server, Context: id.Context, ClusterUID: id.ClusterUID, KubernetesVersion: id.Version}
	if id.Version == "" {
		s.VersionBounds = snapshot.BoundsByAPIs(d.Resources)
	}
	return s, err
}

func reasonOf(err error) reason.Code {
	switch {
	case apierrors.IsForbidden(err), apierrors.IsUnauthorized(err):
		return reason.Forbidden
	case isUnserved(err):
		return reason.NotServed
	case errors.Is(err, io.ErrUnexpectedEOF), errors.Is(err, manifest.ErrTruncated):
		return reason.Truncated
	default:
		return reason.ListFailed
	}
}

// placeResult is the result of one list.
type placeResult struct {
	objects []*object.Object
	listed  Listed
	err     error
	// ordered is true if the objects arrived in the order of their keys.
	ordered bool
	// replaced is true if the list was forbidden and replaced by lists of single namespaces.
	replaced bool
}

// snapshotRun is a set of lists in progress.
type snapshotRun struct {
	scope   Scope
	results []placeResult
	// named are the namespaces that were read one by one because listing them is forbidden.
	named    []*object.Object
	progress func(Progress)
	mu       sync.Mutex
	state    Progress
}

func (g *snapshotRun) note(change func(*Progress)) {
	g.mu.Lock()
	defer g.mu.Unlock()
	change(&g.state)
	if g.progress != nil {
		g.progress(g.state)
	}
}

// unauthorized returns the error of the lists if every one of them was unauthorized: the
// credentials have expired, and a snapshot with only gaps would hide that.
func (g *snapshotRun) unauthorized() error {
	authorized := func(r placeResult) bool { return !apierrors.IsUnauthorized(r.err) }
	if len(g.results) == 0 || slices.ContainsFunc(g.results, authorized) {
		return nil
	}
	return g.results[0].err
}

// listPlaces lists all places, a bounded number at a time. It fails only if the context ends. Other
// errors are in the results.
func (c *Client) listPlaces(ctx context.Context, places []Place, g *snapshotRun) error {
	tasks := make([]func(), len(places))
	for i, at := range places {
		tasks[i] = func() { c.listPlace(ctx, at, &g.results[i], g) }
	}
	runAll(tasks)
	return ctx.Err()
}

// listPlace lists a place. The objects in to are in the order of references.
func (c *Client) listPlace(ctx context.Context, at Place, to *placeResult, g *snapshotRun) {
	if to.err = ctx.Err(); to.err != nil {
		return
	}
	told, pending := 0, 0
	tell := func() {
		count, bytes := len(to.objects)-told, int64(pending)
		told, pending = len(to.objects), 0
		g.note(func(p *Progress) { p.Objects += count; p.Bytes += bytes })
	}
	by := g.scope.selection(at.Resource)
	to.listed, to.err = c.List(ctx, at, by, Listing{
		Object: func(o *object.Object) error {
			to.objects = append(to.objects, o)
			return nil
		},
		Restart: func() { to.objects = to.objects[:0] },
		Bytes: func(n int) {
			if pending += n; pending >= 1<<20 {
				tell()
			}
		},
	})
	if to.err != nil {
		to.objects = nil
	}
	if !by.Metadata {
		c.markTokens(ctx, at, to.objects)
	}
	to.ordered = slices.IsSortedFunc(to.objects, compareKeys)
	// A server orders by storage keys, which is nearly the order of references.
	if !slices.IsSortedFunc(to.objects, compareObjects) {
		slices.SortFunc(to.objects, compareObjects)
	}
	tell()
	g.note(func(p *Progress) { p.Done++ })
}

// listPermitted lists the kinds that may not be listed in all namespaces in those of Scope.Instead.
// It records in the coverage why the other namespaces are missing. If the kind Namespace may not be
// listed, it reads the namespaces that the scope names with a GET. It returns the places of all
// results.
func (c *Client) listPermitted(ctx context.Context, places []Place, g *snapshotRun, coverage *snapshot.Coverage) ([]Place, error) {
	namespaces := g.scope.Instead
	var again []Place
	var refused []int // the results that the new ones replace
	for i, p := range places {
		switch {
		case p.Namespace != "" || !apierrors.IsForbidden(g.results[i].err):
		case p.Resource.Namespaced && len(namespaces) > 0:
			g.results[i].replaced = true
			coverage.FailOthers(p.Resource.GroupResource(), reason.Forbidden, g.results[i].err.Error())
			for _, ns := range namespaces {
				again, refused = append(again, Place{p.Resource, ns}), append(refused, i)
			}
		case p.Resource.Is(object.Namespace):
			for _, name := range slices.Concat(g.scope.Namespaces, namespaces) {
				if _, o, err := c.Raw(ctx, object.Namespace.Ref("", name)); err == nil { // otherwise it stays a gap
					g.named = append(g.named, o)
				}
			}
		}
	}
	if len(again) == 0 {
		return places, nil
	}
	second := &snapshotRun{scope: g.scope, progress: g.progress, results: make([]placeResult, len(again)), state: g.state}
	second.state.Kinds += len(again)
	if err := c.listPlaces(ctx, again, second); err != nil {
		return nil, err
	}
	for i := range again {
		if err := second.results[i].err; err != nil && len(namespaces) == 1 {
			// Nothing of the resource was listed. The error in the namespace is more specific.
			g.results[refused[i]].replaced, g.results[refused[i]].err = false, err
		}
	}
	g.results = append(g.results, second.results...)
	g.state = second.state
	return append(places, again...), nil
}

// markTokens lists the Secrets of the token type, if some objects may be tokens, and records
// which objects are. If the list fails, that stays unknown. The tokens controller deletes only
// Secrets of that type. The type is not in the metadata, and the secret data must not be read for
// it.
//
// The type of a Secret never changes, so the later list is valid for the same uid. An object that
// it lacks has another type, or is gone and will not be deleted again. Objects that only the later
// list has are newer and left out.
//
// Upstream: pkg/apis/core/validation/validation.go ValidateSecretUpdate.
// Upstream: pkg/registry/core/secret/strategy.go SelectableFields.
func (c *Client) markTokens(ctx context.Context, at Place, objects []*object.Object) {
	if !at.Resource.Is(object.Secret) || !slices.ContainsFunc(objects, func(o *object.Object) bool { return o.Token() != nil }) {
		return
	}
	tokens := map[types.UID]bool{}
	by := Selection{Fields: fields.OneTermEqualSelector("type", object.TokenType).String()}
	_, err := c.List(ctx, at, by, Listing{
		Object: func(o *object.Object) error {
			tokens[o.UID] = true
			return nil
		},
		Restart: func() { clear(tokens) },
	})
	if err != nil {
		return
	}
	for i, o := range objects {
		if o.Token() == nil {
			continue
		}
		objects[i] = o.Clone()
		life := objects[i].Edit()
		life.Facts = nil
		if tokens[o.UID] {
			life.Facts = object.TokenBy(o.Token().Account, o.Token().AccountUID, object.TokenType)
		}
	}
}
