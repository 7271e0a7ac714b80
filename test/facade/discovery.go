package facade

import (
	"encoding/json"
	"slices"
	"strings"

	apidiscovery "k8s.io/api/apidiscovery/v2"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-gc/kubectl-gc/internal/object"
)

// Documents are the two documents of discovery of a server that serves these
// resources, by path. The group versions in stale are announced as ones that could
// not be asked for; nothing is said of what they serve.
func Documents(rs []object.Resource, stale ...string) map[string][]byte {
	var core, groups apidiscovery.APIGroupDiscoveryList
	for _, r := range rs {
		list := &groups
		if r.Group == "" {
			list = &core
		}
		v := versionOf(list, r.Group, r.Version, apidiscovery.DiscoveryFreshnessCurrent)
		if slices.Contains(stale, r.APIVersion()) {
			v.Freshness = apidiscovery.DiscoveryFreshnessStale
			continue
		}
		scope := apidiscovery.ScopeCluster
		if r.Namespaced {
			scope = apidiscovery.ScopeNamespace
		}
		v.Resources = append(v.Resources, apidiscovery.APIResourceDiscovery{
			Resource: r.Name, Scope: scope, SingularResource: strings.ToLower(r.Kind), Verbs: r.Verbs.Names(),
			ResponseKind: &metav1.GroupVersionKind{Group: r.Group, Version: r.Version, Kind: r.Kind},
		})
	}
	return map[string][]byte{"/api": document(core), "/apis": document(groups)}
}

// versionOf finds a version of a group, or announces it.
func versionOf(list *apidiscovery.APIGroupDiscoveryList, group, version string, fresh apidiscovery.DiscoveryFreshness) *apidiscovery.APIVersionDiscovery {
	i := slices.IndexFunc(list.Items, func(g apidiscovery.APIGroupDiscovery) bool { return g.Name == group })
	if i < 0 {
		i = len(list.Items)
		list.Items = append(list.Items, apidiscovery.APIGroupDiscovery{ObjectMeta: metav1.ObjectMeta{Name: group}})
	}
	g := &list.Items[i]
	j := slices.IndexFunc(g.Versions, func(v apidiscovery.APIVersionDiscovery) bool { return v.Version == version })
	if j < 0 {
		j = len(g.Versions)
		g.Versions = append(g.Versions, apidiscovery.APIVersionDiscovery{Version: version, Freshness: fresh})
	}
	return &g.Versions[j]
}

func document(list apidiscovery.APIGroupDiscoveryList) []byte {
	list.APIVersion, list.Kind = "apidiscovery.k8s.io/v2", "APIGroupDiscoveryList"
	text, err := json.Marshal(list)
	if err != nil {
		panic("facade: discovery did not marshal: " + err.Error())
	}
	return text
}
