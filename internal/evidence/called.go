package evidence

import (
	"slices"

	"github.com/kubectl-gc/kubectl-gc/internal/object"
)

// naming are the labels by which installations say what a pod or a workload is.
var naming = []string{
	"app", "app.kubernetes.io/name", "app.kubernetes.io/part-of", "control-plane", "k8s-app", "name", "pkg.crossplane.io/provider",
}

// called are the values of the labels that say what an object is, sorted.
func (b *body) called() []string {
	names := map[string]bool{}
	for _, label := range naming {
		if name := b.Metadata.Labels[label]; name != "" {
			names[name] = true
		}
	}
	return keys(names)
}

// packaged is what is read of an object to learn what it was installed with.
type packaged struct {
	Annotations struct {
		Release   string `json:"meta.helm.sh/release-name"`
		Namespace string `json:"meta.helm.sh/release-namespace"`
	} `json:"annotations"`
}

// packages name what installed an object: a Helm release, an instance of an application, a bundle
// of the Operator Lifecycle Manager, or the owner that both of two objects have.
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

// workloadName is the name of the workload that a pod belongs to. A Deployment adds a hash to
// the name of its ReplicaSets.
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

// allNames are all names that a pod has, of its workload, its account and its program too.
func (p *Pod) allNames() []string {
	return append(slices.Concat(p.Programs, p.Names), p.workloadName(), p.ServiceAccount)
}

// allNames are all names that a workload has.
func (w *Workload) allNames() []string {
	return append(slices.Concat(w.Programs, w.Names), w.Ref.Name, w.ServiceAccount)
}
