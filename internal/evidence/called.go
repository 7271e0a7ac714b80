package evidence

import (
	"slices"

	"github.com/kubectl-gc/kubectl-gc/internal/object"
)

// naming lists the labels that commonly carry the name of a program on its pods and workloads.
var naming = []string{
	"app", "app.kubernetes.io/name", "app.kubernetes.io/part-of", "control-plane", "k8s-app", "name", "pkg.crossplane.io/provider",
}

// called returns the values of the labels in naming, sorted.
func (b *body) called() []string {
	names := map[string]bool{}
	for _, label := range naming {
		if name := b.Metadata.Labels[label]; name != "" {
			names[name] = true
		}
	}
	return keys(names)
}

// packaged has the annotations that tell what an object was installed with.
type packaged struct {
	Annotations struct {
		Release   string `json:"meta.helm.sh/release-name"`
		Namespace string `json:"meta.helm.sh/release-namespace"`
	} `json:"annotations"`
}

// packages returns what installed an object: a Helm release, an instance of an application, a
// bundle of the Operator Lifecycle Manager, or its owners. Two objects with a common entry were
// installed together. The list is sorted.
func (p *packaged) packages(b *body) []string {
	found := map[string]bool{}
	if p.Annotations.Release != "" {
		found["release "+p.Annotations.Namespace+"/"+p.Annotations.Release] = true
	}
	for _, label := range []string{"app.kubernetes.io/instance", "olm.owner"} {
		if value := b.Metadata.Labels[label]; value != "" {
			found[label+" "+value] = true
		}
	}
	for _, o := range b.Metadata.OwnerReferences {
		if o.UID != "" {
			found["owner "+string(o.UID)] = true
		}
	}
	return keys(found)
}

// workloadName returns the name of the workload that a pod belongs to. It cuts the hash that a
// Deployment appends to the names of its ReplicaSets.
func (p *Pod) workloadName() string {
	owner := p.Controller
	if owner.Name == "" {
		return p.Ref.Name
	}
	if owner.Kind == object.ReplicaSet.Kind {
		for at := len(owner.Name) - 1; at > 0; at-- {
			if owner.Name[at] == '-' {
				return owner.Name[:at]
			}
		}
	}
	return owner.Name
}

// allNames returns all names of a pod, with those of its workload, its account and its programs.
func (p *Pod) allNames() []string {
	return append(slices.Concat(p.Programs, p.Names), p.workloadName(), p.ServiceAccount)
}

// allNames returns all names of a workload.
func (w *Workload) allNames() []string {
	return append(slices.Concat(w.Programs, w.Names), w.Ref.Name, w.ServiceAccount)
}
