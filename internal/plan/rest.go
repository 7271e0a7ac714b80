package plan

import (
	"cmp"
	"context"
	"fmt"
	"strings"

	"github.com/kubectl-gc/kubectl-gc/internal/apisim/controllers"
	"github.com/kubectl-gc/kubectl-gc/internal/object"
	"github.com/kubectl-gc/kubectl-gc/internal/report"
)

// restOfWorld is who else deletes in a cluster, beside the collector.
type restOfWorld struct {
	recorder    *recorder
	controllers []controllers.Controller
	// haste is nil for the reference schedule.
	haste *haste
}

// wait is what a namespace, definition, pod, claim or volume waits for.
type wait struct {
	remaining []report.Ref
	detail    string
	// holds is the finalizer that stays because of it, if it is one of Kubernetes.
	holds string
	// conditions are those of a namespace. broken: discovery fails.
	conditions []string
	broken     bool
	// used: remaining are those that use the object. alone: the controller that
	// removes the finalizer does not remove this one.
	used, alone bool
	// pod is why nobody ends a pod; empty for other waits.
	pod Reason
	// unknown: what is in the way may not exist. It does not count when
	// something is in the way that does.
	unknown bool
}

func newRestOfWorld(r *recorder, beside *neighbours) *restOfWorld {
	return &restOfWorld{recorder: r, controllers: controllers.All(beside, beside)}
}

// look shows the controllers the world before anything happens: they have run before.
func (w *restOfWorld) look() {
	for _, c := range w.controllers {
		if l, ok := c.(controllers.Looker); ok {
			l.Look(w.recorder)
		}
	}
}

// act lets the controllers act until one of them has changed something. The
// collector has the first word each time.
func (w *restOfWorld) act(ctx context.Context) bool {
	if w.haste.act(ctx, w) {
		return true
	}
	return w.pass(ctx, w.controllers, w.recorder)
}

// pass lets controllers act in their order until one of them has changed something. It
// reports so as well when the context has ended, which the driver sees itself.
func (w *restOfWorld) pass(ctx context.Context, list []controllers.Controller, world controllers.World) bool {
	acted, err := controllers.Step(ctx, world, list, func(c controllers.Controller, pass func()) {
		w.recorder.as(c.Name(), string(reasonOf(c)), pass)
	})
	return acted != nil || err != nil
}

// reasonOf is why what a controller deletes goes.
func reasonOf(c controllers.Controller) Reason {
	switch c.Name() {
	case controllers.ReclaimName:
		return VolumeReclaimed
	case controllers.TokensName:
		return AccountGone
	}
	if _, releases := c.(controllers.Releaser); releases {
		return Released
	}
	return DeletedByRest
}

// assumption is what has to hold for an actor to have done what it did.
func (w *restOfWorld) assumption(actor string) (string, bool) {
	for _, c := range w.controllers {
		if c.Name() == actor {
			return c.Assumption(), true
		}
	}
	return "", false
}

// serviceOf is the Service that takes an object along which does not refer to it.
func serviceOf(o *object.Object) (object.Ref, bool) {
	ref := object.Service.Ref(o.Namespace, o.Name)
	if a := o.IPAddress(); a != nil {
		ref.Namespace, ref.Name = a.Namespace, a.Name
		return ref, true
	}
	return ref, o.Is(object.Endpoints)
}

// containers are the namespace and the definition with which an object goes, the
// Service with which what belongs to it does, and the definitions with which an
// APIService does, as far as they go.
func (s *simulation) containers(o *object.Object) []object.Ref {
	var refs []object.Ref
	add := func(container *object.Object) {
		if container == nil {
			return
		}
		if tr := s.tracks.byUID[container.UID]; container.BeingDeleted() || tr != nil && (tr.last == nil || tr.last.BeingDeleted()) {
			refs = append(refs, container.Ref)
		}
	}
	if o.Namespace != "" {
		add(s.snap.FindKind(object.Namespace, "", o.Namespace))
	}
	definition := func(r object.Resource) {
		add(s.snap.FindKind(object.CRD, "", r.Name+"."+r.Group))
	}
	if r, err := s.recorder.Resource(o.APIVersion, o.Kind); err == nil && r.Group != "" {
		definition(r)
	}
	if service, ok := serviceOf(o); ok && len(refs) == 0 {
		add(s.snap.Find(service.APIVersion, service.Kind, service.Namespace, service.Name))
	}
	if name, ok := controllers.Mirrors(o); ok && len(refs) == 0 {
		add(s.snap.FindKind(object.Endpoints, o.Namespace, name))
	}
	if o.Is(object.APIService) {
		version, group, _ := strings.Cut(o.Name, ".")
		for _, r := range s.snap.Resources.All() {
			if r.Group == group && r.Version == version {
				definition(r)
			}
		}
	}
	return refs
}

// waits says what the controllers wait for with an object.
func (w *restOfWorld) waits(ref object.Ref) (wait, bool) {
	var found wait
	var details, gaps []string
	known := false
	var waits []controllers.Wait
	for _, x := range controllers.Waiting(w.controllers) {
		if x.Object != ref {
			continue
		}
		waits = append(waits, x)
		found.broken = found.broken || x.Reason == controllers.DiscoveryFails
		found.unknown = found.unknown || x.Unknown()
		for _, r := range x.Remaining {
			found.remaining = append(found.remaining, report.RefOf(r))
		}
		known = true
		found.holds = cmp.Or(found.holds, x.Holds)
		found.used = found.used || x.Reason == controllers.ClaimInUse || x.Reason == controllers.VolumeBound
		switch x.Reason {
		case controllers.NodeNotReady:
			found.pod = NodeNotReady
		case controllers.NodeGone:
			found.pod = NodeGone
		default:
		}
		found.alone = found.alone || x.Reason == controllers.ManagedElsewhere
		switch {
		case x.Unknown():
			gaps = append(gaps, waitText(x))
		case x.Reason == controllers.PodsRemain:
			details = append(details, "pods go first, and while there are any its conditions say that all has been removed")
		case x.Reason == controllers.Refused || len(x.Remaining) == 0:
			details = append(details, waitText(x))
		}
	}
	if len(found.remaining) == 0 && !found.broken {
		details = append(details, gaps...)
	}
	const most = 4
	if len(details) > most {
		details = append(details[:most], fmt.Sprintf("and %d more", len(details)-most))
	}
	found.conditions = controllers.ConditionsOf(waits)
	found.unknown = found.unknown && len(found.remaining) == 0 && !found.broken
	found.detail = strings.Join(details, "; ")
	return found, known
}

func waitText(w controllers.Wait) string {
	what := w.Resource.Name
	if w.Resource.Group != "" {
		what += "." + w.Resource.Group
	}
	switch {
	case w.Reason == controllers.TokensRemain:
		names := make([]string, len(w.Finalizers))
		for i, f := range w.Finalizers {
			names[i] = f.Name
		}
		return "spec.finalizers has " + strings.Join(names, ", ")
	case w.Reason == controllers.NotCovered && what != "":
		return strings.TrimSpace(what + ": " + plainWhy(w.Why))
	case w.Why != "":
		return strings.TrimSpace(what + " " + w.Why)
	default:
		return strings.TrimSpace(what + " " + string(w.Reason))
	}
}
