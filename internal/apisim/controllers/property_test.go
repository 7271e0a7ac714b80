package controllers_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/kubectl-gc/kubectl-gc/internal/apisim"
	"github.com/kubectl-gc/kubectl-gc/internal/apisim/controllers"
	"github.com/kubectl-gc/kubectl-gc/internal/object"
	"github.com/kubectl-gc/kubectl-gc/internal/release"
	"github.com/kubectl-gc/kubectl-gc/test/scenario"
)

// drawWorld draws a world with namespaces, definitions, nodes, pods and the objects that they use,
// in all stages of deletion.
func drawWorld(t *rapid.T) string {
	var b strings.Builder
	deleting := func(label string) bool { return rapid.Bool().Draw(t, label) }
	for _, ns := range []string{"a", "b"} {
		fmt.Fprintf(&b, "v1 Namespace %s phase=%s spec=%s", ns, rapid.SampledFrom([]string{"Active", "Terminating"}).Draw(t, "phase"),
			rapid.SampledFrom([]string{"kubernetes", "kubernetes,x.io/z", "x.io/z", ""}).Draw(t, "spec"))
		if deleting("namespace goes") {
			b.WriteString(" deleting")
		}
		b.WriteString("\n")
	}
	fmt.Fprintf(&b, "v1 Node n1\napiextensions.k8s.io/v1 CustomResourceDefinition widgets.example.com defines=example.com/v1:Widget:widgets %s",
		rapid.SampledFrom([]string{"", "established"}).Draw(t, "established"))
	if deleting("CRD goes") {
		fmt.Fprintf(&b, " deleting fin=%s", cleanup)
	}
	b.WriteString("\n")
	kinds := []string{"v1 Pod", "v1 ConfigMap", "v1 Event", "apps/v1 Deployment", "v1 PersistentVolumeClaim", "batch/v1 Job", "v1 Service", "resource.k8s.io/v1 ResourceClaim", "example.com/v1 Widget", "example.org/v1 Unserved"}
	for i := range rapid.IntRange(0, 12).Draw(t, "objects") {
		kind := rapid.SampledFrom(kinds).Draw(t, "kind")
		fmt.Fprintf(&b, "%s %s/o%d", kind, rapid.SampledFrom([]string{"a", "b"}).Draw(t, "namespace"), i)
		finalizers := append([]string{"", "", "x/y", "orphan", "foregroundDeletion"}, protectors[kind]...)
		if fin := rapid.SampledFrom(finalizers).Draw(t, "finalizer"); fin != "" {
			b.WriteString(" fin=" + fin)
		}
		if kind == "resource.k8s.io/v1 ResourceClaim" {
			b.WriteString(rapid.SampledFrom([]string{"", " reserved=", " reserved=pods:o0:o0", " reserved=pods:o1:older,pods:o2:o2"}).Draw(t, "reserved"))
		}
		if kind == "v1 Pod" {
			b.WriteString(rapid.SampledFrom([]string{"", " claims=", " claims=o0,o1,o2", " claims=~o3,o4"}).Draw(t, "claims"))
			b.WriteString(rapid.SampledFrom([]string{"", "", " owners=batch/v1:Job:o0:o0!^", " owners=apps/v1:Deployment:o1:o1^"}).Draw(t, "owner"))
			b.WriteString(rapid.SampledFrom([]string{"", " node= period=30", " node=n1 phase=Running period=30", " node=n2 phase=Running"}).Draw(t, "pod"))
		}
		if deleting("goes") {
			b.WriteString(rapid.SampledFrom([]string{" deleting grace=0", " deleting=+30 grace=30"}).Draw(t, "grace"))
		}
		b.WriteString("\n")
		if kind == "v1 PersistentVolumeClaim" && rapid.Bool().Draw(t, "volume") {
			fmt.Fprintf(&b, "v1 PersistentVolume v%d phase=Bound claim=%s/o%[1]d:o%[1]d fin=kubernetes.io/pv-protection%s\n", i,
				rapid.SampledFrom([]string{"a", "b"}).Draw(t, "claim in"),
				rapid.SampledFrom([]string{"", " reclaim=Retain", " reclaim=Delete by=csi.example.com", " reclaim=Delete", " deleting"}).Draw(t, "policy"))
		}
	}
	return b.String()
}

// protectors are the finalizers that controllers remove, by kind.
var protectors = map[string][]string{
	"v1 Pod":                           {"batch.kubernetes.io/job-tracking"},
	"v1 PersistentVolumeClaim":         {"kubernetes.io/pvc-protection", "kubernetes.io/pvc-protection,x/y"},
	"v1 Service":                       {"service.kubernetes.io/load-balancer-cleanup"},
	"resource.k8s.io/v1 ResourceClaim": {"resource.kubernetes.io/delete-protection"},
}

// TestControllersRest: the controllers settle in any world, and do the same in a world without
// Selector. They report why each remaining namespace, definition, claim and counted pod exists, and
// finish none that has content, is in use or is not covered.
func TestControllersRest(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := drawWorld(t)
		coverage := partly{}
		if rapid.Bool().Draw(t, "gap") {
			kind := rapid.SampledFrom([]string{"Secret", "Widget", "Pod"}).Draw(t, "uncovered")
			coverage[kind] = rapid.SampledFrom([]string{"", "a"}).Draw(t, "where")
		}
		objects, err := scenario.ParseWorld(text, scenario.Names{})
		if err != nil {
			t.Fatal(err)
		}
		w := apisim.New(objects, scenario.Resources())
		twin := w.Clone()
		list, others := controllers.All(coverage, controllers.Healthy{}, release.Rules{}), controllers.All(coverage, controllers.Healthy{}, release.Rules{})
		run(t, w, w, list, coverage)
		run(t, twin, plain{twin}, others, coverage)
		if a, b := fmt.Sprint(remains(w), controllers.Waiting(list)), fmt.Sprint(remains(twin), controllers.Waiting(others)); a != b {
			t.Fatalf("two runs differ:\n%s\n%s", a, b)
		}
		waited := map[object.Ref]bool{}
		for _, wait := range controllers.Waiting(list) {
			waited[wait.Object] = true
		}
		for o := range w.List {
			facts := o.NamespaceFacts()
			held := facts != nil && len(facts.Finalizers) > 0 || o.HasFinalizer(cleanup) ||
				o.HasFinalizer("kubernetes.io/pvc-protection") || o.HasFinalizer("batch.kubernetes.io/job-tracking") ||
				o.HasFinalizer("resource.kubernetes.io/delete-protection")
			if o.BeingDeleted() && held && !waited[o.Ref] {
				t.Fatalf("%s stays, and nobody says why, in\n%s", o.Ref, text)
			}
		}
	})
}

// run steps the controllers until they settle and checks each deletion of a namespace or a
// definition.
func run(t *rapid.T, w *apisim.Server, as controllers.World, list []controllers.Controller, coverage partly) {
	for range 200 {
		acted, err := controllers.Step(t.Context(), as, controllers.To(w), list, nil)
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range w.Events() {
			judge(t, w, e, coverage)
		}
		if acted == nil {
			return
		}
	}
	t.Fatal("no rest after 200 steps")
}

func judge(t *rapid.T, w *apisim.Server, e object.Event, coverage partly) {
	if e.Type != object.Deleted {
		return
	}
	definition := e.Object.Definition()
	for o := range w.List {
		if e.Object.HasFinalizer("kubernetes.io/pvc-protection") && mayUse(o, e.Object) {
			t.Fatalf("%s ended while %s may use it", e.Object.Ref, o.Ref)
		}
		if v := e.Object.Volume(); v != nil && o.UID == v.ClaimUID && o.Namespace == v.ClaimNamespace {
			t.Fatalf("%s ended before its PVC %s", e.Object.Ref, o.Ref)
		}
		if c := e.Object.ResourceClaim(); c != nil && e.Object.HasFinalizer("resource.kubernetes.io/delete-protection") && reserves(o, e.Object.Namespace, c) {
			t.Fatalf("%s ended while %s reserves it", e.Object.Ref, o.Ref)
		}
		if e.Object.Kind == "Namespace" && o.Namespace == e.Object.Name {
			t.Fatalf("%s ended with %s in it", e.Object.Ref, o.Ref)
		}
		if definition != nil && definition.Established && o.Kind == definition.Kind {
			t.Fatalf("%s ended before %s", e.Object.Ref, o.Ref)
		}
	}
	for kind := range coverage {
		if e.Object.HasFinalizer("kubernetes.io/pvc-protection") && kind == "Pod" && !coverage.Covers(object.Resource{Kind: kind}, e.Object.Namespace) {
			t.Fatalf("%s ended although %s is not covered", e.Object.Ref, kind)
		}
		if e.Object.Kind == "Namespace" && !coverage.Covers(object.Resource{Kind: kind}, e.Object.Name) ||
			definition != nil && definition.Established && kind == "Widget" {
			t.Fatalf("%s ended although %s is not covered", e.Object.Ref, kind)
		}
	}
}

// mayUse reports whether a pod uses or may use a claim. No claim here is the ephemeral one of a
// pod.
func mayUse(o, claim *object.Object) bool {
	pod := o.Pod()
	switch {
	case o.Kind != "Pod" || o.Namespace != claim.Namespace:
		return false
	case pod == nil || !pod.VolumesKnown:
		return true
	}
	return pod.NodeName != "" && slices.Contains(pod.Claims, object.Claim{Name: claim.Name})
}

// reserves reports whether a pod that may still run reserves a device.
func reserves(o *object.Object, namespace string, c *object.ResourceClaimFacts) bool {
	pod := o.Pod()
	return o.Kind == "Pod" && o.Namespace == namespace &&
		slices.ContainsFunc(c.Reserved, func(r object.Reservation) bool { return r.UID == o.UID }) &&
		(pod == nil || !pod.Finished() && (pod.NodeName != "" || !o.BeingDeleted()))
}
