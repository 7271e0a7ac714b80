package stored

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-gc/kubectl-gc/internal/object"
	"github.com/kubectl-gc/kubectl-gc/test/etcdfile"
)

// kind describes how objects of a kind are stored.
type kind struct {
	apiVersion, kind, prefix string
	namespaced               bool
	// ordinary kinds are not part of a past.
	ordinary bool
	// typed returns the object with its metadata. It is nil for a custom resource.
	typed func(m metav1.ObjectMeta) typed
}

// typed is an object of a built-in kind.
type typed interface {
	runtime.Object
	metav1.Object
	Marshal() ([]byte, error)
}

var kinds = []kind{
	{"v1", "Namespace", "namespaces", false, false, func(m metav1.ObjectMeta) typed { return &corev1.Namespace{ObjectMeta: m} }},
	{"v1", "ConfigMap", "configmaps", true, false, func(m metav1.ObjectMeta) typed {
		return &corev1.ConfigMap{ObjectMeta: m, Data: map[string]string{"name": m.Name}}
	}},
	{"v1", "Service", "services/specs", true, false, func(m metav1.ObjectMeta) typed { return &corev1.Service{ObjectMeta: m} }},
	{"apps/v1", "Deployment", "deployments", true, false, func(m metav1.ObjectMeta) typed { return &appsv1.Deployment{ObjectMeta: m} }},
	{"v1", "Event", "events", true, true, func(m metav1.ObjectMeta) typed { return &corev1.Event{ObjectMeta: m} }},
	{"coordination.k8s.io/v1", "Lease", "leases", true, true, func(m metav1.ObjectMeta) typed { return &coordinationv1.Lease{ObjectMeta: m} }},
	{"example.com/v1", "Widget", "example.com/widgets", true, false, nil},
	{"gone.example.com/v1", "Gadget", "gone.example.com/gadgets", false, false, nil},
}

// thing is the immutable state of an object.
type thing struct {
	kind
	meta metav1.ObjectMeta
}

func (x *thing) key() string {
	if x.namespaced {
		return x.prefix + "/" + x.meta.Namespace + "/" + x.meta.Name
	}
	return x.prefix + "/" + x.meta.Name
}

func (x *thing) ref() object.Ref {
	return object.Ref{APIVersion: x.apiVersion, Kind: x.kind.kind, Namespace: x.meta.Namespace, Name: x.meta.Name, UID: x.meta.UID}
}

// value returns the object as it is stored.
func (x *thing) value(t testing.TB) string {
	if x.typed != nil {
		return etcdfile.Message(t, x.apiVersion, x.kind.kind, x.typed(x.meta))
	}
	return string(x.text(t, ""))
}

// text returns the object as a server shows it.
func (x *thing) text(t testing.TB, version string) []byte {
	t.Helper()
	meta := x.meta
	meta.ResourceVersion = version
	var o any = map[string]any{"apiVersion": x.apiVersion, "kind": x.kind.kind, "metadata": meta, "spec": map[string]any{"big": json.Number("12345678901234567890")}}
	if x.typed != nil {
		of := x.typed(meta)
		of.GetObjectKind().SetGroupVersionKind(schema.FromAPIVersionAndKind(x.apiVersion, x.kind.kind))
		o = of
	}
	text, err := json.Marshal(o)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// with returns the state after a change of metadata.
func (x *thing) with(change func(m *metav1.ObjectMeta)) *thing {
	next := *x
	next.meta = *x.meta.DeepCopy()
	change(&next.meta)
	return &next
}

// lease returns a control plane lease with a renewal time.
func lease(t testing.TB, at int64) etcdfile.Write {
	renewed := metav1.NewMicroTime(metav1.Unix(at, 0).Time)
	return etcdfile.Write{"leases/kube-system/apiserver", etcdfile.Message(t, "coordination.k8s.io/v1", "Lease", &coordinationv1.Lease{
		ObjectMeta: metav1.ObjectMeta{Namespace: "kube-system", Name: "apiserver", UID: "lease"}, Spec: coordinationv1.LeaseSpec{RenewTime: &renewed},
	})}
}

// definition returns the CRD of a kind.
func definition(k kind) etcdfile.Write {
	group, version := object.SplitAPIVersion(k.apiVersion)
	plural := k.prefix[strings.LastIndex(k.prefix, "/")+1:]
	scope := "Cluster"
	if k.namespaced {
		scope = "Namespaced"
	}
	name := plural + "." + group
	return etcdfile.Write{"apiextensions.k8s.io/customresourcedefinitions/" + name, fmt.Sprintf(
		`{"apiVersion":"apiextensions.k8s.io/v1","kind":"CustomResourceDefinition","metadata":{"name":%q,"uid":%q},
"spec":{"group":%q,"scope":%q,"names":{"plural":%q,"kind":%q},"versions":[{"name":%q,"served":true,"storage":true}]},
"status":{"conditions":[{"type":"Established","status":"True"}]}}`, name, "crd-"+plural, group, scope, plural, k.kind, version)}
}

func uid(n int) types.UID { return types.UID(fmt.Sprintf("uid-%d", n)) }
