package snapshot

import (
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubectl-gc/kubectl-gc/internal/object"
	"github.com/kubectl-gc/kubectl-gc/internal/reason"
)

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
