package controllers

import (
	"context"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-gc/kubectl-gc/internal/object"
)

// autoRegisterName is the name of the part of the API server that registers the APIs of
// definitions.
const autoRegisterName = "autoregister"

// autoRegisterAssumption is what the end of an APIService rests on.
const autoRegisterAssumption = "the API server takes down the APIService of a version that no CRD has served any more"

// AutoRegister returns the part of the API server that deletes an APIService which it
// has made for a definition, when no definition has that version served any more. A
// definition that is being deleted counts until it has gone.
//
// Only definitions that go before its eyes count: what is there without one from the
// start is there for a reason that nobody knows. A nil coverage stands for a world that
// is complete.
//
// Upstream: pkg/controlplane/controller/crdregistration/crdregistration_controller.go handleVersionUpdate.
// Upstream: kube-aggregator/pkg/controllers/autoregister/autoregister_controller.go checkAPIService.
func AutoRegister(c Coverage) Controller {
	return &registrar{coverage: orComplete(c), served: map[string]bool{}}
}

type registrar struct {
	coverage Coverage
	// served are the APIServices for which there was a definition in an earlier pass.
	served map[string]bool
	waits  []Wait
}

func (*registrar) Name() string       { return autoRegisterName }
func (*registrar) Assumption() string { return autoRegisterAssumption }
func (r *registrar) Waiting() []Wait  { return r.waits }

// Look notes for which APIServices there is a definition: the API server has run before.
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

// Step deletes the APIServices without a definition.
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

// registeredIn are the APIServices that the API server has made for definitions.
func registeredIn(w World) []*object.Object {
	return objectsThat(w, object.APIService.GroupResource(), func(o *object.Object) bool { return Registered(o) && !o.BeingDeleted() })
}

// Registered reports whether an object is an APIService that comes and goes with
// definitions.
func Registered(o *object.Object) bool {
	return o.Is(object.APIService) && o.Labels.Get(autoManaged) == "true"
}

// needed reports whether one of these definitions has the version of an APIService served.
func needed(o *object.Object, there map[string]bool) bool {
	_, group, _ := strings.Cut(o.Name, ".")
	return there[o.Name] || there["."+group]
}

// servedBy are the names of the APIServices that definitions need; a dot and the group
// stands for all of a definition of which nothing is known.
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
