package finalizer

import (
	"fmt"
	"strings"

	"github.com/kubectl-gc/kubectl-gc/internal/object"
	"github.com/kubectl-gc/kubectl-gc/internal/reason"
)

// content looks for objects in a namespace. The namespace counts as empty only if every kind that
// could be in it was listed and discovery is complete, since remaining objects would become
// unreachable.
//
// Upstream: pkg/controller/namespace/deletion/namespaced_resources_deleter.go namespacedResourcesDeleter.Delete:
// deletes all content before it finalizes.
func (j *judgement) content() {
	if there := j.contentOf(j.o.Name); there.n > 0 {
		j.refuse(reason.NamespaceNotEmpty, j.allow.Namespace, unlockNamespace, there.first, counted(there.n))
		return
	}
	var gaps []string
	if !j.snap.KnowsAllKinds() {
		gaps = append(gaps, "not all kinds that the server serves are known")
	}
	for _, r := range j.snap.Resources.All() {
		if p, ok := j.snap.Resources.Preferred(r.GroupResource()); !r.Namespaced || !r.Verbs.Has(object.Delete) || !ok || p.Version != r.Version {
			continue
		}
		if !j.snap.Covers(r, j.o.Name) {
			gaps = append(gaps, r.GroupResource().String()+": "+j.snap.Why(r, j.o.Name))
		}
	}
	if len(gaps) > 0 {
		detail := strings.Join(gaps[:min(len(gaps), most)], "; ")
		if left := len(gaps) - most; left > 0 {
			detail += fmt.Sprintf("; and %d more", left)
		}
		j.refuse(reason.NamespaceContentUnknown, j.allow.Namespace, unlockNamespace, nil, detail)
	}
}

// counted returns the total if not all objects are named.
func counted(n int) string {
	if n <= most {
		return ""
	}
	return fmt.Sprintf("%d in all", n)
}
