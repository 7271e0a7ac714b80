package object

import "k8s.io/apimachinery/pkg/runtime/schema"

// moved maps a group-resource to the one that stores its objects now. The old name is a second view
// of the same storage.
var moved = map[schema.GroupResource]schema.GroupResource{
	{Group: "extensions", Resource: "daemonsets"}:          {Group: "apps", Resource: "daemonsets"},
	{Group: "extensions", Resource: "deployments"}:         {Group: "apps", Resource: "deployments"},
	{Group: "extensions", Resource: "replicasets"}:         {Group: "apps", Resource: "replicasets"},
	{Group: "extensions", Resource: "ingresses"}:           {Group: "networking.k8s.io", Resource: "ingresses"},
	{Group: "extensions", Resource: "networkpolicies"}:     {Group: "networking.k8s.io", Resource: "networkpolicies"},
	{Group: "extensions", Resource: "podsecuritypolicies"}: {Group: "policy", Resource: "podsecuritypolicies"},
	{Group: "events.k8s.io", Resource: "events"}:           {Group: "", Resource: "events"},
	// The aggregated API server of OpenShift reads and writes the objects of RBAC.
	{Group: openshiftRBAC, Resource: "clusterrolebindings"}: {Group: rbac, Resource: "clusterrolebindings"},
	{Group: openshiftRBAC, Resource: "clusterroles"}:        {Group: rbac, Resource: "clusterroles"},
	{Group: openshiftRBAC, Resource: "rolebindings"}:        {Group: rbac, Resource: "rolebindings"},
	{Group: openshiftRBAC, Resource: "roles"}:               {Group: rbac, Resource: "roles"},
}

const openshiftRBAC = "authorization.openshift.io"

// projections maps a group-resource to the one that it projects: it shows the same objects with
// their UIDs, but other names or fields. It stores none itself.
var projections = map[schema.GroupResource]schema.GroupResource{
	{Group: "image.openshift.io", Resource: "imagestreamimages"}: {Group: "image.openshift.io", Resource: "imagestreams"},
	{Group: "image.openshift.io", Resource: "imagestreamtags"}:   {Group: "image.openshift.io", Resource: "imagestreams"},
	{Group: "image.openshift.io", Resource: "imagetags"}:         {Group: "image.openshift.io", Resource: "imagestreams"},
	{Group: "project.openshift.io", Resource: "projects"}:        {Group: "", Resource: "namespaces"},
}

// calico is the group of Calico's aggregated API server, which stores its objects as custom
// resources of the group crd.projectcalico.org.
const calico = "projectcalico.org"

// ProjectionOf returns the resource that a group-resource of an aggregated API server projects; ok
// is false for a resource with its own objects. CRDs can also declare Calico's resources: those are
// no projections, and the caller must check that.
func ProjectionOf(gr schema.GroupResource) (of schema.GroupResource, ok bool) {
	if gr.Group == calico {
		return schema.GroupResource{Group: "crd." + calico, Resource: gr.Resource}, true
	}
	of, ok = projections[gr]
	return of, ok
}

// Storage returns the group-resource that stores the objects: the given one unless it is an old
// name.
func Storage(gr schema.GroupResource) schema.GroupResource {
	if to, ok := moved[gr]; ok {
		return to
	}
	return gr
}

// Stored returns the preferred version of the resource that stores the objects of gr: in the group
// that it has moved to, if that is served.
func (rs *Resources) Stored(gr schema.GroupResource) (Resource, bool) {
	if stored, ok := rs.Preferred(Storage(gr)); ok {
		return stored, true
	}
	return rs.Preferred(gr)
}
