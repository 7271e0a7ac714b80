package past

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	autoscalingv1 "k8s.io/api/autoscaling/v1"
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-gc/kubectl-gc/internal/object"
	"github.com/kubectl-gc/kubectl-gc/internal/snapshot"
	"github.com/kubectl-gc/kubectl-gc/test/etcdfile"
)

// made is the creation of an object of a kind; gone is its deletion.
func made(t testing.TB, of, namespace, name string) etcdfile.Write {
	t.Helper()
	i := slices.IndexFunc(kinds, func(k storedKind) bool { return k.kind == of })
	x := &thing{kinds[i], metav1.ObjectMeta{Namespace: namespace, Name: name, UID: uid(len(namespace + name))}}
	return etcdfile.Write{x.key(), x.value(t)}
}

func gone(w etcdfile.Write) etcdfile.Write { return etcdfile.Write{w[0], ""} }

// pastOf returns the past of a file with these writes.
func pastOf(t testing.TB, w Window, writes ...etcdfile.Write) (*Record, *EtcdFile) {
	t.Helper()
	r := open(t, etcdfile.Create(t, 0, writes...))
	t.Cleanup(r.Close)
	p, err := r.Past(t.Context(), w)
	if err != nil {
		t.Fatal(err)
	}
	return p, r
}

func linesOf(p *Record) []string {
	var lines []string
	for _, c := range p.Changes {
		lines = append(lines, told(c))
	}
	return lines
}

// TestDefinitionGone: the objects of a deleted CRD are attributed. Objects of a CRD that was
// deleted before the past are not losses.
func TestDefinitionGone(t *testing.T) {
	gadgets := storedDefinition(kinds[len(kinds)-1])
	deleting := strings.Replace(gadgets[1], `"uid"`, `"deletionTimestamp":"2001-09-09T01:46:40Z","finalizers":["customresourcecleanup.apiextensions.k8s.io"],"uid"`, 1)
	a := made(t, "Gadget", "", "a")
	writes := []etcdfile.Write{lease(t, 1e9), gadgets, a, {gadgets[0], deleting}, gone(a), gone(gadgets), lease(t, 1e9+60)}
	p, r := pastOf(t, Window{SinceRevision: 3}, writes...)
	account := Trace(p)
	var took []string
	for _, l := range account.Losses {
		took = append(took, fmt.Sprintf("%s %s %d", l.Object.Name, l.Cause.Code, l.Cause.Request))
	}
	if diff := cmp.Diff([]string{"gadgets.gone.example.com Requested 0", "a DefinitionDeleted 0"}, took); diff != "" {
		t.Error(diff)
	}
	if _, err := p.Resources.For("gone.example.com/v1", "Gadget"); err != nil {
		t.Error(err)
	}
	bodies := 0
	err := r.Bodies(t.Context(), Collection{APIVersion: "gone.example.com/v1", Kind: "Gadget", Revision: 4}, func([]byte) error { bodies++; return nil })
	if bodies != 1 || err != nil {
		t.Error(bodies, err)
	}
	compacted := open(t, etcdfile.Create(t, 6, writes[0], gadgets, a, writes[3], gone(gadgets), lease(t, 1e9+60), gone(a)))
	defer compacted.Close()
	if p, err := compacted.Past(t.Context(), Window{}); err != nil || len(p.Changes) > 0 {
		t.Error(err, linesOf(p))
	}
}

// TestEncrypted: encrypted objects are reported as unknown, and the others are read.
func TestEncrypted(t *testing.T) {
	secret := func(name, text string) etcdfile.Write {
		m := metav1.ObjectMeta{Namespace: "shop", Name: name, UID: "uid-" + "s"}
		value := etcdfile.Message(t, "v1", "Secret", &corev1.Secret{ObjectMeta: m, StringData: map[string]string{"a": text}})
		if text == "" {
			value = "k8s:enc:aescbc:v1:key:\x01"
		}
		return etcdfile.Write{"secrets/shop/" + name, value}
	}
	owned := made(t, "ConfigMap", "shop", "owned")
	x := &thing{kinds[1], metav1.ObjectMeta{Namespace: "shop", Name: "owned", UID: "o", OwnerReferences: []metav1.OwnerReference{
		{APIVersion: "v1", Kind: "Secret", Name: "none", UID: "n"}, {APIVersion: "v1", Kind: "Service", Name: "none", UID: "n"},
	}}}
	owned[1] = x.value(t)
	p, r := pastOf(t, Window{SinceRevision: 4},
		secret("open", "1"), secret("closed", ""), secret("both", "1"), owned,
		secret("both", ""), gone(secret("both", "")), gone(secret("closed", "")), gone(secret("open", "")), gone(owned))
	ref := object.Ref{APIVersion: "v1", Kind: "Secret", Namespace: "shop", Name: "both", UID: "uid-s"}
	open := ref
	open.Name = "open"
	want := []string{fmt.Sprintf("6 %s %s @6", object.Deleted, ref), fmt.Sprintf("8 %s %s @8 was @1", object.Deleted, open), fmt.Sprintf("9 %s %s @9 was @4", object.Deleted, x.ref())}
	if diff := cmp.Diff(want, linesOf(p)); diff != "" {
		t.Error(diff)
	}
	if len(p.Limits) != 1 || p.Limits[0].Resource.Kind != "Secret" || p.Limits[0].Why != "Encrypted: 2 of its objects that were written are encrypted in storage (aescbc)" {
		t.Errorf("%+v", p.Limits)
	}
	if diff := cmp.Diff([]object.Ref{{APIVersion: "v1", Kind: "Namespace", Name: "shop"}, {APIVersion: "v1", Kind: "Service", Namespace: "shop", Name: "none"}}, p.Absent); diff != "" {
		t.Error(diff)
	}
	bodies := 0
	err := r.Bodies(t.Context(), Collection{APIVersion: "v1", Kind: "Secret", Namespace: "shop", Revision: 5}, func([]byte) error { bodies++; return nil })
	unread, ok := errors.AsType[*UnreadError](err)
	if bodies != 1 || !ok || len(unread.Objects) != 2 || !strings.Contains(err.Error(), "shop/both: it is encrypted (aescbc) (and 1 more objects)") {
		t.Error(bodies, err)
	}
}

// TestEtcdWindow: a past begins where requested, as far as the file reaches. With a time, it begins
// with the last renewal until then: what was written after that may be later than the time.
func TestEtcdWindow(t *testing.T) {
	a := made(t, "ConfigMap", "shop", "a")
	b := made(t, "ConfigMap", "other", "b")
	writes := []etcdfile.Write{lease(t, 1000), a, lease(t, 1010), b, lease(t, 1020), gone(a), gone(b), lease(t, 1030)}
	r := open(t, etcdfile.Create(t, 2, writes...))
	defer r.Close()
	for _, test := range []struct {
		w       Window
		from    Moment
		changes int
	}{
		{Window{}, Moment{Revision: 2, Time: 1000}, 3},
		{Window{SinceRevision: 1}, Moment{Revision: 2, Time: 1000}, 3},
		{Window{SinceRevision: 6}, Moment{Revision: 6, Time: 1020}, 1},
		{Window{SinceRevision: 8}, Moment{Revision: 8, Time: 1030}, 0},
		{Window{Since: 10}, Moment{Revision: 5, Time: 1020}, 2},
		{Window{Since: 11}, Moment{Revision: 3, Time: 1010}, 3},
		{Window{Since: 20}, Moment{Revision: 3, Time: 1010}, 3},
		{Window{Since: 3600}, Moment{Revision: 2, Time: 1000}, 3},
		{Window{Namespaces: []string{"shop"}}, Moment{Revision: 2, Time: 1000}, 1},
	} {
		p, err := r.Past(t.Context(), test.w)
		if err != nil {
			t.Fatal(err)
		}
		if p.From != test.from || len(p.Changes) != test.changes || p.To != (Moment{Revision: 8, Time: 1030}) {
			t.Errorf("%+v: from %v to %v: %q", test.w, p.From, p.To, linesOf(p))
		}
	}
	if _, err := r.Past(t.Context(), Window{SinceRevision: 9}); err == nil || !strings.Contains(err.Error(), "revision 9 is not in the file, which holds 2 to 8") {
		t.Error(err)
	}
	for _, c := range []Collection{
		{APIVersion: "v1", Kind: "ConfigMap", Revision: 1}, {APIVersion: "v1", Kind: "ConfigMap", Revision: 9}, {APIVersion: "v1", Kind: "Nonsense", Revision: 3},
	} {
		if err := r.Bodies(t.Context(), c, nil); err == nil {
			t.Errorf("%+v: no error", c)
		}
	}
}

// TestStoredVersion: an object has the served version, and its body the stored one.
func TestStoredVersion(t *testing.T) {
	scaler := etcdfile.Write{"horizontalpodautoscalers/shop/web", etcdfile.Message(t, "autoscaling/v1", "HorizontalPodAutoscaler",
		&autoscalingv1.HorizontalPodAutoscaler{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "web", UID: "h"}})}
	p, r := pastOf(t, Window{}, lease(t, 1e9), scaler)
	if got := p.Changes[0].Object; got.APIVersion != "autoscaling/v2" {
		t.Error(got.Ref)
	}
	err := r.Bodies(t.Context(), Collection{APIVersion: "autoscaling/v2", Kind: "HorizontalPodAutoscaler", Revision: 2}, func(raw []byte) error {
		if got := parsed(t, raw)["apiVersion"]; got != "autoscaling/v1" {
			t.Error(got)
		}
		return nil
	})
	if err != nil {
		t.Error(err)
	}
}

// TestStoredDefinition: a CRD is stored in a version that is not served, and shown in the served
// one.
func TestStoredDefinition(t *testing.T) {
	const head = `"kind":"CustomResourceDefinition","metadata":{"name":"a.example.com","uid":"u","resourceVersion":"1"},"spec":{"group":"example.com","scope":"Cluster","names":{"plural":"a","kind":"A"}`
	const schema = `{"openAPIV3Schema":{"type":"object","maximum":12345678901234567890}}`
	for _, test := range []struct{ stored, shown string }{
		{`"preserveUnknownFields":false,"validation":` + schema + `,"version":"v1","versions":[{"name":"v1","served":true,"storage":true},{"name":"v2","served":true,"storage":false}],
			"subresources":{"status":{}},"additionalPrinterColumns":[{"name":"Age","type":"date","JSONPath":".a"},{"name":"B","type":"string","JSONPath":".b"}],"selectableFields":[{"jsonPath":".spec.a"}],
			"conversion":{"strategy":"Webhook","webhookClientConfig":{"url":"https://x"},"conversionReviewVersions":["v1"]}`,
			`"versions":[
			{"name":"v1","served":true,"storage":true,"schema":` + schema + `,"subresources":{"status":{}},"additionalPrinterColumns":[{"name":"Age","type":"date","jsonPath":".a"},{"name":"B","type":"string","jsonPath":".b"}],"selectableFields":[{"jsonPath":".spec.a"}]},
			{"name":"v2","served":true,"storage":false,"schema":` + schema + `,"subresources":{"status":{}},"additionalPrinterColumns":[{"name":"Age","type":"date","jsonPath":".a"},{"name":"B","type":"string","jsonPath":".b"}],"selectableFields":[{"jsonPath":".spec.a"}]}],
			"conversion":{"strategy":"Webhook","webhook":{"clientConfig":{"url":"https://x"},"conversionReviewVersions":["v1"]}}`},
		{`"preserveUnknownFields":true,"version":"v1","conversion":{"strategy":"None"}`,
			`"preserveUnknownFields":true,"versions":[{"name":"v1","served":true,"storage":true}],"conversion":{"strategy":"None"}`},
		{`"version":"v1","versions":[{"name":"v1","served":true,"storage":true,"schema":` + schema + `,"additionalPrinterColumns":[{"JSONPath":".x"}]}]`,
			`"preserveUnknownFields":true,"versions":[{"name":"v1","served":true,"storage":true,"schema":` + schema + `,"additionalPrinterColumns":[{"jsonPath":".x"}]}]`},
	} {
		write := etcdfile.Write{"apiextensions.k8s.io/customresourcedefinitions/a.example.com", `{"apiVersion":"apiextensions.k8s.io/v1beta1",` + head + "," + test.stored + "}}"}
		_, r := pastOf(t, Window{}, write)
		err := r.Bodies(t.Context(), Collection{APIVersion: "apiextensions.k8s.io/v1", Kind: "CustomResourceDefinition", Revision: 1}, func(raw []byte) error {
			if diff := cmp.Diff(parsed(t, []byte(`{"apiVersion":"apiextensions.k8s.io/v1",`+head+","+test.shown+"}}")), parsed(t, raw)); diff != "" || !strings.Contains(test.shown, "maximum") != !strings.Contains(string(raw), "12345678901234567890") {
				t.Errorf("%s\n%s", raw, diff)
			}
			return nil
		})
		if err != nil {
			t.Error(err)
		}
	}
}

// TestBroken: an unreadable value is an error with its key.
func TestBroken(t *testing.T) {
	a := made(t, "ConfigMap", "shop", "a")
	crd := storedDefinition(kinds[len(kinds)-1])
	for want, writes := range map[string][]etcdfile.Write{
		`key "configmaps/shop/a": it is neither protobuf nor JSON`: {{a[0], "x"}, gone(a)},
		`key "configmaps/shop/b": it holds`:                        {{"configmaps/shop/b", a[1]}, {"configmaps/shop/b", ""}},
		`key "configmaps/shop/a": it has no uid`:                   {{a[0], `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"a","namespace":"shop"}}`}},
		`key "` + crd[0] + `": its value`:                          {{crd[0], "{"}, gone(crd)},
		`key "leases/kube-system/a": protobuf`:                     {{"leases/kube-system/a", "k8s\x00\x12\x02\x12\xff"}, {"leases/kube-system/a", ""}},
	} {
		r, err := OpenEtcd(etcdfile.Create(t, 0, append([]etcdfile.Write{lease(t, 1e9)}, writes...)...), snapshot.Options{})
		if err == nil {
			_, err = r.Past(t.Context(), Window{})
			r.Close()
		}
		if err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), "snapshot.db") {
			t.Errorf("%v, want %s", err, want)
		}
	}
}

// storedKind describes how objects of a kind are stored.
type storedKind struct {
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

var kinds = []storedKind{
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
	storedKind
	meta metav1.ObjectMeta
}

func (x *thing) key() string {
	if x.namespaced {
		return x.prefix + "/" + x.meta.Namespace + "/" + x.meta.Name
	}
	return x.prefix + "/" + x.meta.Name
}

func (x *thing) ref() object.Ref {
	return object.Ref{APIVersion: x.apiVersion, Kind: x.storedKind.kind, Namespace: x.meta.Namespace, Name: x.meta.Name, UID: x.meta.UID}
}

// value returns the object as it is stored.
func (x *thing) value(t testing.TB) string {
	if x.typed != nil {
		return etcdfile.Message(t, x.apiVersion, x.storedKind.kind, x.typed(x.meta))
	}
	return string(x.text(t, ""))
}

// text returns the object as a server shows it.
func (x *thing) text(t testing.TB, version string) []byte {
	t.Helper()
	meta := x.meta
	meta.ResourceVersion = version
	var o any = map[string]any{"apiVersion": x.apiVersion, "kind": x.storedKind.kind, "metadata": meta, "spec": map[string]any{"big": json.Number("12345678901234567890")}}
	if x.typed != nil {
		of := x.typed(meta)
		of.GetObjectKind().SetGroupVersionKind(schema.FromAPIVersionAndKind(x.apiVersion, x.storedKind.kind))
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

// storedDefinition returns the CRD of a kind.
func storedDefinition(k storedKind) etcdfile.Write {
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
