package controllers

import (
	"context"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-gc/kubectl-gc/internal/object"
)

// DefinitionName names the controller that cleans up custom resources.
const DefinitionName = "crd-finalizer"

// DefinitionCleanup is the finalizer of a definition. It is removed once no instance is left.
const DefinitionCleanup = "customresourcecleanup.apiextensions.k8s.io"

// DefinitionController returns the part of the API server that deletes the instances of a
// CustomResourceDefinition that is being deleted, and then removes the definition's finalizer. It
// deletes without a policy, which keeps existing finalizers of the collector, and without
// admission. A definition that was never established, or that shadows a built-in resource, loses
// the finalizer at once.
//
// The finalizer stays if there may be instances outside the coverage.
//
// Upstream: apiextensions-apiserver/pkg/controller/finalizer/crd_finalizer.go CRDFinalizer.sync.
// Rule: spec §6.2, S192–S197.
func DefinitionController(c Coverage) Controller {
	return &definitionController{
		identity: identity{name: DefinitionName, assumption: "the API server can read every stored instance, which may take a conversion webhook"},
		coverage: c,
	}
}

type definitionController struct {
	identity

	coverage Coverage
}

// Step makes one pass over each definition that is being deleted.
func (d *definitionController) Step(ctx context.Context, w World, send Send) (bool, error) {
	p := d.begin(ctx, w, send)
	for _, o := range w.ObjectsOf(object.CRD.GroupResource(), "") {
		if ctx.Err() != nil {
			break
		}
		if o.BeingDeleted() && o.HasFinalizer(DefinitionCleanup) {
			i := instances{pass: p, coverage: d.coverage, definition: o, resource: instancesOf(w, o)}
			i.cleanUp()
		}
	}
	return p.end()
}

// instances are the custom resources of one definition that is being deleted.
type instances struct {
	*pass
	coverage   Coverage
	definition *object.Object
	resource   object.Resource
}

// instancesOf returns the resource that a definition declares. It needs no facts: a definition is
// always named `<plural>.<group>`.
func instancesOf(w World, definition *object.Object) object.Resource {
	plural, group, _ := strings.Cut(definition.Name, ".")
	r := object.Resource{Group: group, Name: plural, Namespaced: true}
	if facts := definition.Definition(); facts != nil {
		r.Kind, r.Namespaced = facts.Kind, facts.Namespaced
		for _, v := range facts.Versions {
			if v.Storage {
				r.Version = v.Name
			}
		}
	}
	if served, ok := w.Resources().Preferred(r.GroupResource()); ok {
		return served
	}
	return r
}

// cleanUp makes one pass over one definition.
func (i *instances) cleanUp() {
	if !i.terminate() {
		return
	}
	if i.counts() && !i.deleteAll() {
		return
	}
	next := i.definition.Clone()
	life := next.Edit()
	life.Finalizers = slices.DeleteFunc(slices.Clone(life.Finalizers), func(name string) bool { return name == DefinitionCleanup })
	setTerminating(next, false)
	_, err := i.update(next)
	i.refused(i.definition.Ref, object.Resource{}, err)
}

// terminate sets the condition Terminating unless it is set, and reports whether the pass can
// continue.
func (i *instances) terminate() bool {
	facts := i.definition.Definition()
	if facts == nil || facts.Terminating {
		return true
	}
	next := i.definition.Clone()
	setTerminating(next, true)
	stored, err := i.update(next)
	i.refused(i.definition.Ref, object.Resource{}, err)
	if err != nil {
		return false
	}
	i.definition = stored
	return true
}

func setTerminating(o *object.Object, yes bool) {
	if o.Definition() == nil {
		return
	}
	facts := *o.Definition()
	facts.Terminating = yes
	o.Edit().Facts = &facts
}

// counts reports whether the instances must be deleted before the definition loses its finalizer.
// They need not if it shadows a built-in resource or was never established. A definition without
// facts is assumed to be established.
func (i *instances) counts() bool {
	switch i.resource.GroupResource() {
	case object.CRD.GroupResource(), object.APIService.GroupResource():
		return false
	}
	facts := i.definition.Definition()
	return facts == nil || facts.Established
}

// deleteAll deletes the instances, namespace by namespace, and reports whether it is known that
// none is left.
func (i *instances) deleteAll() bool {
	gr := i.resource.GroupResource()
	namespaces := object.Mapped(i.w.ObjectsOf(gr, ""), func(o *object.Object) string { return o.Namespace })
	for _, namespace := range slices.Compact(namespaces) {
		if _, err := i.send(i.ctx, Intent{Verb: DeleteStored, For: i.definition.Ref, Resource: i.resource, Namespace: namespace}); err != nil {
			w := remaining(i.definition.Ref, Refused, i.resource, i.w.ObjectsOf(gr, ""))
			w.Why = err.Error()
			i.wait(w)
			return false
		}
	}
	done := true
	leave := func(w Wait) {
		i.wait(w)
		done = false
	}
	if left := i.w.ObjectsOf(gr, ""); len(left) > 0 {
		leave(remaining(i.definition.Ref, InstancesRemain, i.resource, left))
	}
	if lost := i.unserved(); len(lost) > 0 {
		leave(remaining(i.definition.Ref, NotServed, i.resource, lost))
	}
	if !i.coverage.Covers(i.resource, "") {
		leave(Wait{Object: i.definition.Ref, Reason: NotCovered, Resource: i.resource, Why: i.coverage.Why(i.resource, "")})
	}
	return done
}

// unserved returns the instances that no resource serves.
func (i *instances) unserved() []*object.Object {
	list := object.Filtered(i.w.Objects(), func(o *object.Object) bool {
		return o.Group() == i.resource.Group && !served(i.w.Resources(), o.Ref) && (i.resource.Kind == "" || o.Kind == i.resource.Kind)
	})
	return list
}

// AutoRegister returns the part of the API server that deletes an APIService which it created for a
// definition, once no definition serves that version. A definition that is being deleted counts
// until it is gone.
//
// Only definitions that disappear during the simulation count: the reason for an APIService that
// has no definition from the start is unknown.
//
// Upstream: pkg/controlplane/controller/crdregistration/crdregistration_controller.go handleVersionUpdate.
// Upstream: kube-aggregator/pkg/controllers/autoregister/autoregister_controller.go checkAPIService.
func AutoRegister(c Coverage) Controller {
	return &registrar{
		identity: identity{name: "autoregister", assumption: "the API server takes down the APIService of a version that no CRD has served any more"},
		coverage: c,
		served:   map[string]bool{},
	}
}

type registrar struct {
	identity

	coverage Coverage
	// served are the APIServices that had a definition in an earlier pass.
	served map[string]bool
}

// Look records the APIServices that have a definition: the API server ran before the simulation.
func (r *registrar) Look(w World) {
	made := registeredIn(w)
	if len(made) == 0 {
		return
	}
	there := servedBy(w.ObjectsOf(object.CRD.GroupResource(), ""))
	for _, o := range made {
		r.served[o.Name] = r.served[o.Name] || needed(o, there)
	}
}

// Step deletes the APIServices that lost their definition.
func (r *registrar) Step(ctx context.Context, w World, send Send) (bool, error) {
	p := r.begin(ctx, w, send)
	made := registeredIn(w)
	if len(made) == 0 {
		return p.end()
	}
	there := servedBy(w.ObjectsOf(object.CRD.GroupResource(), ""))
	for _, o := range made {
		switch {
		case ctx.Err() != nil:
			return p.end()
		case needed(o, there):
			r.served[o.Name] = true
		case r.served[o.Name] && r.coverage.Covers(object.CRD.Resource(), ""):
			err := p.delete(o, metav1.DeleteOptions{Preconditions: &metav1.Preconditions{UID: &o.UID}})
			p.refused(o.Ref, object.Resource{}, err)
		}
	}
	return p.end()
}

// registeredIn returns the APIServices that the API server created for definitions and that are not
// being deleted.
func registeredIn(w World) []*object.Object {
	return objectsThat(w, object.APIService.GroupResource(), func(o *object.Object) bool { return o.RegisteredForCRDs() && !o.BeingDeleted() })
}

// needed reports whether one of the definitions serves the version of an APIService.
func needed(o *object.Object, there map[string]bool) bool {
	_, group, _ := strings.Cut(o.Name, ".")
	return there[o.Name] || there["."+group]
}

// servedBy returns the names of the APIServices that definitions need. A definition without facts
// needs all of its group, written as a dot and the group.
func servedBy(list []*object.Object) map[string]bool {
	names := map[string]bool{}
	for _, o := range list {
		facts := o.Definition()
		if facts == nil {
			_, group, _ := strings.Cut(o.Name, ".")
			names["."+group] = true
			continue
		}
		for _, v := range facts.Versions {
			if v.Served {
				names[v.Name+"."+facts.Group] = true
			}
		}
	}
	return names
}
