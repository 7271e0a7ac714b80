package etcd

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// Place is what the key of an object says.
type Place struct {
	// Group is that of a custom resource, and of a kind of a server for extensions; empty
	// where the key does not say it, which is so for all other kinds.
	Group string
	// Resource is the name of the kind in paths, as pods.
	Resource        string
	Namespace, Name string
}

// elsewhere are the kinds of which a key begins with another word.
//
// Upstream: kubernetes/pkg/kubeapiserver/default_storage_factory_builder.go SpecialDefaultResourcePrefixes.
var elsewhere = map[string]string{
	"controllers":        "replicationcontrollers",
	"ingress":            "ingresses",
	"minions":            "nodes",
	"podsecuritypolicy":  "podsecuritypolicies",
	"services/endpoints": "endpoints",
	"services/specs":     "services",
}

// notServed is what an API server stores for itself: addresses and ports that are given away,
// and which servers there are.
var notServed = []string{"health", "masterleases", "peerserverleases", "ranges"}

// PlaceOf reads a key, behind the prefix of all keys. It is false for one that holds no object
// that is served.
func PlaceOf(key string) (Place, bool) {
	parts := strings.Split(key, "/")
	var p Place
	if slices.Contains(notServed, parts[0]) {
		return p, false
	}
	switch {
	case strings.Contains(parts[0], ".") && len(parts) > 1:
		p.Group, p.Resource, parts = parts[0], parts[1], parts[2:]
	case parts[0] == "services" && len(parts) > 1:
		p.Resource, parts = parts[0]+"/"+parts[1], parts[2:]
	default:
		p.Resource, parts = parts[0], parts[1:]
	}
	p.Resource = cmp.Or(elsewhere[p.Resource], p.Resource)
	switch len(parts) {
	case 1:
		p.Name = parts[0]
	case 2:
		p.Namespace, p.Name = parts[0], parts[1]
	}
	return p, p.Name != ""
}

// wellKnown are objects that every cluster has.
var wellKnown = []string{"/namespaces/kube-system", "/namespaces/default"}

// prefixOf is what all keys of the cluster begin with: it is where its well-known objects are,
// or where API servers keep things unless they are told otherwise.
func prefixOf(keys []string) (string, error) {
	for _, end := range wellKnown {
		shortest, found := "", false
		for _, key := range keys {
			if p, ok := strings.CutSuffix(key, end); ok && (!found || len(p) < len(shortest)) {
				shortest, found = p, true
			}
		}
		if !found {
			continue
		}
		for _, key := range keys {
			if p, ok := strings.CutSuffix(key, end); ok && p != shortest && !strings.HasPrefix(p, shortest+"/") {
				return "", fmt.Errorf("it holds two clusters, below %q and %q", shortest, p)
			}
		}
		return shortest + "/", nil
	}
	const usual = "/registry/"
	if i, _ := slices.BinarySearch(keys, usual); i < len(keys) && strings.HasPrefix(keys[i], usual) {
		return usual, nil
	}
	return "", fmt.Errorf("none of its %d keys is of Kubernetes", len(keys))
}
