package health

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/kubectl-gc/kubectl-gc/internal/finalizer"
	"github.com/kubectl-gc/kubectl-gc/internal/object"
	"github.com/kubectl-gc/kubectl-gc/internal/reason"
	"github.com/kubectl-gc/kubectl-gc/internal/report"
	"github.com/kubectl-gc/kubectl-gc/internal/snapshot"
)

// slowAfter is the age, in seconds, above which a deletion counts as slow even if its controller
// runs.
const slowAfter = 600

// runningParts are the parts that show a running controller, and controllerParts those that must be
// complete before a controller is called gone: it could be in any of them.
var (
	runningParts = []Part{
		Pods, Deployments, StatefulSets, DaemonSets,
		Roles, RoleBindings, ClusterRoles, ClusterBindings,
	}
	controllerParts = append(slices.Clone(runningParts), Leases)
)

// Account is a service account.
type Account struct{ Namespace, Name string }

// Judgement says whether the controller that removes a finalizer works.
type Judgement struct {
	State report.ControllerVerdict
	// Controller is the pod that would remove it, or else the workload of such pods. It is the zero
	// Ref if none was found.
	Controller object.Ref
	// Name is the name of the controller in the table of finalizers, or else the program that wrote
	// the finalizer. It is empty if neither is known.
	Name  string
	Proof Proofs

	// Suspects are the pods that may be the controller, the likeliest first.
	Suspects []object.Ref
	// Working are the suspects that are known to work.
	Working []object.Ref
	// ScaledToZero are workloads of the controller that are scaled to 0.
	ScaledToZero []object.Ref
	// Unauthorized are accounts of the right program without permission to write the object.
	Unauthorized []Account
}

// Controller judges whether the controller runs that removes the finalizer from the object, which
// need not be being deleted yet. It considers the writer of the finalizer, permissions, the table
// of finalizers, running programs and their leases. The state is Gone only if every list that could
// contain the controller is complete.
func (s *Assessment) Controller(o *object.Object, name string) Judgement {
	return s.search(o, name, false)
}

// OtherController is like Controller, for a finalizer that the controller of the table leaves to
// another controller on this object.
func (s *Assessment) OtherController(o *object.Object, name string) Judgement {
	return s.search(o, name, true)
}

func (s *Assessment) search(o *object.Object, name string, elsewhere bool) Judgement {
	x := search{Assessment: s, o: o, name: name, other: elsewhere}
	x.result.State = x.verdict()
	x.identify()
	return x.result
}

// search finds the controller that removes one finalizer of one object.
type search struct {
	*Assessment
	o      *object.Object
	name   string
	result Judgement
	// other is true if the controller in the table leaves this one to another controller.
	other bool

	writers    *mayWrite
	candidates *candidates
	// program is the name of the writer of the finalizer. It is empty if the writer is unknown or
	// does not tell which controller removes it.
	program string
	// suspects are the pods that may be the controller, the likeliest first.
	suspects     []*Pod
	scaledToZero []*Workload
}

func (s *search) verdict() report.ControllerVerdict {
	s.findWriter()
	k, known := finalizer.On(s.name, s.o.Kind)
	if known && !s.other {
		s.result.Name = k.RemovedBy
		s.result.Proof.Add(reason.RemovedBy, nil, k.RemovedBy+" removes it "+k.When)
	}
	switch {
	case ofManager[s.name] && !s.other:
		return s.managerVerdict(s.o, &s.result.Proof)
	case known && k.RemovedBy == byHand:
		return report.FinalizerControllerUnknown
	}
	r, err := s.snap.Resources.For(s.o.APIVersion, s.o.Kind)
	if err != nil {
		s.result.Proof.Add(reason.NotRead, nil, "the resource of kind "+s.o.Kind+" is unknown, and so are the permissions for it")
		return report.FinalizerControllerUnknown
	}
	s.writers = s.rights.writersOf(s.o, r)
	s.candidates = s.candidatesOf()
	s.findScaledToZero()
	if s.suspects = s.candidates.connected; len(s.suspects) > 0 {
		return s.judgeFound()
	}
	return s.judgeNotFound()
}

const byHand = "a person"

// identify fills the candidates and the name of the result.
func (s *search) identify() {
	for _, p := range s.suspects {
		s.result.Suspects = append(s.result.Suspects, p.Ref)
	}
	for _, w := range s.scaledToZero {
		s.result.ScaledToZero = append(s.result.ScaledToZero, w.Ref)
	}
	switch {
	case len(s.result.Suspects) > 0:
		s.result.Controller = s.result.Suspects[0]
	case len(s.result.ScaledToZero) > 0:
		s.result.Controller = s.result.ScaledToZero[0]
	}
	s.result.Name = cmp.Or(s.result.Name, s.program)
}

// findWriter reads the writer of the finalizer from managedFields.
func (s *search) findWriter() {
	t := s.shown[s.o.Ref]
	found := false
	if t != nil {
		for _, w := range t.Writers {
			if !slices.Contains(w.Finalizers, s.name) {
				continue
			}
			found = true
			if isTool(w.Name) && !hasKnownName(s.knownControllers(), []string{w.Name}) {
				s.result.Proof.Add(reason.WrittenByTool, nil, "written by "+w.Name+stampText(w.Time)+": a person, or a manifest that was applied")
				continue
			}
			s.program = w.Name
			s.result.Proof.Add(reason.WrittenBy, nil, "written by "+w.Name+stampText(w.Time))
		}
	}
	if !found {
		s.result.Proof.Add(reason.WriterNotShown, nil, "its writer is unknown")
	}
}

// findScaledToZero finds the workloads of the finalizer's controller that are scaled to 0.
func (s *search) findScaledToZero() {
	for _, w := range s.candidates.workloads {
		if w.Wanted > 0 || w.Ref.Is(object.DaemonSet) {
			continue
		}
		s.scaledToZero = append(s.scaledToZero, w)
		ref := w.Ref
		s.result.Proof.Add(reason.ScaledToZero, &ref, ref.ShortName()+" in namespace "+w.Ref.Namespace+" is scaled to 0")
	}
}

// judgeFound judges a controller that was found: Alive, or Slow if no suspect is ready, its lease
// has expired or the deletion takes long.
func (s *search) judgeFound() report.ControllerVerdict {
	healthy := false
	const most = 3
	for n, p := range s.suspects {
		ref := p.Ref
		ok := s.works(p)
		firstOK := ok && !healthy
		if ok {
			healthy = true
			s.result.Working = append(s.result.Working, ref)
		}
		if n >= most && !firstOK {
			continue
		}
		who := fmt.Sprintf("%s in namespace %s, as service account %s, which may write the object: it %s", ref.ShortName(), ref.Namespace, p.ServiceAccount, s.candidates.why[p])
		if ok {
			s.result.Proof.Add(reason.FinalizerControllerRuns, &ref, "runs: "+who)
		} else {
			s.result.Proof.Add(reason.FinalizerControllerNotReady, &ref, "not ready"+stateText(p)+": "+who)
		}
	}
	slow := !healthy || s.judgeLeases() == object.HolderGone
	if s.Age(s.o) > slowAfter {
		slow = true
		text := "it has been pending for more than ten minutes"
		if healthy {
			text += " although its controller is running"
		}
		s.result.Proof.Add(reason.TakesLong, nil, text)
	}
	if slow {
		return report.FinalizerControllerSlow
	}
	return report.FinalizerControllerAlive
}

// works reports whether a pod is ready. One on a node without a kubelet may say so for a while.
func (s *Assessment) works(p *Pod) bool {
	node, _ := s.Node(p.Node)
	return p.Phase == "Running" && p.Ready && p.Waiting == "" && !p.BeingDeleted && node != NodeNotReady && node != NodeAbsent
}

// Working returns the pods with one of the names of a controller that work.
func (s *Assessment) Working(c *finalizer.Controller) (pods []object.Ref) {
	for _, p := range s.programs.podsOf([]*finalizer.Controller{c}) {
		if s.works(p) {
			pods = append(pods, p.Ref)
		}
	}
	return pods
}

// DNSFacts returns the flag of ExternalDNS that decides about its records; nil if that is not known, if several have
// different ones, or if none works that deletes records.
func (s *Assessment) DNSFacts() *object.OutsideFacts {
	whole, _, _ := s.evidence.Whole(Pods)
	policy := ""
	for n, p := range s.programs.podsOf([]*finalizer.Controller{&externalDNS}) {
		if whole = whole && (n == 0 || p.DNSPolicy == policy); whole {
			policy = p.DNSPolicy
		}
	}
	if !whole || policy == "" || policy == "sync" && len(s.Working(&externalDNS)) == 0 {
		return nil
	}
	return &object.OutsideFacts{Fields: []object.FieldValue{{Field: finalizer.DNSPolicy, Value: policy}}}
}

func stateText(p *Pod) string {
	switch {
	case p.Waiting != "":
		return " (" + p.Waiting + ")"
	case p.Phase != "":
		return " (" + p.Phase + ")"
	}
	return ""
}

// judgeNotFound judges whether a controller may exist although none was found. It returns Gone only
// if there is no doubt, and Slow if findUnable found it.
func (s *search) judgeNotFound() report.ControllerVerdict {
	certain := true
	doubt := func(code reason.Code, about *object.Ref, message string) {
		certain = false
		s.result.Proof.Add(code, about, message)
	}
	for _, text := range append(s.unreadParts(controllerParts), s.unreadObject(s.o)...) {
		doubt(reason.NotRead, nil, text)
	}
	if s.mayNeedPerson() {
		certain = false
	}
	if s.evidence.CompletenessOf(ClusterRoles, "").Whole && !s.rights.isRBACInUse() {
		doubt(reason.RightsNotTold, nil, "there is no ClusterRole cluster-admin: an authorizer other than RBAC may be in use")
	}
	if isHosted(s.name) {
		doubt(reason.RunsOutside, nil, "the cloud provider runs its controller, perhaps outside the cluster")
	}
	if strings.HasPrefix(s.name, "svccontroller.k3s.cattle.io/") || strings.HasPrefix(s.name, "wrangler.cattle.io/") {
		doubt(reason.RunsOutside, nil, "K3s and RKE2 run its controller in their server process, without a pod")
	}
	if s.judgeLeases() == object.HolderAlive {
		certain = false
	}
	if s.evidence != nil {
		s.doubtPods(s.candidates.unconnected, doubt, reason.NotConnected, func(where string, p *Pod) string {
			r, _ := s.snap.Resources.For(s.o.APIVersion, s.o.Kind)
			plural := r.Name
			if plural == strings.ToLower(s.o.Kind)+"s" {
				plural = s.o.Kind + "s" // such as ConfigMaps
			}
			return fmt.Sprintf("%s, as service account %s, may write %s, but nothing connects it to %s", where, p.ServiceAccount, plural, s.name)
		})
		s.doubtPods(s.candidates.powerful, doubt, reason.RunsWithAllRights, func(where string, p *Pod) string {
			return fmt.Sprintf("%s runs as service account %s, which may write the objects of all API groups", where, p.ServiceAccount)
		})
		if s.findUnable(doubt) {
			return report.FinalizerControllerSlow
		}
	}
	if s.writers.everyone {
		doubt(reason.RunsWithAllRights, nil, "every service account may write the object")
	}
	for _, subject := range s.writers.outside {
		doubt(reason.MayFromOutside, nil, subject+" may write the object")
	}
	if !certain {
		return report.FinalizerControllerUnknown
	}
	text := "no pod runs under a service account that may write the object"
	if len(s.candidates.unconnected)+len(s.candidates.powerful) > 0 {
		text = "no pod that may write the object is its controller: all of them belong to other controllers"
	}
	s.result.Proof.Add(reason.FinalizerControllerAbsent, nil, text)
	return report.FinalizerControllerGone
}

// ControllerUnread returns what could not be read and may show that a controller runs that removes a
// finalizer from the object, and why; empty if all of it was read. What a dump does not have was not
// tried.
func (s *Assessment) ControllerUnread(o *object.Object) string {
	tried := slices.DeleteFunc(slices.Clone(runningParts), func(p Part) bool { return s.evidence.CompletenessOf(p, "").Why == snapshot.NoList })
	return strings.Join(append(s.unreadParts(tried), s.unreadObject(o)...), "; ")
}

// unreadObject says why the object was not read completely, in a list that is empty if it was.
func (s *Assessment) unreadObject(o *object.Object) []string {
	if t := s.shown[o.Ref]; t != nil && t.Unread != "" {
		return []string{"the object itself was not read completely: " + t.Unread}
	}
	return nil
}

// unreadParts lists the incomplete ones of the needed parts, grouped by reason.
func (s *Assessment) unreadParts(needed []Part) []string {
	var whys []string
	parts := map[string][]string{}
	for _, p := range needed {
		if c := s.evidence.CompletenessOf(p, ""); !c.Whole {
			if parts[c.Why] == nil {
				whys = append(whys, c.Why)
			}
			parts[c.Why] = append(parts[c.Why], string(p))
		}
	}
	for n, why := range whys {
		whys[n] = "not read: " + strings.Join(parts[why], ", ") + ": " + why
	}
	return whys
}

// mayNeedPerson reports whether a person may have to remove the finalizer: it is not in the table,
// no program is known to have written it, and it does not have the domain of a kind that the
// cluster serves.
func (s *search) mayNeedPerson() bool {
	if _, known := finalizer.Of(s.name); known || s.program != "" {
		return false
	}
	return s.writtenByTool() || finalizer.ClassIn(s.name, s.snap.Resources) != finalizer.Operator
}

func (s *search) writtenByTool() bool {
	return slices.ContainsFunc(s.result.Proof, func(p report.Proof) bool { return p.Reason == string(reason.WrittenByTool) })
}

// doubtPods reports the first three pods that may be the controller: those not known to be another
// one. text gets the name and namespace of the pod.
func (s *search) doubtPods(pods []*Pod, doubt func(reason.Code, *object.Ref, string), code reason.Code, text func(where string, p *Pod) string) {
	left := 3
	for _, p := range pods {
		if left > 0 && !s.isOther(p) {
			left--
			ref := p.Ref
			doubt(code, &ref, text(ref.ShortName()+" in namespace "+ref.Namespace, p))
		}
	}
}

// findUnable reports whether the controller exists and cannot work: a workload has no pods, or a
// pod that runs the program may not write the object. It adds what it finds to the doubts.
func (s *search) findUnable(doubt func(reason.Code, *object.Ref, string)) bool {
	slow := false
	for _, w := range s.candidates.workloads {
		if ref := w.Ref; w.Wanted > 0 {
			doubt(reason.FinalizerControllerNotReady, &ref, fmt.Sprintf("%s in namespace %s wants %d pods and has none", ref.ShortName(), ref.Namespace, w.Wanted))
			slow = true
		}
	}
	rightsRead, _, _ := s.evidence.Whole(Roles, RoleBindings, ClusterRoles, ClusterBindings)
	for _, p := range s.candidates.unauthorized {
		wrote, program := s.isWriter(p.Programs), s.result.Name
		if wrote {
			program = s.program
		}
		ref := p.Ref
		switch {
		case !rightsRead:
			doubt(reason.FinalizerControllerSeen, &ref, fmt.Sprintf("%s in namespace %s is named like %s, but it is unknown whether it may write the object", ref.ShortName(), ref.Namespace, program))
		case wrote: // a pod that only has the same name may be another installation
			doubt(reason.FinalizerControllerMayNot, &ref, fmt.Sprintf("%s in namespace %s runs %s as service account %s, which may not write the object", ref.ShortName(), ref.Namespace, program, p.ServiceAccount))
			s.result.Unauthorized = append(s.result.Unauthorized, Account{p.Ref.Namespace, p.ServiceAccount})
			slow = true
		}
	}
	return slow
}
