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

// introduced are the built-in kinds that old servers may lack, with the minor release that
// introduced each version of their API. Every server has all other built-in kinds.
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

// newer returns the newer of two server versions. One may be empty. In an upgraded cluster
// the newer one tells which kinds may exist.
func newer(a, b string) string {
	m := release.MinorOf(a)
	if a == "" || m != 0 && release.MinorOf(b) > m {
		return b
	}
	return a
}

// server is what a dump without discovery documents shows about its server.
type server struct {
	// groups and versions are the served ones; nil if unknown.
	groups, versions map[string]bool
	// minor is the server's release, 0 if unknown.
	minor int
}

// server returns what the documents of a dump show about the server. A server that names no group
// besides the core was asked by a client without permission to see them.
func (d *documents) server(source Source, seen map[typeName]*kindSeen) server {
	var s server
	if minor, known := source.Version().Minor(); known { // kubelets may be older
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

// mayServe reports whether the server may serve a built-in resource. It can't serve a version that
// was introduced later. It may serve any other, by default or because it was enabled, unless it
// names its versions without this one.
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

// served omits the built-in resources that the server of a dump can't serve and that the dump
// doesn't show, and adds the older versions that the server names.
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
