package object

import "k8s.io/apimachinery/pkg/runtime/schema"

// moved maps a group-resource to the one that holds its objects now. The old
// name is a second view on the same storage.
var moved = map[schema.GroupResource]schema.GroupResource{
	{Group: "extensions", Resource: "daemonsets"}:          {Group: "apps", Resource: "daemonsets"},
	{Group: "extensions", Resource: "deployments"}:         {Group: "apps", Resource: "deployments"},
	{Group: "extensions", Resource: "replicasets"}:         {Group: "apps", Resource: "replicasets"},
	{Group: "extensions", Resource: "ingresses"}:           {Group: "networking.k8s.io", Resource: "ingresses"},
	{Group: "extensions", Resource: "networkpolicies"}:     {Group: "networking.k8s.io", Resource: "networkpolicies"},
	{Group: "extensions", Resource: "podsecuritypolicies"}: {Group: "policy", Resource: "podsecuritypolicies"},
	{Group: "events.k8s.io", Resource: "events"}:           {Group: "", Resource: "events"},
}

// Storage names the storage behind a group-resource: the resource itself unless
// it is an old name for another one.
func Storage(gr schema.GroupResource) schema.GroupResource {
	if to, ok := moved[gr]; ok {
		return to
	}
	return gr
}

// Stored is the resource, in its preferred version, that holds the objects of one: the one
// in the group that it has moved to, where that is served.
func (rs *Resources) Stored(gr schema.GroupResource) (Resource, bool) {
	if stored, ok := rs.Preferred(Storage(gr)); ok {
		return stored, true
	}
	return rs.Preferred(gr)
}
