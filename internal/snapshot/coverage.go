package snapshot

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubectl-gc/kubectl-gc/internal/object"
	"github.com/kubectl-gc/kubectl-gc/internal/reason"
)

// NoList is why a dump does not show a kind of which it has no list.
const NoList = "no list of it was seen"

// Coverage says which lists are proven to be complete. A resource in a namespace without a proof is
// not covered: unknown is never absent. The zero value covers nothing and is ready to use.
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
	c.at(gr).fail(namespace, why(code, text))
}

// fail records why a list failed. Of several reasons the alphabetically first one stays.
func (p *place) fail(namespace, text string) {
	if p.failures == nil {
		p.failures = map[string]string{}
	}
	if have, ok := p.failures[namespace]; !ok || text < have {
		p.failures[namespace] = text
	}
}

// failed reports whether a list in the namespace is known to have failed.
func (p place) failed(namespace string) bool {
	_, failed := p.failures[namespace]
	return failed
}

// of returns what is known about the lists of a resource.
func (c *Coverage) of(gr schema.GroupResource) place {
	if p := c.places[object.Storage(gr)]; p != nil {
		return *p
	}
	return place{}
}

// others is the key in failures for all namespaces except those that were listed one by one. No
// namespace has this name.
const others = "*"

// FailOthers records why a resource was listed only in the namespaces that were added: listing all
// of them at once failed.
func (c *Coverage) FailOthers(gr schema.GroupResource, code reason.Code, text string) {
	c.Fail(gr, others, code, text)
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
	p := c.of(gr)
	if p.failed("") || p.failed(namespace) {
		return false
	}
	if namespace == "" {
		return p.everywhere && len(p.failures) == 0
	}
	_, listed := p.namespaces[namespace]
	return p.everywhere || listed
}

// touched reports whether any part of the resource is covered.
func (c *Coverage) touched(gr schema.GroupResource) bool {
	p := c.of(gr)
	if p.failed("") {
		return false
	}
	if p.everywhere {
		return true
	}
	for ns := range p.namespaces {
		if !p.failed(ns) {
			return true
		}
	}
	return false
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
		return why(reason.NotInDump, NoList)
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
			c.at(gr).fail(ns, text)
		}
	}
}

// Gap is one resource that a snapshot doesn't cover. Namespace is empty if it is not covered
// anywhere, or only in namespaces that were listed one by one because listing all of them failed.
type Gap struct {
	APIVersion string `json:"apiVersion"`
	Resource   string `json:"resource"`
	Namespace  string `json:"namespace,omitzero"`
	// Why is a code of reason.Gap, a colon and a text for people.
	Why string `json:"why"`
}

// Reason returns the code of Why.
func (g Gap) Reason() reason.Code {
	code, _, _ := strings.Cut(g.Why, ":")
	return reason.Code(code)
}

// compareGaps orders gaps like all lists: by apiVersion, resource and namespace.
func compareGaps(a, b Gap) int {
	return cmp.Or(
		strings.Compare(a.APIVersion, b.APIVersion),
		strings.Compare(a.Resource, b.Resource),
		strings.Compare(a.Namespace, b.Namespace),
		strings.Compare(a.Why, b.Why),
	)
}

func why(r reason.Code, text string) string {
	if text == "" {
		return string(r)
	}
	return string(r) + ": " + text
}

// reasonOf distinguishes a refusal from other failures by the API server's words.
func reasonOf(message string) reason.Code {
	for _, word := range []string{"forbidden", "Forbidden", "Unauthorized", "unauthorized"} {
		if strings.Contains(message, word) {
			return reason.Forbidden
		}
	}
	return reason.ListFailed
}

// gapsOf returns the gaps of the coverage. A monitored resource has one gap if it is not covered at
// all. Otherwise it has one for each known namespace that is not covered, or one for all of them if
// listing them at once failed. Resources that the collector doesn't watch have no gaps, but Covers
// still returns false for them.
func (s *Snapshot) gapsOf() []Gap {
	if s.coverage.everything {
		return nil
	}
	known := s.knownNamespaces()
	var gaps []Gap
	for _, r := range s.Resources.All() {
		if !s.Resources.Monitored(r) {
			continue
		}
		gr := r.GroupResource()
		if stored := object.Storage(gr); stored != gr {
			if _, ok := s.Resources.Preferred(stored); ok {
				continue
			}
		}
		if s.coverage.covers(gr, "") {
			continue
		}
		p := s.coverage.of(gr)
		open := Gap{APIVersion: r.APIVersion(), Resource: r.Name, Why: s.coverage.why(gr, "")}
		if !r.Namespaced || !s.coverage.touched(gr) && (p.failed("") || len(p.failures) == 0) {
			gaps = append(gaps, open)
			continue
		}
		if p.failed(others) {
			gaps = append(gaps, open)
		}
		for _, ns := range known {
			if !s.coverage.covers(gr, ns) && (!p.failed(others) || p.failed(ns)) {
				open.Namespace, open.Why = ns, s.coverage.why(gr, ns)
				gaps = append(gaps, open)
			}
		}
	}
	slices.SortFunc(gaps, compareGaps)
	return gaps
}

// knownNamespaces returns the namespaces that appear anywhere in the snapshot, sorted.
func (s *Snapshot) knownNamespaces() []string {
	set := map[string]bool{}
	for _, p := range s.coverage.places {
		for ns := range p.namespaces {
			set[ns] = true
		}
		for ns := range p.failures {
			set[ns] = true
		}
	}
	last := ""
	for _, o := range s.Objects {
		if o.Is(object.Namespace) {
			set[o.Name] = true
		}
		if o.Namespace != last {
			set[o.Namespace] = true
			last = o.Namespace
		}
	}
	delete(set, "")
	delete(set, others)
	return slices.Sorted(maps.Keys(set))
}

// Unread returns the gaps of a namespace and its object, or all gaps if namespace is empty, where
// reading was tried and failed. Resources that were not tried, by choice or because a dump has no
// list, are not included.
func (s *Snapshot) Unread(namespace string) []Gap {
	var unread []Gap
	resources := s.byName()
	for _, g := range s.Gaps {
		r, known := resources[[2]string{g.APIVersion, g.Resource}]
		switch {
		case g.Reason() == reason.LeftOut || g.Reason() == reason.NotInDump:
		case known && s.Covers(r, g.Namespace):
		case namespace == "", !known:
			unread = append(unread, g)
		case r.Is(object.Namespace):
			if s.Find(r.APIVersion(), r.Kind, "", namespace) == nil {
				unread = append(unread, g)
			}
		case r.Namespaced && !s.Covers(r, namespace) && (g.Namespace == "" || g.Namespace == namespace):
			unread = append(unread, g)
		}
	}
	return unread
}

// openToAll is the resource that every service account may list since v1.37.
//
// Upstream: plugin/pkg/auth/authorizer/rbac/bootstrappolicy/policy.go ClusterRoles.
var openToAll = schema.GroupResource{Group: "certificates.k8s.io", Resource: "clustertrustbundles"}

// Blind reports whether reading was tried and everything failed: of the content of a namespace, or
// of all resources if namespace is empty. openToAll doesn't count as read.
func (s *Snapshot) Blind(namespace string) bool {
	if len(s.Unread(namespace)) == 0 {
		return false
	}
	for _, r := range s.Resources.All() {
		gr := r.GroupResource()
		switch {
		case !s.Resources.Monitored(r), gr == openToAll:
		case namespace == "" && (s.Covers(r, "") || s.coverage.touched(gr)):
			return false
		case namespace != "" && r.Namespaced && s.Covers(r, namespace):
			return false
		}
	}
	return true
}

// byName returns the known resources by version and name, as in gaps.
func (s *Snapshot) byName() map[[2]string]object.Resource {
	resources := map[[2]string]object.Resource{}
	for _, r := range s.Resources.All() {
		resources[[2]string{r.APIVersion(), r.Name}] = r
	}
	return resources
}

// Undiscovered returns the group versions with resources that a live server had not named when the
// snapshot was taken, sorted. For dumps it returns none: it is unknown whether a document is
// missing or the server failed.
func (s *Snapshot) Undiscovered() []object.Undiscovered {
	var list []object.Undiscovered
	for _, g := range s.Gaps {
		if g.Resource == EveryResource {
			_, why, _ := strings.Cut(g.Why, ": ")
			list = append(list, object.Undiscovered{APIVersion: g.APIVersion, Why: why, Hidden: g.Reason() == reason.Forbidden})
		}
	}
	return list
}

// Unserved reports whether the server names the resource but returned 404 to a list of it, in the
// namespace or everywhere.
func (s *Snapshot) Unserved(r object.Resource, namespace string) bool {
	if s.missingIsAbsent {
		return false
	}
	return Gap{Why: s.Why(r, namespace)}.Reason() == reason.NotServed
}
