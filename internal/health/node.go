package health

import (
	"cmp"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/kubectl-gc/kubectl-gc/internal/finalizer"
	"github.com/kubectl-gc/kubectl-gc/internal/object"
)

// NodeState says whether the kubelet of a node can terminate a pod.
type NodeState string

// The states of nodes.
const (
	// NodeUnknown: not enough was read, or the kubelet reports Ready=False. Such a kubelet may
	// still terminate pods, for example while it waits for its network plugin.
	NodeUnknown NodeState = "Unknown"
	// NodeReady: the kubelet reports Ready=True.
	NodeReady NodeState = "Ready"
	// NodeNotReady: the kubelet has stopped reporting, or never reported.
	NodeNotReady NodeState = "NotReady"
	// NodeAbsent: all nodes were read, and this one does not exist.
	NodeAbsent NodeState = "Absent"
)

// heartbeatTimeout is the age of a heartbeat, in seconds, after which a kubelet counts as stopped
// if its lease was not read. A kubelet reports at least every five minutes.
//
// Upstream: pkg/kubelet/apis/config/v1beta1/defaults.go SetDefaults_KubeletConfiguration.
const heartbeatTimeout = 900

// Node returns the state of a node, with its Ready condition if it was read.
//
// Upstream: pkg/controller/nodelifecycle/node_lifecycle_controller.go Controller.tryUpdateNodeHealth:
// sets Ready to Unknown if a kubelet has stopped reporting. Only the kubelet itself reports False.
func (s *Assessment) Node(name string) (NodeState, Condition) {
	n, known := s.nodesSeen[name]
	switch {
	case name == "":
		return NodeUnknown, Condition{}
	case s.nodes && s.snap.FindKind(object.Node, "", name) == nil && s.snap.Covers(object.Node.Resource(), "") &&
		s.snap.UnseenNode(name) == "":
		return NodeAbsent, Condition{}
	case known && n.Unreported && !s.renewed(name):
		return NodeNotReady, Condition{Type: "Ready", Status: "missing", Message: "its kubelet has never reported"}
	case !known || n.Ready.Status == "":
		return NodeUnknown, Condition{}
	case n.Ready.Status == "Unknown":
		return NodeNotReady, n.Ready
	}
	if last, stopped := s.kubeletStopped(n); stopped {
		return NodeNotReady, Condition{Type: n.Ready.Type, Status: n.Ready.Status, Reason: n.Ready.Reason, Message: "its kubelet reported last" + stampText(last), Since: last}
	}
	if n.Ready.True() {
		return NodeReady, n.Ready
	}
	return NodeUnknown, n.Ready
}

// OutOfServiceTaint is the key of the taint by which a person says that a node is shut down.
//
// In k8s.io/api/core/v1 it is TaintNodeOutOfService.
const OutOfServiceTaint = "node.kubernetes.io/out-of-service"

// OutOfService reports whether pod GC ends the pods of a node in place of its kubelet: it has
// OutOfServiceTaint and is known not to be ready.
//
// Upstream: pkg/controller/podgc/gc_controller.go PodGCController.gcTerminating.
func (s *Assessment) OutOfService(node string) bool {
	n := s.nodesSeen[node]
	return n != nil && n.OutOfService && (n.Ready.Status != "" || n.Unreported) && !n.Ready.True()
}

// PodGCTakesOver reports whether pod GC ends a pod in place of its kubelet, and the lease of
// kube-controller-manager has not expired. Pod GC is then never late: when the node got its taint is
// unknown.
func (s *Assessment) PodGCTakesOver(pod *object.Object) bool {
	return pod.Pod() != nil && s.OutOfService(pod.Pod().NodeName) && !s.ManagerLeaseExpired()
}

// renewed reports whether the kubelet of a node renewed its lease, and not too long ago.
func (s *Assessment) renewed(node string) bool {
	l := s.nodeLeases[node]
	return l != nil && s.holderState(l) != object.HolderGone
}

// kubeletStopped reports whether the kubelet of a node has stopped reporting, and the time of its
// last report.
func (s *Assessment) kubeletStopped(n *Node) (last int64, stopped bool) {
	if l := s.nodeLeases[n.Name]; l != nil && l.Renewed != 0 {
		return l.Renewed, s.holderState(l) == object.HolderGone
	}
	return n.Heartbeat, s.now != 0 && n.Heartbeat != 0 && s.now-n.Heartbeat > heartbeatTimeout
}

// Budget is a PodDisruptionBudget.
type Budget struct {
	Ref object.Ref `json:"-"`
	// Selector selects its pods; nil selects none.
	Selector *metav1.LabelSelector `json:"selector,omitzero"`
	// Allowed is the number of pods that may be evicted now. It is nil if the status was not read.
	Allowed *int `json:"allowed,omitzero"`
	// Unready is true if pods that are not ready may be evicted even if Allowed is 0, and some of
	// its pods are not ready. Which ones is not read.
	Unready bool `json:"unready,omitzero"`
}

// budgetBody has the fields that are read from a PodDisruptionBudget.
type budgetBody struct {
	Spec struct {
		Selector *metav1.LabelSelector `json:"selector"`
		Policy   string                `json:"unhealthyPodEvictionPolicy"`
	} `json:"spec"`
	Status struct {
		Allowed  *int `json:"disruptionsAllowed"`
		Healthy  int  `json:"currentHealthy"`
		Desired  int  `json:"desiredHealthy"`
		Expected int  `json:"expectedPods"`
	} `json:"status"`
}

// takeBudget adds a budget.
//
// Upstream: pkg/registry/core/pod/storage/eviction.go EvictionREST.Create: which pods that are not ready
// may be evicted.
func (s *Shown) takeBudget(b *body, d *budgetBody) {
	pods := &d.Status
	unready := pods.Healthy < pods.Expected && (d.Spec.Policy == "AlwaysAllow" || pods.Desired > 0 && pods.Healthy >= pods.Desired)
	s.Budgets = append(s.Budgets, Budget{Ref: b.ref(), Selector: d.Spec.Selector, Allowed: pods.Allowed, Unready: unready})
}

// Eviction is a pod that blocks a drain.
type Eviction struct {
	// Budget is the budget that protects Pod from eviction.
	Budget *Budget
	Pod    *object.Object
}

// Evictions returns, for each budget that allows no disruption, the first pod on a node that the
// budget protects from eviction.
func (s *Assessment) Evictions(node string) []Eviction {
	blocked := s.drainsByNode()[node].blocked
	if len(s.goneBudgets) == 0 {
		return blocked
	}
	return slices.DeleteFunc(slices.Clone(blocked), func(x Eviction) bool { return s.goneBudgets[x.Budget.Ref] })
}

// BlockedDrain is a cordoned node from which all pods that a drain evicts are gone, except those
// that budgets protect. A drain of it cannot end. The cluster does not record whether one is
// running.
type BlockedDrain struct {
	Node      string
	Evictions []Eviction
}

// BlockedDrains returns the cordoned nodes with blocked drains, sorted by name. It leaves out nodes
// with a pod that could be evicted: a drain would have evicted it.
func (s *Assessment) BlockedDrains() []BlockedDrain {
	var all []BlockedDrain
	for node, d := range s.drainsByNode() {
		if len(d.blocked) > 0 && !d.evictable && s.Cordoned(node) {
			all = append(all, BlockedDrain{node, d.blocked})
		}
	}
	slices.SortFunc(all, func(a, b BlockedDrain) int { return strings.Compare(a.Node, b.Node) })
	return all
}

// drain is what a drain of a node can do with its pods.
type drain struct {
	blocked []Eviction
	// evictable is true if the node has a pod that the drain can evict and that is not being
	// deleted.
	evictable bool
	// kept is the first pod that an annotation keeps Karpenter from evicting; nil if there is none.
	kept *object.Object
}

// drainsByNode returns the drains by node. It is computed on first use.
//
// Upstream: pkg/registry/core/pod/storage/eviction.go EvictionREST.Create, canIgnorePDB.
func (s *Assessment) drainsByNode() map[string]drain {
	if s.drains != nil || s.evidence == nil {
		return s.drains
	}
	s.drains = map[string]drain{}
	type first struct{ budget, node string }
	named := map[first]bool{}
	budgets := s.budgets()
	for _, pod := range s.snap.Objects {
		f := pod.Pod()
		if f == nil || f.NodeName == "" || f.Mirror || pod.BeingDeleted() {
			continue
		}
		d := s.drains[f.NodeName]
		if d.kept == nil && !f.Finished() && pod.Protection().Has(object.KarpenterKeep) {
			d.kept = pod
		}
		held := false
		for _, b := range budgets[pod.Namespace] {
			if !b.match.Matches(pod.Labels) || f.Finished() || f.Phase == "Pending" {
				continue
			}
			held = true
			if at := (first{b.Ref.Name + "/" + pod.Namespace, f.NodeName}); !b.Unready && !named[at] {
				named[at] = true
				d.blocked = append(d.blocked, Eviction{b.Budget, pod})
			}
		}
		owner, _ := pod.Controller()
		d.evictable = d.evictable || !held && !owner.Is(object.DaemonSet) // a drain evicts no pod of a DaemonSet
		s.drains[f.NodeName] = d
	}
	return s.drains
}

// parsedBudget is a budget with its parsed selector.
type parsedBudget struct {
	*Budget
	match labels.Selector
}

// budgets returns the budgets that allow no disruption, by namespace.
func (s *Assessment) budgets() map[string][]parsedBudget {
	all := map[string][]parsedBudget{}
	for n := range s.evidence.Budgets {
		b := &s.evidence.Budgets[n]
		if b.Allowed == nil || *b.Allowed > 0 || b.Selector == nil {
			continue
		}
		if match, err := metav1.LabelSelectorAsSelector(b.Selector); err == nil {
			all[b.Ref.Namespace] = append(all[b.Ref.Namespace], parsedBudget{b, match})
		}
	}
	return all
}

// Text says what blocks a drain of a node.
func (x *Eviction) Text(known object.Ref) string {
	return known.ShortName() + " in namespace " + known.Namespace + " allows no eviction of " + x.Pod.Ref.ShortName() + ": a drain of node " + x.Pod.Pod().NodeName + " waits for it"
}

// Cordoned reports whether a node is known to be cordoned.
func (s *Assessment) Cordoned(node string) bool {
	n := s.nodesSeen[node]
	return n != nil && n.Cordoned
}

// drainOf returns what keeps Karpenter from removing its finalizer from a Node or NodeClaim: a pod that it cannot
// evict. That may end: the pod may finish, a budget may allow an eviction, and a NodeClaim may have a limit, which a
// snapshot lacks.
//
// Source: karpenter, pkg/controllers/node/termination/terminator/terminator.go Drain; pkg/utils/pod/scheduling.go
// IsEvictable, IsDrainable; karpenter.sh/docs/concepts/disruption: after the terminationGracePeriod of its NodeClaim
// a node is drained whatever is on it.
func (s *Assessment) drainOf(o *object.Object, name string) finalizer.Pause {
	if name != finalizer.KarpenterDrains {
		return finalizer.Pause{}
	}
	if o.Is(object.Node) {
		for _, owner := range o.Owners {
			if claim := s.snap.ObjectAt(owner.In("").Coordinates()); claim != nil && s.drainEnds(claim) {
				return finalizer.Pause{}
			}
		}
		return s.drainOfNode(o.Name)
	}
	if s.drainEnds(o) {
		return finalizer.Pause{}
	}
	for _, node := range s.objectsOf(object.Node.GroupKind) {
		if node.RefersTo(o.UID) {
			return s.drainOfNode(node.Name)
		}
	}
	return finalizer.Pause{}
}

// drainEnds reports whether the drain of the node of a NodeClaim ends in time.
func (s *Assessment) drainEnds(claim *object.Object) bool {
	c := s.consumers[claim.Ref]
	return c != nil && c.Bounded
}

func (s *Assessment) drainOfNode(node string) finalizer.Pause {
	if blocked := s.Evictions(node); len(blocked) > 0 {
		budget := s.Known(blocked[0].Budget.Ref)
		return finalizer.Pause{On: budget, Why: blocked[0].Text(budget), MayEnd: true}
	}
	if pod := s.drainsByNode()[node].kept; pod != nil {
		return finalizer.Pause{On: pod.Ref, Why: "annotation " + object.KarpenterKeepKey + " of " + pod.FullName() + " keeps Karpenter from evicting it", MayEnd: true}
	}
	return finalizer.Pause{}
}

// DrainedNode returns the node that is drained before an object is deleted: a Node itself, or the
// node of a Cluster API Machine with conditions that mention a drain. It is empty for any other
// object.
func (s *Assessment) DrainedNode(o *object.Object) string {
	if o.Is(object.Node) && o.BeingDeleted() {
		return o.Name
	}
	t := s.Shown(o)
	if t == nil || o.Kind != "Machine" || o.Group() != "cluster.x-k8s.io" {
		return ""
	}
	for _, c := range t.Conditions {
		if strings.Contains(strings.ToLower(c.Type+" "+c.Reason+" "+c.Message), "drain") {
			return t.Node
		}
	}
	return ""
}

// Attachment is a VolumeAttachment: a volume that is attached to a node, or is to be.
type Attachment struct {
	Ref object.Ref `json:"-"`
	// Node and Volume are the names of a Node and of a PersistentVolume. Volume is empty if the
	// attachment has an inline volume.
	Node     string `json:"node"`
	Volume   string `json:"volume,omitzero"`
	Attached bool   `json:"attached,omitzero"`
	// AttachError and DetachError are the last errors of the CSI driver. They are empty if nothing
	// failed.
	AttachError string `json:"attachError,omitzero"`
	DetachError string `json:"detachError,omitzero"`
}

// Text describes the state of the attachment with its last error.
func (a *Attachment) Text() string {
	text := "is to be attached to node " + a.Node
	if a.Attached {
		text = "is attached to node " + a.Node
	}
	switch {
	case a.DetachError != "":
		return text + ", and detaching it fails: " + a.DetachError
	case a.AttachError != "":
		return text + ", and attaching it fails: " + a.AttachError
	}
	return text
}

// attachmentBody has the fields that are read from a VolumeAttachment.
type attachmentBody struct {
	Spec struct {
		Node   string `json:"nodeName"`
		Source struct {
			Volume string `json:"persistentVolumeName"`
		} `json:"source"`
	} `json:"spec"`
	Status struct {
		Attached    bool         `json:"attached"`
		AttachError *volumeError `json:"attachError"`
		DetachError *volumeError `json:"detachError"`
	} `json:"status"`
}

type volumeError struct {
	Message string `json:"message"`
}

// text returns the message of an error, or "no reason is given" if the message is empty. It returns
// "" for nil.
func (e *volumeError) text() string {
	if e == nil {
		return ""
	}
	return cmp.Or(e.Message, "no reason is given")
}

func (s *Shown) takeAttachment(b *body, d *attachmentBody) {
	s.Attachments = append(s.Attachments, Attachment{
		Ref: b.ref(), Node: d.Spec.Node, Volume: d.Spec.Source.Volume, Attached: d.Status.Attached,
		AttachError: d.Status.AttachError.text(), DetachError: d.Status.DetachError.text(),
	})
}

// attachments indexes the attachments by name, node, volume and claim.
type attachments struct {
	byName, byNode, byVolume map[string][]*Attachment
	byClaim                  map[[2]string][]*Attachment
}

// attachmentsOf indexes the attachments in the evidence. Those with an error come first.
func (s *Assessment) attachmentsOf(seen *Evidence) *attachments {
	x := &attachments{map[string][]*Attachment{}, map[string][]*Attachment{}, map[string][]*Attachment{}, map[[2]string][]*Attachment{}}
	for _, failing := range []bool{true, false} {
		for n := range seen.Attachments {
			a := &seen.Attachments[n]
			if a.Node == "" || (a.DetachError+a.AttachError != "") != failing {
				continue
			}
			x.byName[a.Ref.Name] = append(x.byName[a.Ref.Name], a)
			x.byNode[a.Node] = append(x.byNode[a.Node], a)
			x.byVolume[a.Volume] = append(x.byVolume[a.Volume], a)
			if pv := s.snap.FindKind(object.PV, "", a.Volume); pv != nil && pv.Volume() != nil {
				claim := [2]string{pv.Volume().ClaimNamespace, pv.Volume().ClaimName}
				x.byClaim[claim] = append(x.byClaim[claim], a)
			}
		}
	}
	return x
}

// AttachmentsOf returns the attachments that affect an object: those of a volume, of the volume of
// a claim, of the volumes that a pod uses on its node, of a node, or the attachment itself. Those
// with an error come first.
func (s *Assessment) AttachmentsOf(o *object.Object) []*Attachment {
	if s.attached == nil {
		return nil
	}
	switch {
	case o.Is(object.VolumeAttachment):
		return s.attached.byName[o.Name]
	case o.Is(object.Node):
		return s.attached.byNode[o.Name]
	case o.Is(object.PV):
		return s.attached.byVolume[o.Name]
	case o.Is(object.PVC):
		return slices.DeleteFunc(slices.Clone(s.attached.byClaim[[2]string{o.Namespace, o.Name}]), func(a *Attachment) bool {
			of := s.snap.FindKind(object.PV, "", a.Volume).Volume().ClaimUID
			return of != "" && o.UID != "" && of != o.UID
		})
	}
	var list []*Attachment
	if pod := o.Pod(); pod != nil {
		for _, c := range pod.Claims {
			for _, a := range s.attached.byClaim[[2]string{o.Namespace, c.Name}] {
				if a.Node == pod.NodeName {
					list = append(list, a)
				}
			}
		}
	}
	return list
}
