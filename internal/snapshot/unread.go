package snapshot

import (
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubectl-gc/kubectl-gc/internal/object"
	"github.com/kubectl-gc/kubectl-gc/internal/reason"
)

// Unread lists the resources that were tried and could not be read of what an answer is
// about: of a namespace and its object, or with an empty one of everything. What nobody
// tried, by choice or because a dump has no list of it, is not among them.
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

// openToAll is what every service account may list since v1.37, whatever it may otherwise.
//
// Upstream: plugin/pkg/auth/authorizer/rbac/bootstrappolicy/policy.go ClusterRoles.
var openToAll = schema.GroupResource{Group: "certificates.k8s.io", Resource: "clustertrustbundles"}

// Blind reports whether nothing at all was read of what an answer is about, although it
// was tried: of the content of a namespace, or with an empty one of anything but what is open
// to all.
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

// byName are the known resources by version and name, as gaps have them.
func (s *Snapshot) byName() map[[2]string]object.Resource {
	resources := map[[2]string]object.Resource{}
	for _, r := range s.Resources.All() {
		resources[[2]string{r.APIVersion(), r.Name}] = r
	}
	return resources
}
