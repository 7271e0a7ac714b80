package deleters

import (
	"testing"

	"github.com/kubectl-gc/kubectl-gc/internal/apisim/controllers"
	"github.com/kubectl-gc/kubectl-gc/internal/object"
)

// Waits are described in words.
func TestSentences(t *testing.T) {
	ns := object.Namespace.Ref("", "shop")
	some := []object.Ref{named("a"), named("b")}
	held := []controllers.FinalizerCount{{Name: "example.com/held", Objects: 2}}
	pods := object.Pod.Resource()
	d := &Deleters{store: newStore(nil)}
	for want, w := range map[string]controllers.Wait{
		"waits for configmaps a, b (finalizers example.com/held)":                        {Object: ns, Reason: controllers.ContentRemains, Resource: configMaps, Remaining: some, Finalizers: held},
		"waits for configmaps a, b":                                                      {Object: ns, Reason: controllers.ContentRemains, Resource: configMaps, Remaining: some},
		"waits for pods a, b, which go before everything else":                           {Object: ns, Reason: controllers.PodsRemain, Resource: pods, Remaining: some},
		"its spec.finalizers has example.com/held, which another controller must remove": {Object: ns, Reason: controllers.TokensRemain, Finalizers: held},
		"metrics.example.com/v1: no answer":                                              {Object: ns, Reason: controllers.DiscoveryFails, Why: "metrics.example.com/v1: no answer"},
		"configmaps a, b cannot be deleted: nobody may":                                  {Object: ns, Reason: controllers.Refused, Resource: configMaps, Remaining: some, Why: "nobody may"},
		"the last try failed: nobody may":                                                {Object: ns, Reason: controllers.Refused, Why: "nobody may"},
		"configmaps cannot be read: no":                                                  {Object: ns, Reason: controllers.NotCovered, Resource: configMaps, Why: "configmaps cannot be read: no"},
		"it is unknown which objects exist of configmaps":                                {Object: ns, Reason: controllers.NotCovered, Resource: configMaps},
		"has objects of a kind that the API server does not serve: a, b":                 {Object: ns, Reason: controllers.NotServed, Remaining: some},
		"is used by pods a, b":                                                           {Object: named("claim"), Reason: controllers.ClaimInUse, Resource: pods, Remaining: some},
		"is bound to persistentvolumeclaims shop/a":                                      {Object: object.PV.Ref("", "v"), Reason: controllers.VolumeBound, Resource: object.PVC.Resource(), Remaining: some[:1]},
	} {
		if got := d.sentence(w); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

// The description of an object that is being deleted says what only a test can do, and when a pod
// ends.
func TestStays(t *testing.T) {
	leaving := func(k object.Kind, grace int64, finalizers ...string) *object.Object {
		o := &object.Object{Ref: k.Ref("shop", "one")}
		l := o.Edit()
		l.DeletionTimestamp, l.GracePeriod, l.Finalizers = 1_000, &grace, finalizers
		return o
	}
	claim, volume := leaving(object.PVC, 0, claimProtection), leaving(object.PV, 0, volumeProtection)
	for name, c := range map[string]struct {
		options Options
		object  *object.Object
		want    string
	}{
		"a claim":                     {Options{AskProtection: "it"}, claim, "no controller removes kubernetes.io/pvc-protection: use it"},
		"a volume":                    {Options{AskProtection: "it"}, volume, "no controller removes kubernetes.io/pv-protection: use it"},
		"a claim that is released":    {Options{Protection: true}, claim, ""},
		"a pod that nobody ends":      {Options{Pods: Never}, leaving(object.Pod, 30), "there is no kubelet: the test has to delete it with a grace period of 0"},
		"a pod with a grace period":   {Options{Pods: AfterGracePeriod}, leaving(object.Pod, 30), "it ends at 1970-01-01T00:16:41Z, when its grace period is over"},
		"a pod that ends at once":     {Options{}, leaving(object.Pod, 30), ""},
		"a pod with a finalizer only": {Options{Pods: Never}, leaving(object.Pod, 0, "example.com/held"), ""},
		"a definition":                {Options{}, leaving(object.CRD, 0, controllers.DefinitionCleanup), "the API server deletes its instances, and it is deleted once they are gone"},
		"anything else":               {Options{}, leaving(object.Namespace, 0), ""},
	} {
		d := &Deleters{options: c.options}
		if got := d.externalWait(c.object); got != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}
