package undo

import (
	"cmp"
	"slices"

	"github.com/kubectl-gc/kubectl-gc/internal/object"
)

// edge points to a node that must be created earlier.
type edge struct {
	from int
	why  need
}

// need is the reason for an edge, the weakest first.
type need uint8

const (
	// preferred: the owner would create the node by itself.
	preferred need = iota
	// referred: a reference names it. The reference can be added later.
	referred
	// wanted: the server requires it.
	wanted
)

// after adds an edge. There is one edge for each node, with its strongest reason.
func (n *node) after(from int, why need) {
	for i := range n.before {
		if n.before[i].from == from {
			n.before[i].why = max(n.before[i].why, why)
			return
		}
	}
	n.before = append(n.before, edge{from, why})
}

// rank orders kinds by what the server requires first. Objects require only objects of a lower
// rank, so wanted edges alone have no cycle.
func (n *node) rank() int {
	switch {
	case n.Object.Is(object.Namespace), n.Object.Is(object.CRD),
		n.Object.Is(object.PriorityClass):
		return 0
	case n.Object.Is(object.ServiceAccount):
		return 1
	default:
		return lastRank
	}
}

const lastRank = 2

// wants adds edges to what the server requires before node i: the namespace and the CRD, the
// ServiceAccount and PriorityClass of a pod, and the ServiceAccount of a token, which would be
// deleted without it.
//
// Upstream: plugin/pkg/admission/serviceaccount/admission.go Plugin.Admit, Plugin.Validate.
// Upstream: plugin/pkg/admission/priority/admission.go admitPod.
// Upstream: pkg/controller/serviceaccount/tokens_controller.go syncSecret.
func (p *planning) wants(i int) {
	n := &p.nodes[i]
	rank := n.rank()
	if rank == 0 {
		return
	}
	account, class := "", ""
	switch {
	case n.Object.Is(object.Pod):
		account = textAt(n.content, "spec", "serviceAccountName")
		class = textAt(n.content, "spec", "priorityClassName")
	case isToken(n):
		account = textAt(n.content, "metadata", "annotations", accountAnnotation)
	}
	for _, j := range p.first {
		m := &p.nodes[j]
		if m.rank() >= rank {
			continue
		}
		switch m.Object.Kind {
		case "Namespace":
			if m.Object.Name != n.Object.Namespace {
				continue
			}
		case "CustomResourceDefinition":
			if !defines(m, n) {
				continue
			}
		case "PriorityClass":
			if m.Object.Name != class {
				continue
			}
		case "ServiceAccount":
			if m.Object.Name != account || m.Object.Namespace != n.Object.Namespace {
				continue
			}
		}
		n.after(j, wanted)
	}
}

// order returns the nodes to create, each after all that it depends on. Among the ready nodes,
// those of the earliest phase come first, then the smallest object. A cycle is broken at one edge:
// that reference is written later.
func (p *planning) order() []int {
	before := func(a, b int) int {
		return cmp.Or(cmp.Compare(phase(p.nodes[a].Object), phase(p.nodes[b].Object)), cmp.Compare(a, b))
	}
	var ready []int // sorted
	push := func(i int) {
		at, _ := slices.BinarySearchFunc(ready, i, before)
		ready = slices.Insert(ready, at, i)
	}
	then := make([][]int, len(p.nodes))
	missing := make([]int, len(p.nodes))
	left := 0
	for i := range p.nodes {
		if p.nodes[i].state != made {
			continue
		}
		left++
		missing[i] = len(p.nodes[i].before)
		for _, e := range p.nodes[i].before {
			then[e.from] = append(then[e.from], i)
		}
		if missing[i] == 0 {
			push(i)
		}
	}
	done := make([]bool, len(p.nodes))
	var order []int
	for first := 0; left > 0; left-- {
		for len(ready) == 0 {
			for p.nodes[first].state != made || done[first] {
				first++
			}
			from, to := p.cycleEdge(first, done)
			p.nodes[to].postpone(&p.nodes[from])
			then[from] = slices.DeleteFunc(then[from], func(i int) bool { return i == to })
			p.nodes[to].before = slices.DeleteFunc(p.nodes[to].before, func(e edge) bool { return e.from == from })
			if missing[to]--; missing[to] == 0 {
				push(to)
			}
		}
		i := ready[0]
		ready = ready[1:]
		done[i] = true
		order = append(order, i)
		for _, j := range then[i] {
			if missing[j]--; missing[j] == 0 {
				push(j)
			}
		}
	}
	return order
}

// cycleEdge follows the dependencies of a waiting node until it finds a cycle. It returns the
// weakest edge of the cycle, among equals that of the smallest object.
func (p *planning) cycleEdge(start int, done []bool) (from, to int) {
	type stop struct {
		node int
		edge edge
	}
	var path []stop
	seen := map[int]int{}
	for i := start; ; {
		if at, round := seen[i]; round {
			path = path[at:]
			break
		}
		seen[i] = len(path)
		next := edge{from: -1}
		for _, e := range p.nodes[i].before {
			if !done[e.from] && (next.from < 0 || e.from < next.from) {
				next = e
			}
		}
		path = append(path, stop{i, next})
		i = next.from
	}
	weakest := wanted
	for _, s := range path {
		if s.edge.why < weakest {
			weakest, to = s.edge.why, -1
		}
		if s.edge.why == weakest && weakest < wanted && (to < 0 || s.node < to) {
			from, to = s.edge.from, s.node
		}
	}
	return from, to
}

// postpone moves the references to an owner out of the creation. They are added after the owner is
// created.
func (n *node) postpone(owner *node) {
	s := &n.step
	s.References = slices.DeleteFunc(s.References, func(r Reference) bool {
		later := r.Made && r.UID == owner.Object.UID
		if later {
			n.later = append(n.later, r)
		}
		return later
	})
}

// The phases order creations that no reference orders. Objects that others depend on come first,
// workloads late, and what can refuse requests last.
const (
	foundations = iota
	accounts
	volumes
	data
	actors
	gates
)

// phase returns the phase in which an object is created. Data comes before workloads and
// custom resources. Their controllers would otherwise create it empty or run without it.
func phase(r object.Ref) int {
	if !object.BuiltIn(r.Group()) {
		return actors
	}
	switch r.Kind {
	case "Namespace", "CustomResourceDefinition", "PriorityClass", "StorageClass", "VolumeAttributesClass", "RuntimeClass", "IngressClass",
		"DeviceClass", "CSIDriver", "Node":
		return foundations
	case "ServiceAccount":
		return accounts
	case "PersistentVolume":
		return volumes
	case "Pod", "ReplicationController", "ReplicaSet", "Deployment", "StatefulSet", "DaemonSet", "Job", "CronJob", "HorizontalPodAutoscaler":
		return actors
	case "ResourceQuota", "MutatingWebhookConfiguration", "ValidatingWebhookConfiguration", "ValidatingAdmissionPolicyBinding",
		"MutatingAdmissionPolicyBinding", "APIService":
		return gates
	default:
		return data
	}
}

// fills reports whether an existing owner would create such a dependent by itself, with other
// content. Then the dependent is created first, and gets the reference after its owner. Controllers
// of custom resources are unknown: they may create any dependent.
//
// Upstream: pkg/controller/statefulset/stateful_pod_control.go createPersistentVolumeClaims.
// Upstream: pkg/controller/volume/ephemeral/controller.go handleVolume.
// Upstream: pkg/controller/resourceclaim/controller.go handleClaim.
func fills(owner, dependent object.Ref) bool {
	switch {
	case !object.BuiltIn(owner.Group()):
		return true
	case dependent.Is(object.PVC):
		return owner.Is(object.StatefulSet) || owner.Is(object.Pod)
	case dependent.Group() == "resource.k8s.io" && dependent.Kind == "ResourceClaim":
		return owner.Is(object.Pod)
	default:
		return false
	}
}
