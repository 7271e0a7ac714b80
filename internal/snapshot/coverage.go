package snapshot

import (
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubectl-gc/kubectl-gc/internal/object"
	"github.com/kubectl-gc/kubectl-gc/internal/reason"
)

// Coverage is the proof of what was seen. What nobody added to it is not
// covered: unknown is never absent. The zero value covers nothing and is ready.
//
// It is kept by storage, not by version or group name: a list of
// extensions/v1beta1 deployments covers apps deployments too, because both are
// views on the same objects.
type Coverage struct {
	everything bool
	// elsewhere is why a resource was listed in some namespaces only; empty: nobody knows.
	elsewhere string
	places    map[schema.GroupResource]*place
}

// place is what is known about the lists of one resource.
type place struct {
	// everywhere: a complete list over all namespaces, or of a cluster-scoped kind.
	everywhere bool
	// namespaces with a complete list.
	namespaces map[string]struct{}
	// failures by namespace, "" for everywhere. They beat lists.
	failures map[string]string
}

// CoversEverything is the coverage of a closed world.
func CoversEverything() *Coverage { return &Coverage{everything: true} }

func (c *Coverage) at(gr schema.GroupResource) *place {
	gr = object.Storage(gr)
	p := c.places[gr]
	if p == nil {
		if c.places == nil {
			c.places = map[schema.GroupResource]*place{}
		}
		p = &place{}
		c.places[gr] = p
	}
	return p
}

// Add says that a complete list of the resource was seen: of one namespace, or
// with an empty namespace of the whole cluster.
func (c *Coverage) Add(gr schema.GroupResource, namespace string) {
	p := c.at(gr)
	if namespace == "" {
		p.everywhere = true
		return
	}
	if p.namespaces == nil {
		p.namespaces = map[string]struct{}{}
	}
	p.namespaces[namespace] = struct{}{}
}

// Fail says that a list of the resource is known to be missing or broken, in one
// namespace or, with an empty namespace, everywhere. It beats every Add.
func (c *Coverage) Fail(gr schema.GroupResource, namespace string, code reason.Code, text string) {
	p := c.at(gr)
	if p.failures == nil {
		p.failures = map[string]string{}
	}
	if have, ok := p.failures[namespace]; !ok || why(code, text) < have {
		p.failures[namespace] = why(code, text)
	}
}

// others stands among the failures of a resource for all namespaces but those that were
// listed one by one. No namespace has this name.
const others = "*"

// FailOthers says why a resource was listed in no more namespaces than those that are
// added: all of them could not be listed at once.
func (c *Coverage) FailOthers(gr schema.GroupResource, code reason.Code, text string) {
	c.Fail(gr, others, code, text)
}

// addAll says that a list of all namespaces is whole, whatever FailOthers said.
func (c *Coverage) addAll(gr schema.GroupResource) {
	c.Add(gr, "")
	delete(c.at(gr).failures, others)
}

// nothingWhole takes back all that was added, and says why.
func (c *Coverage) nothingWhole(text string) {
	c.everything = false
	for gr, p := range c.places {
		if p.everywhere || len(p.namespaces) > 0 {
			p.everywhere, p.namespaces = false, nil
			c.FailOthers(gr, reason.Partial, text)
		}
	}
}

// LeaveOut says why resources were listed in no more namespaces than they were: by
// choice.
func (c *Coverage) LeaveOut(text string) { c.elsewhere = why(reason.LeftOut, text) }

// covers answers for one namespace, or with an empty one for the whole cluster.
func (c *Coverage) covers(gr schema.GroupResource, namespace string) bool {
	if c.everything {
		return true
	}
	p := c.places[object.Storage(gr)]
	if p == nil {
		return false
	}
	if _, failed := p.failures[""]; failed {
		return false
	}
	if namespace == "" {
		return p.everywhere && len(p.failures) == 0
	}
	if _, failed := p.failures[namespace]; failed {
		return false
	}
	_, listed := p.namespaces[namespace]
	return p.everywhere || listed
}

// touched reports whether anything of the resource is covered.
func (c *Coverage) touched(gr schema.GroupResource) bool {
	p := c.places[object.Storage(gr)]
	if p == nil {
		return false
	}
	if _, failed := p.failures[""]; failed {
		return false
	}
	if p.everywhere {
		return true
	}
	for ns := range p.namespaces {
		if _, failed := p.failures[ns]; !failed {
			return true
		}
	}
	return false
}

// singly reports whether what is known of a resource differs from namespace to
// namespace.
func (c *Coverage) singly(gr schema.GroupResource) bool {
	p := c.places[object.Storage(gr)]
	if p == nil {
		return false
	}
	_, failed := p.failures[""]
	return !failed && len(p.failures) > 0
}

// alone reports whether a resource was listed in single namespaces because it could not
// be listed in all of them.
func (c *Coverage) alone(gr schema.GroupResource) bool { return c.failed(gr, others) }

// failed reports whether a list of the resource in the namespace is known to have failed.
func (c *Coverage) failed(gr schema.GroupResource, namespace string) bool {
	p := c.places[object.Storage(gr)]
	if p == nil {
		return false
	}
	_, failed := p.failures[namespace]
	return failed
}

// why is the reason of a gap; empty for what is covered.
func (c *Coverage) why(gr schema.GroupResource, namespace string) string {
	if c.covers(gr, namespace) {
		return ""
	}
	p := c.places[object.Storage(gr)]
	if p != nil {
		if text, ok := p.failures[""]; ok {
			return text
		}
		if text, ok := p.failures[namespace]; ok && namespace != "" {
			return text
		}
		if text, ok := p.failures[others]; ok {
			return text
		}
	}
	switch {
	case p == nil:
		return why(reason.NotInDump, "no list of it was seen")
	case c.elsewhere != "" && len(p.namespaces)+len(p.failures) > 0:
		return c.elsewhere
	case namespace == "":
		return why(reason.NotInDump, "no list of all namespaces was seen")
	default:
		return why(reason.NotInDump, "no list of this namespace was seen")
	}
}

// merge adds the proofs and failures of another coverage.
func (c *Coverage) merge(d *Coverage) {
	c.everything = c.everything || d.everything
	if c.elsewhere == "" || d.elsewhere != "" && d.elsewhere < c.elsewhere {
		c.elsewhere = d.elsewhere
	}
	for gr, p := range d.places {
		if p.everywhere {
			c.Add(gr, "")
		}
		for ns := range p.namespaces {
			c.Add(gr, ns)
		}
		for ns, text := range p.failures {
			q := c.at(gr)
			if q.failures == nil {
				q.failures = map[string]string{}
			}
			if have, ok := q.failures[ns]; !ok || text < have {
				q.failures[ns] = text
			}
		}
	}
}
