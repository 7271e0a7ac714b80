package etcd

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// Place is what an object's key names.
type Place struct {
	// Group is the group of a custom resource or of a resource of the extensions server; "" for all
	// other resources, because their keys lack it.
	Group string
	// Resource is the name of the resource in URLs, such as pods.
	Resource        string
	Namespace, Name string
}

// elsewhere maps the key prefixes that differ from the resource name.
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

// notServed are the key prefixes of the API server's own records: allocated addresses and ports,
// and the list of servers.
var notServed = []string{"health", "masterleases", "peerserverleases", "ranges"}

// PlaceOf parses a key without the cluster's prefix. It returns false for a key that is not of a
// served object.
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

// prefixOf returns the prefix of the cluster's keys: that of its well-known objects, or else the
// API servers' default.
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
