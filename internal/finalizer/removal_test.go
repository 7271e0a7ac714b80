package finalizer_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-gc/kubectl-gc/internal/finalizer"
	"github.com/kubectl-gc/kubectl-gc/internal/object"
	"github.com/kubectl-gc/kubectl-gc/internal/reason"
	"github.com/kubectl-gc/kubectl-gc/internal/snapshot"
)

// lists are the resources that a world does not cover.
type lists []string

const (
	claimName  = "kubernetes.io/pvc-protection"
	volumeName = "kubernetes.io/pv-protection"
	jobName    = "batch.kubernetes.io/job-tracking"
	crdName    = "customresourcecleanup.apiextensions.k8s.io"
)

func of(apiVersion, kind, namespace, name string, finalizers ...string) *object.Object {
	o := &object.Object{Ref: object.Ref{APIVersion: apiVersion, Kind: kind, Namespace: namespace, Name: name, UID: types.UID("u-" + kind + name)}, ResourceVersion: "1"}
	life := o.Edit()
	life.Finalizers = finalizers
	if len(finalizers) > 0 {
		life.DeletionTimestamp = 5
	}
	return o
}

func with(o *object.Object, change func(*object.Lifecycle)) *object.Object {
	change(o.Edit())
	return o
}

func pod(name string, claims ...string) *object.Object {
	return with(of("v1", "Pod", "shop", name), func(r *object.Lifecycle) {
		facts := &object.PodFacts{VolumesKnown: true}
		for _, c := range claims {
			facts.Claims = append(facts.Claims, object.Claim{Name: c})
		}
		r.Facts = facts
	})
}

func volume(phase, claim string) *object.Object {
	return with(of("v1", "PersistentVolume", "", "disk", volumeName), func(r *object.Lifecycle) {
		r.Facts = &object.PVFacts{Phase: phase, ClaimName: claim, ClaimNamespace: "shop", ClaimUID: "u-claim"}
	})
}

func claim(uid types.UID) *object.Object {
	c := of("v1", "PersistentVolumeClaim", "shop", "data")
	c.UID = uid
	return c
}

func jobPod() *object.Object {
	p := of("v1", "Pod", "shop", "work-1", jobName)
	p.Owners = []object.OwnerReference{{APIVersion: "batch/v1", Kind: "Job", Name: "work", UID: "u-job", Controller: object.True}}
	return p
}

func job(finished bool) *object.Object {
	j := of("batch/v1", "Job", "shop", "work")
	j.UID = "u-job"
	return with(j, func(r *object.Lifecycle) { r.Facts = &object.JobFacts{Finished: finished} })
}

func definition() *object.Object {
	return with(of("apiextensions.k8s.io/v1", "CustomResourceDefinition", "", "carts.example.com", crdName), func(r *object.Lifecycle) {
		r.Facts = &object.CRDFacts{Group: "example.com", Kind: "Cart", Plural: "carts", Namespaced: true, Established: true,
			Versions: []object.CRDVersion{{Name: "v1", Served: true, Storage: true}}}
	})
}

func namespace(tokens ...string) *object.Object {
	return with(of("v1", "Namespace", "", "shop"), func(r *object.Lifecycle) {
		r.DeletionTimestamp, r.Facts = 5, &object.NamespaceFacts{Phase: "Terminating", Finalizers: tokens}
	})
}

// world returns a snapshot that covers everything that the API server of the tests serves, and
// custom carts, except the lists in open.
func world(t *testing.T, missing []snapshot.Missing, open lists, objects ...*object.Object) *snapshot.Snapshot {
	t.Helper()
	served := snapshot.BuiltinResources()
	served.Add(object.Resource{Group: "example.com", Version: "v1", Name: "carts", Kind: "Cart", Namespaced: true, Verbs: object.AllVerbs, Custom: true})
	coverage := &snapshot.Coverage{}
	for _, r := range served.All() {
		coverage.Add(r.GroupResource(), "")
	}
	for _, name := range open {
		coverage.Fail(schema.ParseGroupResource(name), "", reason.Forbidden, "not for you")
	}
	snap, err := snapshot.Listed(objects, served, missing, coverage, snapshot.Source{})
	if err != nil {
		t.Fatal(err)
	}
	return snap
}

// TestJudge: which finalizers are refused, and what lifts the refusals.
func TestJudge(t *testing.T) {
	alive := of("v1", "ConfigMap", "shop", "alive")
	alive.Edit().Finalizers = []string{"x/y"}
	bare := jobPod()
	bare.Owners = nil
	for _, tt := range []struct {
		name    string
		o       *object.Object
		others  []*object.Object
		open    lists
		missing []snapshot.Missing
		take    string
		want    string // reason and flag
	}{
		{name: "an operator's", o: of("v1", "ConfigMap", "shop", "a", "example.com/tidy"), take: "example.com/tidy"},
		{name: "a managed control plane", o: of("infrastructure.cluster.x-k8s.io/v1beta1", "AzureManagedControlPlane", "shop", "a", "azuremanagedcontrolplane.infrastructure.cluster.x-k8s.io"),
			take: "azuremanagedcontrolplane.infrastructure.cluster.x-k8s.io", want: "LeaksOutside leak"},
		{name: "somebody's", o: of("v1", "ConfigMap", "shop", "a", "lock"), take: "lock"},
		{name: "not there", o: of("v1", "ConfigMap", "shop", "a", "x/y"), take: "x/z", want: "FinalizerNotThere"},
		{name: "not being deleted", o: alive, take: "x/y", want: "NotBeingDeleted"},
		{name: "orphan", o: of("v1", "ConfigMap", "shop", "a", "orphan"), take: "orphan", want: "CollectorFinalizer gc"},
		{name: "foregroundDeletion", o: of("v1", "ConfigMap", "shop", "a", "foregroundDeletion"), take: "foregroundDeletion", want: "CollectorFinalizer gc"},
		{name: "two at once", o: of("v1", "ConfigMap", "shop", "a", "orphan", "x/y"), take: "orphan,x/z", want: "CollectorFinalizer gc; FinalizerNotThere"},

		{name: "a PVC that nobody uses", o: of("v1", "PersistentVolumeClaim", "shop", "data", claimName), others: []*object.Object{pod("web", "logs")}, take: claimName},
		{name: "a claim in use", o: of("v1", "PersistentVolumeClaim", "shop", "data", claimName), others: []*object.Object{pod("web", "data")}, take: claimName, want: "ConsumerExists in-use"},
		{name: "a claim, and pods forbidden", o: of("v1", "PersistentVolumeClaim", "shop", "data", claimName), open: lists{"pods"}, take: claimName, want: "ConsumerUnknown in-use"},
		{name: "a claim, and a pod without volumes", o: of("v1", "PersistentVolumeClaim", "shop", "data", claimName), others: []*object.Object{of("v1", "Pod", "shop", "web")}, take: claimName, want: "ConsumerUnknown in-use"},
		{name: "the name on another kind", o: of("v1", "ConfigMap", "shop", "data", claimName), take: claimName, want: "ConsumerUnknown in-use"},

		{name: "a bound volume", o: volume("Bound", "data"), others: []*object.Object{claim("u-claim")}, take: volumeName, want: "ConsumerExists in-use"},
		{name: "a volume whose claim has gone", o: volume("Bound", "data"), take: volumeName},
		{name: "a volume of another claim of that name", o: volume("Released", "data"), others: []*object.Object{claim("u-other")}, take: volumeName},
		{name: "a volume, and claims forbidden", o: volume("Bound", "data"), open: lists{"persistentvolumeclaims"}, take: volumeName, want: "ConsumerUnknown in-use"},
		{name: "a volume without a PVC", o: volume("Available", ""), take: volumeName},
		{name: "a bound volume that does not say to whom", o: volume("Bound", ""), take: volumeName, want: "ConsumerUnknown in-use"},
		{name: "a volume without a phase", o: volume("", "data"), take: volumeName, want: "ConsumerUnknown in-use"},

		{name: "a pod whose Job runs", o: jobPod(), others: []*object.Object{job(false)}, take: jobName, want: "ConsumerExists in-use"},
		{name: "a pod whose Job is finished", o: jobPod(), others: []*object.Object{job(true)}, take: jobName},
		{name: "a pod whose Job has gone", o: jobPod(), take: jobName},
		{name: "a pod, and Jobs forbidden", o: jobPod(), open: lists{"jobs.batch"}, take: jobName, want: "ConsumerUnknown in-use"},
		{name: "a pod of nobody", o: bare, take: jobName},

		{name: "a class of which nothing is listed", o: of("storage.k8s.io/v1", "VolumeAttributesClass", "", "fast", "kubernetes.io/vac-protection"), take: "kubernetes.io/vac-protection", want: "ConsumerUnknown in-use"},

		{name: "a CRD without instances", o: definition(), take: crdName},
		{name: "a CRD with instances", o: definition(), others: []*object.Object{of("example.com/v1", "Cart", "shop", "one")}, take: crdName, want: "InstancesExist instances"},
		{name: "a CRD, and instances forbidden", o: definition(), open: lists{"carts.example.com"}, take: crdName, want: "InstancesUnknown instances"},

		{name: "an empty namespace", o: namespace("kubernetes"), take: "kubernetes"},
		{name: "a namespace with content", o: namespace("kubernetes"), others: []*object.Object{of("v1", "ConfigMap", "shop", "a")}, take: "kubernetes", want: "NamespaceNotEmpty content"},
		{name: "a namespace, and one kind forbidden", o: namespace("kubernetes"), open: lists{"leases.coordination.k8s.io"}, take: "kubernetes", want: "NamespaceContentUnknown content"},
		{name: "a namespace, and a group that is not discovered", o: namespace("kubernetes"),
			missing: []snapshot.Missing{{GroupVersion: "metrics.k8s.io/v1beta1", Why: "no endpoints"}}, take: "kubernetes", want: "NamespaceContentUnknown content"},
		{name: "a namespace without the token", o: namespace(), take: "kubernetes", want: "FinalizerNotThere"},

		{name: "a load balancer", o: of("v1", "Service", "shop", "web", "service.kubernetes.io/load-balancer-cleanup"), take: "service.kubernetes.io/load-balancer-cleanup", want: "LeaksOutside leak"},
		{name: "a disk that is attached", o: of("v1", "PersistentVolume", "", "disk", "external-attacher/csi-example-com"), take: "external-attacher/csi-example-com", want: "LeaksOutside leak"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			snap := world(t, tt.missing, tt.open, append(tt.others, tt.o)...)
			names := strings.Split(tt.take, ",")
			var got []string
			for _, r := range finalizer.In(snap).Judge(tt.o, names, finalizer.Allow{}) {
				got = append(got, strings.TrimSpace(fmt.Sprintf("%s %s", r.Reason, r.Lift)))
				if text := r.Error(); !strings.Contains(text, r.Finalizer) || !strings.Contains(text, r.Lift) || r.Why() == "" {
					t.Errorf("the error says too little: %s", text)
				}
			}
			if diff := cmp.Diff(tt.want, strings.Join(got, "; ")); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			for _, r := range finalizer.In(snap).Judge(tt.o, names, liftedBy(got)) {
				if r.Lift != "" {
					t.Errorf("%s is not lifted by its flag", r.Reason)
				}
			}
			if all := finalizer.In(snap).Judge(tt.o, names, liftedBy(without(got))); len(all) != len(got) {
				t.Errorf("%v is lifted by the flags of others", got)
			}
		})
	}
}

// liftedBy lifts the given refusals.
func liftedBy(refusals []string) finalizer.Allow {
	text := strings.Join(refusals, " ")
	return finalizer.Allow{
		Collector: strings.Contains(text, "gc"), Protection: strings.Contains(text, "in-use"),
		Cleanup: strings.Contains(text, "instances"), Namespace: strings.Contains(text, "content"),
		Leak: strings.Contains(text, "leak"),
	}
}

// without returns all flags that the refusals do not name.
func without(refusals []string) []string {
	var rest []string
	for _, flag := range []string{"gc", "in-use", "instances", "content", "leak"} {
		if !strings.Contains(strings.Join(refusals, " "), flag) {
			rest = append(rest, flag)
		}
	}
	return rest
}

// TestListRequests: lists that a judgement depends on must be read again before the write.
func TestListRequests(t *testing.T) {
	for _, tt := range []struct {
		o    *object.Object
		take string
		want []finalizer.ListRequest
	}{
		{of("v1", "PersistentVolumeClaim", "shop", "data", claimName), claimName, []finalizer.ListRequest{{Kinds: []string{"pods"}, Namespace: "shop"}}},
		{volume("Bound", "data"), volumeName, []finalizer.ListRequest{{Kinds: []string{"persistentvolumeclaims"}}}},
		{jobPod(), jobName, []finalizer.ListRequest{{Kinds: []string{"jobs.batch"}, Namespace: "shop"}}},
		{definition(), crdName, []finalizer.ListRequest{{Kinds: []string{"carts.example.com"}}}},
		{namespace("kubernetes"), "kubernetes", []finalizer.ListRequest{{Namespace: "shop"}}},
		{of("v1", "ConfigMap", "shop", "a", "x/y"), "x/y", nil},
	} {
		if diff := cmp.Diff(tt.want, finalizer.ListRequests(tt.o, []string{tt.take})); diff != "" {
			t.Errorf("%s (-want +got):\n%s", tt.take, diff)
		}
	}
}

func TestClassIn(t *testing.T) {
	served := snapshot.BuiltinResources()
	served.Add(object.Resource{Group: "db.example.com", Version: "v1", Name: "databases", Kind: "Database", Verbs: object.AllVerbs, Custom: true})
	for name, want := range map[string]finalizer.Class{
		"orphan":                          finalizer.Collector,
		"external-attacher/x":             finalizer.Cloud,
		"db.example.com/tidy":             finalizer.Operator,
		"example.com/tidy":                finalizer.Operator,
		"databases.db.example.com":        finalizer.Operator,
		"other.org/tidy":                  finalizer.Unknown,
		"com/tidy":                        finalizer.Unknown,
		"lock":                            finalizer.Unknown,
		"notexample.com/tidy":             finalizer.Unknown,
		"networking.gke.io/neg-finalizer": finalizer.Cloud,
		"gke.networking.io/l4-netlb-v2":   finalizer.Cloud,
		"resources-finalizer.argocd.argoproj.io/background": finalizer.Operator,
	} {
		if got := finalizer.ClassIn(name, served); got != want {
			t.Errorf("%s: %s, want %s", name, got, want)
		}
	}
}
