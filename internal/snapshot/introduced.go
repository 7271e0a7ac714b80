package snapshot

import (
	_ "embed"
	"strconv"
	"strings"
	"sync"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubectl-gc/kubectl-gc/internal/object"
	"github.com/kubectl-gc/kubectl-gc/internal/release"
)

//go:embed introduced.txt
var introducedTable string

// introduced are the built-in kinds that servers of dumps may be too old for, with the minor
// release in which each version of their API began to exist. What is not among them every
// server has.
var introduced = sync.OnceValue(func() map[schema.GroupResource]map[string]int {
	kinds := map[schema.GroupResource]map[string]int{}
	for line := range strings.Lines(introducedTable) {
		f := strings.Fields(line)
		if len(f) < 3 || strings.HasPrefix(line, "#") {
			continue
		}
		versions := map[string]int{}
		for _, field := range f[2:] {
			v, minor, _ := strings.Cut(field, "=")
			versions[v], _ = strconv.Atoi(minor)
		}
		kinds[schema.GroupResource{Group: f[0], Resource: f[1]}] = versions
	}
	return kinds
})

// newer is the newer one of two versions of a server, one of which may be empty: in a cluster
// that was upgraded the newer one says what there may be.
func newer(a, b string) string {
	m := release.MinorOf(a)
	if a == "" || m != 0 && release.MinorOf(b) > m {
		return b
	}
	return a
}

// server is what a dump says of the server that it came from, where it does not say which
// resources are served.
type server struct {
	// groups and versions of groups that are served; nil when nothing says which.
	groups, versions map[string]bool
	// minor is its release; 0 when it is not known.
	minor int
}

// server is what the documents of a dump say of the server. One that names no group beside
// the core has been asked by somebody who may not see them.
func (d *documents) server(source Source, seen map[typeName]*kindSeen) server {
	var s server
	if minor, known := source.Version().Minor(); known { // not by kubelets, which may be older
		s.minor = minor
	}
	groups, versions := map[string]bool{"": true}, map[string]bool{}
	for _, g := range d.groups {
		groups[g.Name] = true
		for _, v := range g.Versions {
			versions[v.GroupVersion] = true
		}
	}
	if !groups["apps"] && !groups["extensions"] {
		return s
	}
	for name := range seen {
		groups[object.GroupOf(name.apiVersion)], versions[name.apiVersion] = true, true
	}
	s.groups, s.versions = groups, versions
	return s
}

// mayServe reports whether the server may serve a resource that comes with Kubernetes. A
// version that began to exist later it cannot serve. One that exists it may, by default or
// since somebody turned it on, unless it names its versions, and that one is not among them.
func (s server) mayServe(r object.Resource) bool {
	if s.groups != nil && !s.groups[r.Group] {
		return false
	}
	versions, young := introduced()[r.GroupResource()]
	if !young {
		return true
	}
	for v, minor := range versions {
		if exists := s.minor == 0 || minor <= s.minor; exists && (s.versions == nil || s.versions[groupVersion(r.Group, v)]) {
			return true
		}
	}
	return false
}

// served leaves out the resources of the built-in table that the server of a dump cannot
// serve, where the dump shows no object of them, and adds the older versions that it names.
func (s server) served(rs *object.Resources, seen map[typeName]*kindSeen) *object.Resources {
	shown := map[typeName]bool{} // groups and kinds
	for name := range seen {
		shown[typeName{object.GroupOf(name.apiVersion), strings.ToLower(name.kind)}] = true
	}
	served := &object.Resources{}
	for _, r := range rs.All() {
		if r.Custom || r.Guessed || shown[typeName{r.Group, strings.ToLower(r.Kind)}] || s.mayServe(r) {
			served.Add(r)
		}
	}
	for _, o := range olderVersions {
		if _, err := served.For(o.apiVersion, o.kind); err != nil && s.versions[o.apiVersion] {
			served.Add(o.resource())
		}
	}
	return served
}
