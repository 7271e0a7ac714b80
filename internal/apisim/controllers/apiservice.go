package controllers

import (
	"context"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-gc/kubectl-gc/internal/object"
)

// autoRegisterName names the part of the API server that registers the APIs of definitions.
const autoRegisterName = "autoregister"

// autoRegisterAssumption must hold for the deletion of an APIService.
const autoRegisterAssumption = "the API server takes down the APIService of a version that no CRD has served any more"

// AutoRegister returns the part of the API server that deletes an APIService which it created for a
// definition, once no definition serves that version. A definition that is being deleted counts
// until it is gone.
//
// Only definitions that disappear during the simulation count: the reason for an APIService that
// has no definition from the start is unknown. A nil coverage means that the snapshot is complete.
//
// Upstream: pkg/controlplane/controller/crdregistration/crdregistration_controller.go handleVersionUpdate.
// Upstream: kube-aggregator/pkg/controllers/autoregister/autoregister_controller.go checkAPIService.
func AutoRegister(c Coverage) Controller {
	return &registrar{coverage: orComplete(c), served: map[string]bool{}}
}

type registrar struct {
	coverage Coverage
	// served are the APIServices that had a definition in an earlier pass.
	served map[string]bool
	waits  []Wait
}

func (*registrar) Name() string       { return autoRegisterName }
func (*registrar) Assumption() string { return autoRegisterAssumption }
func (r *registrar) Waiting() []Wait  { return r.waits }

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
func (r *registrar) Step(ctx context.Context, w World) (bool, error) {
	p := begin(ctx, w, autoRegisterName)
	made := registeredIn(w)
	if len(made) == 0 {
		return p.end(&r.waits)
	}
	there := servedBy(w.ObjectsOf(object.CRD.GroupResource(), ""))
	for _, o := range made {
		switch {
		case ctx.Err() != nil:
			return p.end(&r.waits)
		case needed(o, there):
			r.served[o.Name] = true
		case r.served[o.Name] && r.coverage.Covers(object.CRD.Resource(), ""):
			err := w.Delete(ctx, o.Ref, metav1.DeleteOptions{Preconditions: &metav1.Preconditions{UID: &o.UID}})
			p.refused(o.Ref, object.Resource{}, err)
		}
	}
	return p.end(&r.waits)
}

// registeredIn returns the APIServices that the API server created for definitions and that are not
// being deleted.
func registeredIn(w World) []*object.Object {
	return objectsThat(w, object.APIService.GroupResource(), func(o *object.Object) bool { return Registered(o) && !o.BeingDeleted() })
}

// Registered reports whether an object is an APIService that is created and deleted along with
// definitions.
func Registered(o *object.Object) bool {
	return o.Is(object.APIService) && o.Labels.Get(autoManaged) == "true"
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
