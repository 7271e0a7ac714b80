package snapshot

import (
	"strings"

	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-gc/kubectl-gc/internal/object"
	"github.com/kubectl-gc/kubectl-gc/internal/reason"
)

// typeName is an apiVersion and a kind as written in an object.
type typeName struct{ apiVersion, kind string }

// canonical is the stored type of a typeName.
type canonical struct {
	typeName
	resource object.Resource
	noUID    tally
	noScope  tally
}

// normalize gives each object its stored identity: the preferred version of its resource and the
// kind in its proper case. An object that a dump has in two versions of its API thus appears once.
func (s *Snapshot) normalize() {
	known := map[typeName]*canonical{}
	var order []*canonical
	var last *canonical
	var lastName typeName
	for _, o := range s.Objects {
		name := typeName{o.APIVersion, o.Kind}
		if last == nil || name != lastName {
			if last = known[name]; last == nil {
				last = s.canonicalOf(name)
				known[name] = last
				order = append(order, last)
			}
			lastName = name
		}
		if name != last.typeName {
			o.APIVersion, o.Kind = last.apiVersion, last.kind
		}
		if o.UID == "" {
			o.UID = makeUID(last.resource, o.Namespace, o.Name)
			if last.resource.Verbs.Has(object.Delete) {
				last.noUID.add(o.Ref)
			}
		}
		if last.resource.Served() && last.resource.Namespaced != (o.Namespace != "") {
			last.noScope.add(o.Ref)
		}
	}
	for _, c := range order {
		if c.noUID.count > 0 {
			s.Problems = append(s.Problems, c.noUID.problem(NoUID, "has no uid"))
		}
		if c.noScope.count > 0 {
			s.reportScope(c)
		}
	}
}

// reportScope removes the coverage of a resource with objects in the wrong scope: an owner could be
// looked up where it can't be found.
// (spec N16)
func (s *Snapshot) reportScope(c *canonical) {
	what := "has a namespace, but its kind is cluster-scoped"
	if c.resource.Namespaced {
		what = "has no namespace, but its kind is namespaced"
	}
	p := c.noScope.problem(WrongScope, what)
	s.Problems = append(s.Problems, p)
	s.coverage.Fail(c.resource.GroupResource(), "", reason.Partial, p.Message)
}

func (s *Snapshot) canonicalOf(name typeName) *canonical {
	r, err := s.Resources.For(name.apiVersion, name.kind)
	if err != nil || !r.Served() {
		return &canonical{typeName: name, resource: object.Resource{Kind: name.kind, Name: strings.ToLower(name.kind), Group: object.GroupOf(name.apiVersion)}}
	}
	if stored, ok := s.Resources.Stored(r.GroupResource()); ok {
		r = stored
	}
	return &canonical{typeName: typeName{r.APIVersion(), r.Kind}, resource: r}
}

func makeUID(r object.Resource, namespace, name string) types.UID {
	return types.UID(MissingUID + r.GroupResource().String() + "/" + namespace + "/" + name)
}
