package apply

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubectl-gc/kubectl-gc/internal/object"
	"github.com/kubectl-gc/kubectl-gc/internal/reason"
	"github.com/kubectl-gc/kubectl-gc/internal/report"
)

func of(apiVersion, kind, name string, p object.Protection) *object.Object {
	o := &object.Object{Ref: object.Ref{APIVersion: apiVersion, Kind: kind, Name: name}}
	if p != 0 {
		o.Edit().Protection = p
	}
	return o
}

func TestCheck(t *testing.T) {
	everything := Policy{Allow: map[schema.GroupKind]bool{}}
	for _, k := range protectedKinds {
		everything.Allow[k.GroupKind] = true
	}
	for _, c := range []struct {
		o       *object.Object
		want    reason.Code
		allowed reason.Code // with every kind allowed
	}{
		{o: of("v1", "ConfigMap", "a", 0)},
		{o: of("v1", "ConfigMap", "a", object.Protect), want: reason.ProtectedByAnnotation, allowed: reason.ProtectedByAnnotation},
		{o: of("v1", "ConfigMap", "a", object.HelmKeep), want: reason.ProtectedByHelm, allowed: reason.ProtectedByHelm},
		{o: of("v1", "ConfigMap", "a", object.HelmKeep|object.Protect), want: reason.ProtectedByAnnotation, allowed: reason.ProtectedByAnnotation},
		{o: of("v1", "Namespace", "shop", 0), want: reason.ProtectedKind},
		{o: of("v1", "Namespace", "kube-system", 0), want: reason.ProtectedNamespace, allowed: reason.ProtectedNamespace},
		{o: of("v1", "Namespace", "kube-public", 0), want: reason.ProtectedNamespace, allowed: reason.ProtectedNamespace},
		{o: of("v1", "Namespace", "kube-node-lease", 0), want: reason.ProtectedNamespace, allowed: reason.ProtectedNamespace},
		{o: of("v1", "Namespace", "default", object.HelmKeep), want: reason.ProtectedNamespace, allowed: reason.ProtectedNamespace},
		{o: of("v1", "Pod", "default", 0)},
		{o: of("v1", "Node", "n", 0), want: reason.ProtectedKind},
		{o: of("v1", "PersistentVolume", "n", 0), want: reason.ProtectedKind},
		{o: of("v1", "PersistentVolumeClaim", "n", object.Protect), want: reason.ProtectedByAnnotation, allowed: reason.ProtectedByAnnotation},
		{o: of("v1", "PersistentVolumeClaim", "n", 0), want: reason.ProtectedKind},
		{o: of("storage.k8s.io/v1", "StorageClass", "n", 0), want: reason.ProtectedKind},
		{o: of("apiextensions.k8s.io/v1", "CustomResourceDefinition", "n", 0), want: reason.ProtectedKind},
		{o: of("apiextensions.k8s.io/v1beta1", "CustomResourceDefinition", "n", 0), want: reason.ProtectedKind},
		{o: of("apiregistration.k8s.io/v1", "APIService", "n", 0), want: reason.ProtectedKind},
		{o: of("admissionregistration.k8s.io/v1", "ValidatingWebhookConfiguration", "n", 0), want: reason.ProtectedKind},
		{o: of("admissionregistration.k8s.io/v1", "MutatingWebhookConfiguration", "n", 0), want: reason.ProtectedKind},
		{o: of("admissionregistration.k8s.io/v1", "ValidatingAdmissionPolicy", "n", 0), want: reason.ProtectedKind},
		{o: of("admissionregistration.k8s.io/v1", "ValidatingAdmissionPolicyBinding", "n", 0), want: reason.ProtectedKind},
		{o: of("admissionregistration.k8s.io/v1beta1", "MutatingAdmissionPolicy", "n", 0), want: reason.ProtectedKind},
		{o: of("admissionregistration.k8s.io/v1beta1", "MutatingAdmissionPolicyBinding", "n", 0), want: reason.ProtectedKind},
		{o: of("example.com/v1", "Node", "n", 0)},
		{o: of("example.com/v1", "Namespace", "kube-system", 0)},
	} {
		got, is := (Policy{}).Check(c.o)
		if got != c.want || is != (c.want != "") {
			t.Errorf("%s: %q %v, want %q", c.o.Ref, got, is, c.want)
		}
		if got, is := everything.Check(c.o); got != c.allowed || is != (c.allowed != "") {
			t.Errorf("%s with every kind allowed: %q %v, want %q", c.o.Ref, got, is, c.allowed)
		}
	}
}

// TestAllowLiftsOneKind: unlocking one kind keeps the protection of all others.
func TestAllowLiftsOneKind(t *testing.T) {
	for _, allowed := range protectedKinds {
		p := Policy{Allow: map[schema.GroupKind]bool{allowed.GroupKind: true}}
		for _, k := range protectedKinds {
			o := of(schema.GroupVersion{Group: k.Group, Version: "v1"}.String(), k.Kind.Kind, "x", 0)
			if _, is := p.Check(o); is != (k != allowed) {
				t.Errorf("%s allowed: %s protected %v", allowed.name, k.name, is)
			}
		}
	}
}

// TestHelmLiftsHelm: objects with Helm's keep annotation are unlocked by that name only, and it
// unlocks nothing else.
func TestHelmLiftsHelm(t *testing.T) {
	p := Policy{Helm: true}
	for _, c := range []struct {
		o    *object.Object
		want reason.Code
	}{
		{of("v1", "ConfigMap", "a", object.HelmKeep), ""},
		{of("v1", "ConfigMap", "a", object.HelmKeep|object.Protect), reason.ProtectedByAnnotation},
		{of("v1", "PersistentVolumeClaim", "a", object.HelmKeep), reason.ProtectedKind},
		{of("v1", "Namespace", "default", object.HelmKeep), reason.ProtectedNamespace},
	} {
		if got, is := p.Check(c.o); got != c.want || is != (c.want != "") {
			t.Errorf("%s: %q %v, want %q", c.o.Ref, got, is, c.want)
		}
	}
}

func TestParseKinds(t *testing.T) {
	for _, k := range protectedKinds {
		names := []string{k.name, strings.ToUpper(k.name), k.Kind.Kind, strings.ToLower(k.Kind.Kind), k.GroupKind.String(), strings.ToLower(k.GroupKind.String()), k.Plural}
		if k.alias != "" {
			names = append(names, k.alias)
		}
		for _, name := range names {
			if got, err := ParseProtectedKinds([]string{name}); err != nil || !got[k.GroupKind] || len(got) != 1 {
				t.Errorf("%s: %v %v", name, got, err)
			}
		}
		if got := UnlockName(k.GroupKind); got != k.name {
			t.Errorf("%s is unlocked by %q", k.GroupKind, got)
		}
	}
	for _, name := range []string{"", "*", "pod", "node.example.com", "node.storage.k8s.io", "namespaces/x"} {
		if got, err := ParseProtectedKinds([]string{name}); err == nil || !strings.Contains(err.Error(), "pvc") {
			t.Errorf("%q: %v %v", name, got, err)
		}
	}
}

func TestData(t *testing.T) {
	var data []string
	for _, r := range []object.Ref{
		{APIVersion: "v1", Kind: "PersistentVolumeClaim"}, {APIVersion: "v1", Kind: "PersistentVolume"},
		{APIVersion: "v1", Kind: "Secret"}, {APIVersion: "v1", Kind: "ConfigMap"}, {APIVersion: "v1", Kind: "Namespace"},
		{APIVersion: "apiextensions.k8s.io/v1", Kind: "CustomResourceDefinition"}, {APIVersion: "apps/v1", Kind: "StatefulSet"},
		{APIVersion: "v1", Kind: "Pod"}, {APIVersion: "apps/v1", Kind: "Deployment"}, {APIVersion: "example.com/v1", Kind: "Secret"},
		{APIVersion: "v1", Kind: "StatefulSet"}, {APIVersion: "example.com/v1", Kind: "Database"},
	} {
		if _, ok := DataRank(r, r.Kind == "Database"); ok {
			data = append(data, r.APIVersion+" "+r.Kind)
		}
	}
	want := []string{"v1 PersistentVolumeClaim", "v1 PersistentVolume", "v1 Secret", "v1 ConfigMap", "v1 Namespace",
		"apiextensions.k8s.io/v1 CustomResourceDefinition", "apps/v1 StatefulSet", "example.com/v1 Database"}
	if diff := cmp.Diff(want, data); diff != "" {
		t.Error(diff)
	}
}

func effect(kind, name string, change report.Change) report.Effect {
	return report.Effect{Object: object.Ref{APIVersion: "v1", Kind: kind, Name: name}, Consequence: &report.Consequence{Change: change}}
}

func TestLimits(t *testing.T) {
	p := &report.Plan{Effects: []report.Effect{
		effect("Pod", "a", report.ChangeDeleted), effect("Pod", "b", report.ChangeDeleted), effect("Pod", "c", report.ChangeEdited),
	}}
	p.Effects[1].Consequence.Anyway, p.Effects[1].Consequence.Certainty = true, report.Possible // it counts all the same
	for limit, want := range map[int]*Refusal{
		0: {Reason: TooManyDeletes, Planned: 2, Limit: 0},
		1: {Reason: TooManyDeletes, Planned: 2, Limit: 1},
		2: nil, DefaultMaxDeletes: nil,
	} {
		if diff := cmp.Diff(want, CheckMaxDeletes(p, limit)); diff != "" {
			t.Errorf("at most %d: %s", limit, diff)
		}
	}
	if r := CheckMaxDeletes(&report.Plan{}, 0); r != nil {
		t.Errorf("a plan without deletes: %v", r)
	}
}

// TestScreen: a protected object is found wherever the plan deletes it, and an unread object is not
// assumed to be unprotected.
func TestScreen(t *testing.T) {
	p := &report.Plan{Effects: []report.Effect{
		effect("ConfigMap", "free", report.ChangeDeleted), effect("ConfigMap", "kept", report.ChangeDeleted),
		effect("ConfigMap", "stays", report.ChangeEdited), effect("ConfigMap", "unseen", report.ChangeDeleted),
		effect("Node", "unseen", report.ChangeDeleted),
	}}
	seen := []*object.Object{of("v1", "ConfigMap", "free", 0), of("v1", "ConfigMap", "kept", object.HelmKeep),
		of("v1", "ConfigMap", "stays", object.Protect)}
	var got []string
	for _, r := range (Policy{}).CheckDeletes(p, func(ref object.Ref) *object.Object {
		if i := slices.IndexFunc(seen, func(o *object.Object) bool { return o.Ref == ref }); i >= 0 {
			return seen[i]
		}
		return nil
	}) {
		got = append(got, string(r.Reason)+": "+r.Error())
	}
	want := []string{
		"ProtectedObject: the plan deletes v1 ConfigMap kept, which is protected: ProtectedByHelm",
		"UnseenObject: the plan deletes v1 ConfigMap unseen, and it is unknown whether an annotation protects it",
		"ProtectedObject: the plan deletes v1 Node unseen, which is protected: ProtectedKind",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}
