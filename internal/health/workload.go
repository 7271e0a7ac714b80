package health

import (
	"cmp"
	"encoding/json"
	"path"
	"slices"
	"strings"

	"github.com/kubectl-gc/kubectl-gc/internal/finalizer"
	"github.com/kubectl-gc/kubectl-gc/internal/object"
)

// Workload is a Deployment, StatefulSet or DaemonSet.
type Workload struct {
	Ref            object.Ref `json:"-"`
	ServiceAccount string     `json:"account,omitzero"`
	// Wanted and Ready count pods.
	Wanted       int  `json:"wanted,omitzero"`
	Ready        int  `json:"ready,omitzero"`
	BeingDeleted bool `json:"beingDeleted,omitzero"`
	// Programs are the names that the programs of its containers may use.
	Programs []string `json:"programs,omitempty"`
	// Names are the names in its labels, sorted.
	Names []string `json:"names,omitempty"`
	// Packages are what it was installed with, sorted. See installMetadata.
	Packages []string `json:"packages,omitempty"`
}

// Pod has the fields of a pod that identify a controller and its state.
type Pod struct {
	Ref            object.Ref `json:"-"`
	ServiceAccount string     `json:"account,omitzero"`
	// Controller is its controlling owner. It is empty without one.
	Controller object.Ref `json:"controller,omitzero"`
	Node       string     `json:"node,omitzero"`
	Phase      string     `json:"phase,omitzero"`
	Ready      bool       `json:"ready,omitzero"`
	// Waiting is why a container does not run, such as CrashLoopBackOff. It is empty if none waits.
	Waiting      string `json:"waiting,omitzero"`
	BeingDeleted bool   `json:"beingDeleted,omitzero"`
	// Mirror is true for the mirror pod of a static pod.
	Mirror   bool     `json:"mirror,omitzero"`
	Programs []string `json:"programs,omitempty"`
	// Names are the names in its labels, sorted.
	Names []string `json:"names,omitempty"`
	// DNSPolicy is the flag --policy of ExternalDNS. It is empty for other programs, and if it is not among the arguments.
	DNSPolicy string `json:"dnsPolicy,omitzero"`
}

type podSpec struct {
	ServiceAccountName string      `json:"serviceAccountName"`
	ServiceAccount     string      `json:"serviceAccount"`
	NodeName           string      `json:"nodeName"`
	Containers         []container `json:"containers"`
}

type container struct {
	Name    string   `json:"name"`
	Image   string   `json:"image"`
	Command []string `json:"command"`
	Args    []string `json:"args"`
}

// externalDNS is the controller that makes DNS records for objects.
var externalDNS = finalizer.Controller{Name: "ExternalDNS", Programs: []string{"external-dns"}}

// dnsPolicy returns the flag --policy of ExternalDNS.
func (s *podSpec) dnsPolicy(names []string) string {
	if externalDNS.IsCalled(names) {
		for _, c := range s.Containers {
			for _, arg := range c.Args {
				if policy, ok := strings.CutPrefix(arg, "--policy="); ok {
					return policy
				}
			}
		}
	}
	return ""
}

// account returns the service account of the pods.
func (s *podSpec) account() string {
	return cmp.Or(s.ServiceAccountName, s.ServiceAccount, "default")
}

// programs returns the names of containers, images and commands, sorted.
func (s *podSpec) programs() []string {
	names := map[string]bool{}
	for _, c := range s.Containers {
		names[c.Name] = true
		image, _, _ := strings.Cut(path.Base(c.Image), "@")
		image, _, _ = strings.Cut(image, ":")
		names[image] = true
		if len(c.Command) > 0 {
			names[path.Base(c.Command[0])] = true
		}
	}
	for _, none := range []string{"", ".", "/"} {
		delete(names, none)
	}
	return sortedKeys(names)
}

// workloadBody has the fields that are read from a Deployment, StatefulSet or DaemonSet.
type workloadBody struct {
	Metadata installMetadata `json:"metadata"`
	Spec     struct {
		Replicas *int `json:"replicas"`
		Template struct {
			Spec podSpec `json:"spec"`
		} `json:"template"`
	} `json:"spec"`
	Status struct {
		ReadyReplicas int `json:"readyReplicas"`
		NumberReady   int `json:"numberReady"`
		Desired       int `json:"desiredNumberScheduled"`
	} `json:"status"`
}

func (s *Shown) takeWorkload(b *body, d *workloadBody) {
	one := Workload{
		Ref: b.ref(), ServiceAccount: d.Spec.Template.Spec.account(), BeingDeleted: b.Metadata.DeletionTimestamp != nil,
		Wanted: 1, Ready: d.Status.ReadyReplicas, Programs: d.Spec.Template.Spec.programs(), Names: b.labelNames(), Packages: d.Metadata.packages(b),
	}
	if d.Spec.Replicas != nil {
		one.Wanted = *d.Spec.Replicas
	}
	if b.Kind == "DaemonSet" {
		one.Wanted, one.Ready = d.Status.Desired, d.Status.NumberReady
	}
	s.Workloads = append(s.Workloads, one)
}

// podBody has the fields that are read from a Pod.
type podBody struct {
	Metadata struct {
		Annotations struct {
			Mirror json.RawMessage `json:"kubernetes.io/config.mirror"`
		} `json:"annotations"`
	} `json:"metadata"`
	Spec   podSpec `json:"spec"`
	Status struct {
		Phase      string            `json:"phase"`
		Conditions []condition       `json:"conditions"`
		Containers []containerStatus `json:"containerStatuses"`
		Init       []containerStatus `json:"initContainerStatuses"`
	} `json:"status"`
}

func (s *Shown) takePod(b *body, d *podBody) {
	ready, _ := Find(conditions(d.Status.Conditions), "Ready")
	p := Pod{
		Ref: b.ref(), ServiceAccount: d.Spec.account(), Controller: b.controller(), Node: d.Spec.NodeName,
		Phase: d.Status.Phase, Ready: ready.True(), BeingDeleted: b.Metadata.DeletionTimestamp != nil, Programs: d.Spec.programs(), Names: b.labelNames(),
	}
	p.Mirror = d.Metadata.Annotations.Mirror != nil
	p.DNSPolicy = d.Spec.dnsPolicy(p.allNames())
	for _, s := range append(d.Status.Init, d.Status.Containers...) {
		if p.Waiting == "" {
			p.Waiting = s.State.Waiting.Reason
		}
	}
	s.Pods = append(s.Pods, p)
}

type containerStatus struct {
	State struct {
		Waiting struct {
			Reason string `json:"reason"`
		} `json:"waiting"`
	} `json:"state"`
}

// nameLabels lists the labels that commonly carry the name of a program on its pods and workloads.
var nameLabels = []string{
	"app", "app.kubernetes.io/name", "app.kubernetes.io/part-of", "control-plane", "k8s-app", "name", "pkg.crossplane.io/provider",
}

// labelNames returns the values of the labels in nameLabels, sorted.
func (b *body) labelNames() []string {
	names := map[string]bool{}
	for _, label := range nameLabels {
		if name := b.Metadata.Labels[label]; name != "" {
			names[name] = true
		}
	}
	return sortedKeys(names)
}

// installMetadata has the annotations that tell what an object was installed with.
type installMetadata struct {
	Annotations struct {
		Release   string `json:"meta.helm.sh/release-name"`
		Namespace string `json:"meta.helm.sh/release-namespace"`
	} `json:"annotations"`
}

// packages returns what installed an object: a Helm release, an instance of an application, a
// bundle of the Operator Lifecycle Manager, or its owners. Two objects with a common entry were
// installed together. The list is sorted.
func (p *installMetadata) packages(b *body) []string {
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
	return sortedKeys(found)
}

// workloadName returns the name of the workload that a pod belongs to. It cuts the hash that a
// Deployment appends to the names of its ReplicaSets.
func (p *Pod) workloadName() string {
	owner := p.Controller
	if owner.Name == "" {
		return p.Ref.Name
	}
	if owner.Kind == object.ReplicaSet.Kind {
		if at := strings.LastIndexByte(owner.Name, '-'); at > 0 {
			return owner.Name[:at]
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

// programs finds running pods and workloads by their names.
type programs struct {
	// pods has the unfinished pods by the names that their programs may use.
	pods map[string][]*Pod
	// workloads has the workloads by namespace and name.
	workloads map[[2]string][]*Workload
	// findPods are all unfinished pods, controllers those that belong to a controller of the table.
	unfinished  []*Pod
	controllers map[*finalizer.Controller][]*Pod
}

func newPrograms(seen *Evidence) *programs {
	p := &programs{pods: map[string][]*Pod{}, workloads: map[[2]string][]*Workload{}, controllers: map[*finalizer.Controller][]*Pod{}}
	if seen == nil {
		return p
	}
	for n := range seen.Pods {
		if pod := &seen.Pods[n]; !finished(pod) {
			p.unfinished = append(p.unfinished, pod)
			for _, name := range pod.Programs {
				name = strings.ToLower(name)
				if n := len(p.pods[name]); n == 0 || p.pods[name][n-1] != pod {
					p.pods[name] = append(p.pods[name], pod)
				}
			}
		}
	}
	for n := range seen.Workloads {
		w := &seen.Workloads[n]
		at := [2]string{w.Ref.Namespace, w.Ref.Name}
		p.workloads[at] = append(p.workloads[at], w)
	}
	return p
}

// podsOf returns the pods that belong to some controllers of the table.
func (p *programs) podsOf(known []*finalizer.Controller) []*Pod {
	var all []*Pod
	for _, c := range known {
		pods, done := p.controllers[c]
		if !done {
			for _, pod := range p.unfinished {
				if c.IsCalled(pod.allNames()) {
					pods = append(pods, pod)
				}
			}
			p.controllers[c] = pods
		}
		all = append(all, pods...)
	}
	return all
}

// packages returns what the workload of a pod was installed with.
func (p *programs) packages(pod *Pod) []string {
	for _, w := range p.workloads[[2]string{pod.Ref.Namespace, pod.workloadName()}] {
		if w.ServiceAccount == pod.ServiceAccount {
			return w.Packages
		}
	}
	return nil
}
