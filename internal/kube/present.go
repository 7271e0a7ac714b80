package kube

import (
	"context"
	"errors"
	"net/http"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"

	"github.com/kubectl-gc/kubectl-gc/internal/object"
)

// Present has the current objects at coordinates that were read in advance. It costs one LIST for
// each kind and namespace. Proven.Get costs a GET for each object, and a LIST for each absent one.
// Present is only for callers that act on an absence with a POST: the server refuses the POST if
// the object exists after all.
type Present struct {
	*Proven
	// read has the object at each known coordinates; nil if it is absent.
	read map[object.Coordinates]*object.Object
}

// maxListedForFew is the number of objects up to which a namespace is listed for a few of them.
// Larger lists cost more than reading fewObjects objects by name.
const (
	maxListedForFew = 500
	fewObjects      = 8
)

// errListTooLarge ends a list that is too large for the few objects that are wanted from it.
var errListTooLarge = errors.New("the list is large")

// Present reads the objects at the coordinates of refs, whatever their UIDs. Coordinates in lists
// that fail are read when they are asked for.
func (p *Proven) Present(ctx context.Context, refs []object.Ref) *Present {
	x := &Present{Proven: p, read: map[object.Coordinates]*object.Object{}}
	if p.refresh(ctx, p.options.Now()) != nil {
		return x
	}
	groups := map[string]*namesAtPlace{}
	var tasks []func()
	for _, ref := range refs {
		at, err := p.locate(ref)
		if err != nil || object.AnswerTo(at.Resource, ref.Name) != object.OfThatName || checkSegment("name", ref.Name) != nil {
			continue
		}
		g := groups[at.about()]
		if g == nil {
			g = &namesAtPlace{at: at, names: map[string]object.Ref{}}
			groups[at.about()] = g
			tasks = append(tasks, func() { g.known = p.listNames(ctx, g) })
		}
		g.names[ref.Name] = ref
	}
	runAll(tasks)
	for _, g := range groups {
		for name, ref := range g.names {
			if g.known {
				x.read[ref.Coordinates()] = g.found[name]
			}
		}
	}
	return x
}

// namesAtPlace has the wanted names of a place, and the objects that have them.
type namesAtPlace struct {
	at    Place
	names map[string]object.Ref
	found map[string]*object.Object
	known bool
}

// listNames lists the objects with the names. It returns false if the list failed, is too large, or
// is older than earlier responses.
func (p *Proven) listNames(ctx context.Context, g *namesAtPlace) bool {
	by := Selection{Metadata: g.at.Resource.GroupKind() != object.PV.GroupKind} // callers need the claim that a volume is bound to
	if len(g.names) == 1 {
		for name := range g.names {
			by.Fields = fields.OneTermEqualSelector("metadata.name", name).String()
		}
	}
	floor, seen := p.highest.highestOf(g.at.Resource), 0
	restart := func() { g.found, seen = map[string]*object.Object{}, 0 }
	restart()
	listed, err := p.List(ctx, g.at, by, Listing{Restart: restart, Object: func(o *object.Object) error {
		if seen++; seen > maxListedForFew && len(g.names) <= fewObjects {
			return errListTooLarge
		}
		if _, wanted := g.names[o.Name]; wanted && o.Namespace == g.at.Namespace {
			g.found[o.Name] = o
		}
		return nil
	}})
	if err != nil || !isAtLeast(floor, listed.ResourceVersion) {
		return false
	}
	p.highest.record(g.at.Resource, listed.ResourceVersion)
	return true
}

// Get returns the object at the coordinates of ref, as Proven.Get does.
func (x *Present) Get(ctx context.Context, ref object.Ref) (*object.Object, error) {
	o, known := x.read[ref.Coordinates()]
	switch {
	case !known:
		return x.Proven.Get(ctx, ref)
	case o == nil:
		return nil, &apierrors.StatusError{ErrStatus: metav1.Status{Reason: metav1.StatusReasonNotFound, Code: http.StatusNotFound, Message: ref.String() + " was not found"}}
	default:
		return o, nil
	}
}
