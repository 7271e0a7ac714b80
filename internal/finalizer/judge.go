package finalizer

import (
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubectl-gc/kubectl-gc/internal/object"
	"github.com/kubectl-gc/kubectl-gc/internal/reason"
)

// Has reports whether the object has the finalizer. inSpec reports that it is in the spec of a
// namespace, which needs a separate request.
func Has(o *object.Object, name string) (has, inSpec bool) {
	if o.HasFinalizer(name) {
		return true, false
	}
	inSpec = o.Is(object.Namespace) && slices.Contains(specFinalizers(o), name)
	return inSpec, inSpec
}

// specFinalizers returns the finalizers in the spec of a namespace. Unless they are known, that is
// NamespaceToken, which every namespace has.
func specFinalizers(o *object.Object) []string {
	if facts := o.NamespaceFacts(); facts != nil {
		return facts.Finalizers
	}
	return []string{NamespaceToken}
}

// judgement is the judgement of one object.
type judgement struct {
	*World
	o         *object.Object
	allow     Allow
	finalizer string
	refusals  []Refusal
}

// refuse adds a refusal, unless the user has lifted it.
func (j *judgement) refuse(why reason.Code, lifted bool, lift string, because []object.Ref, detail string) {
	if !lifted {
		j.refusals = append(j.refusals, Refusal{j.o.Ref, j.finalizer, why, because, detail, lift})
	}
}

// most is the number of objects or gaps that a refusal names.
const most = 3

// instead names the finalizers that the object has.
func (j *judgement) instead() string {
	has := slices.Clone(j.o.Finalizers())
	if j.o.Is(object.Namespace) {
		has = append(has, specFinalizers(j.o)...)
	}
	if len(has) == 0 {
		return "it has none"
	}
	return "it has " + strings.Join(has, ", ")
}

func (j *judgement) judge() {
	has, inSpec := Has(j.o, j.finalizer)
	switch {
	case !has:
		j.refuse(reason.FinalizerNotThere, false, "", nil, j.instead())
		return
	case !j.o.BeingDeleted():
		j.refuse(reason.NotBeingDeleted, false, "", nil, "")
		return
	case inSpec:
		j.content()
		return
	}
	switch ClassIn(j.finalizer, j.snap.Resources) {
	case Collector:
		k, _ := Of(j.finalizer)
		j.refuse(reason.CollectorFinalizer, j.allow.Collector, unlockCollector, nil, "without it "+k.Without)
	case Protection:
		j.consumers()
	case Cleanup:
		if j.o.Is(object.CRD) && j.finalizer == definitionCleanup {
			j.instances()
		}
	case Cloud:
		k, _ := Of(j.finalizer)
		j.refuse(reason.LeaksOutside, j.allow.Leak, unlockLeak, nil, "what may stay behind: "+k.Without)
	case Operator, Unknown:
	}
}

// instances looks for custom resources of a CRD.
func (j *judgement) instances() {
	unknown := func(detail string) {
		j.refuse(reason.InstancesUnknown, j.allow.Cleanup, unlockCleanup, nil, detail)
	}
	d := j.o.Definition()
	if d == nil {
		unknown("what the CRD defines is not shown")
		return
	}
	if there := j.instancesOf(schema.GroupKind{Group: d.Group, Kind: d.Kind}); there.n > 0 {
		j.refuse(reason.InstancesExist, j.allow.Cleanup, unlockCleanup, there.first, counted(there.n))
		return
	}
	for _, r := range j.snap.Resources.All() {
		if r.Group != d.Group || r.Name != d.Plural {
			continue
		}
		if !j.snap.Covers(r, "") {
			unknown(j.snap.Why(r, ""))
		}
		return
	}
	unknown("no path for them is served")
}
