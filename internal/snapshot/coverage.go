package snapshot

import (
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubectl-gc/kubectl-gc/internal/object"
	"github.com/kubectl-gc/kubectl-gc/internal/reason"
)

// Coverage is the proof of complete lists. A resource and namespace without a proof is not covered:
// unknown is never absent. The zero value covers nothing and is ready.
//
// It is keyed by storage, not by version or group name: a list of extensions/v1beta1 deployments
// covers apps deployments too, because both are views of the same objects.
type Coverage struct {
	everything bool
	// elsewhere is why a resource was listed in some namespaces only; "" if unknown.
	elsewhere string
	places    map[schema.GroupResource]*place
}

// place is what is known about the lists of one resource.
type place struct {
	// everywhere is true for a complete list over all namespaces, or of a cluster-scoped kind.
	everywhere bool
	// namespaces are those with a complete list.
	namespaces map[string]struct{}
	// failures are reasons by namespace, "" for everywhere. They take precedence over lists.
	failures map[string]string
}

// CoversEverything returns the coverage of a complete snapshot.
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

// Add records a complete list of the resource: of one namespace, or of the whole cluster if
// namespace is empty.
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

// Fail records that a list of the resource is missing or broken, in one namespace, or everywhere if
// namespace is empty. It takes precedence over every Add.
func (c *Coverage) Fail(gr schema.GroupResource, namespace string, code reason.Code, text string) {
	p := c.at(gr)
	if p.failures == nil {
		p.failures = map[string]string{}
	}
	if have, ok := p.failures[namespace]; !ok || why(code, text) < have {
		p.failures[namespace] = why(code, text)
	}
}

// others is the key in failures for all namespaces except those that were listed one by one. No
// namespace has this name.
const others = "*"

// FailOthers records why a resource was listed only in the namespaces that were added: listing all
// of them at once failed.
func (c *Coverage) FailOthers(gr schema.GroupResource, code reason.Code, text string) {
	c.Fail(gr, others, code, text)
}

// addAll records a complete list of all namespaces and removes the reason of FailOthers.
func (c *Coverage) addAll(gr schema.GroupResource) {
	c.Add(gr, "")
	delete(c.at(gr).failures, others)
}

// nothingWhole removes all proofs and records the reason.
func (c *Coverage) nothingWhole(text string) {
	c.everything = false
	for gr, p := range c.places {
		if p.everywhere || len(p.namespaces) > 0 {
			p.everywhere, p.namespaces = false, nil
			c.FailOthers(gr, reason.Partial, text)
		}
	}
}

// LeaveOut records that resources were listed in some namespaces only by choice.
func (c *Coverage) LeaveOut(text string) { c.elsewhere = why(reason.LeftOut, text) }

// covers reports whether a namespace, or the whole cluster if namespace is empty, is covered.
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

// touched reports whether any part of the resource is covered.
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

// singly reports whether the knowledge about a resource differs between namespaces.
func (c *Coverage) singly(gr schema.GroupResource) bool {
	p := c.places[object.Storage(gr)]
	if p == nil {
		return false
	}
	_, failed := p.failures[""]
	return !failed && len(p.failures) > 0
}

// alone reports whether a resource was listed in single namespaces because listing all of them
// failed.
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

// why returns the reason of a gap, "" if it is covered.
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
