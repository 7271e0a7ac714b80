package stored

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	autoscalingv1 "k8s.io/api/autoscaling/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-gc/kubectl-gc/internal/history"
	"github.com/kubectl-gc/kubectl-gc/internal/object"
	"github.com/kubectl-gc/kubectl-gc/internal/snapshot"
	"github.com/kubectl-gc/kubectl-gc/test/etcdfile"
)

// made is the creation of an object of a kind; gone is its deletion.
func made(t testing.TB, of, namespace, name string) etcdfile.Write {
	t.Helper()
	i := slices.IndexFunc(kinds, func(k kind) bool { return k.kind == of })
	x := &thing{kinds[i], metav1.ObjectMeta{Namespace: namespace, Name: name, UID: uid(len(namespace + name))}}
	return etcdfile.Write{x.key(), x.value(t)}
}

func gone(w etcdfile.Write) etcdfile.Write { return etcdfile.Write{w[0], ""} }

// pastOf returns the past of a file with these writes.
func pastOf(t testing.TB, w history.Window, writes ...etcdfile.Write) (*history.Past, *Record) {
	t.Helper()
	r := open(t, etcdfile.Create(t, 0, writes...))
	t.Cleanup(r.Close)
	p, err := r.Past(t.Context(), w)
	if err != nil {
		t.Fatal(err)
	}
	return p, r
}

func linesOf(p *history.Past) []string {
	var lines []string
	for _, c := range p.Changes {
		lines = append(lines, told(c))
	}
	return lines
}

// TestDefinitionGone: the objects of a deleted CRD are attributed. Objects of a CRD that was
// deleted before the past are not losses.
func TestDefinitionGone(t *testing.T) {
	gadgets := definition(kinds[len(kinds)-1])
	deleting := strings.Replace(gadgets[1], `"uid"`, `"deletionTimestamp":"2001-09-09T01:46:40Z","finalizers":["customresourcecleanup.apiextensions.k8s.io"],"uid"`, 1)
	a := made(t, "Gadget", "", "a")
	writes := []etcdfile.Write{lease(t, 1e9), gadgets, a, {gadgets[0], deleting}, gone(a), gone(gadgets), lease(t, 1e9+60)}
	p, r := pastOf(t, history.Window{SinceRevision: 3}, writes...)
	account := history.Trace(p)
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
	err := r.Bodies(t.Context(), history.Collection{APIVersion: "gone.example.com/v1", Kind: "Gadget", Revision: 4}, func([]byte) error { bodies++; return nil })
	if bodies != 1 || err != nil {
		t.Error(bodies, err)
	}
	compacted := open(t, etcdfile.Create(t, 6, writes[0], gadgets, a, writes[3], gone(gadgets), lease(t, 1e9+60), gone(a)))
	defer compacted.Close()
	if p, err := compacted.Past(t.Context(), history.Window{}); err != nil || len(p.Changes) > 0 {
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
	p, r := pastOf(t, history.Window{SinceRevision: 4},
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
	err := r.Bodies(t.Context(), history.Collection{APIVersion: "v1", Kind: "Secret", Namespace: "shop", Revision: 5}, func([]byte) error { bodies++; return nil })
	unread, ok := errors.AsType[*history.UnreadError](err)
	if bodies != 1 || !ok || len(unread.Objects) != 2 || !strings.Contains(err.Error(), "shop/both: it is encrypted (aescbc) (and 1 more objects)") {
		t.Error(bodies, err)
	}
}

// TestWindow: a past begins where requested, as far as the file reaches.
func TestWindow(t *testing.T) {
	a := made(t, "ConfigMap", "shop", "a")
	b := made(t, "ConfigMap", "other", "b")
	writes := []etcdfile.Write{lease(t, 1000), a, lease(t, 1010), b, lease(t, 1020), gone(a), gone(b), lease(t, 1030)}
	r := open(t, etcdfile.Create(t, 2, writes...))
	defer r.Close()
	for _, test := range []struct {
		w       history.Window
		from    history.Moment
		changes int
	}{
		{history.Window{}, history.Moment{Revision: 2, Time: 1000}, 3},
		{history.Window{SinceRevision: 1}, history.Moment{Revision: 2, Time: 1000}, 3},
		{history.Window{SinceRevision: 6}, history.Moment{Revision: 6, Time: 1020}, 1},
		{history.Window{SinceRevision: 8}, history.Moment{Revision: 8, Time: 1030}, 0},
		{history.Window{Since: 10}, history.Moment{Revision: 7, Time: 1020}, 0},
		{history.Window{Since: 11}, history.Moment{Revision: 4, Time: 1010}, 2},
		{history.Window{Since: 20}, history.Moment{Revision: 4, Time: 1010}, 2},
		{history.Window{Since: 3600}, history.Moment{Revision: 2, Time: 1000}, 3},
		{history.Window{Namespaces: []string{"shop"}}, history.Moment{Revision: 2, Time: 1000}, 1},
	} {
		p, err := r.Past(t.Context(), test.w)
		if err != nil {
			t.Fatal(err)
		}
		if p.From != test.from || len(p.Changes) != test.changes || p.To != (history.Moment{Revision: 8, Time: 1030}) {
			t.Errorf("%+v: from %v to %v: %q", test.w, p.From, p.To, linesOf(p))
		}
	}
	if _, err := r.Past(t.Context(), history.Window{SinceRevision: 9}); err == nil || !strings.Contains(err.Error(), "revision 9 is not in the file, which holds 2 to 8") {
		t.Error(err)
	}
	for _, c := range []history.Collection{
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
	p, r := pastOf(t, history.Window{}, lease(t, 1e9), scaler)
	if got := p.Changes[0].Object; got.APIVersion != "autoscaling/v2" {
		t.Error(got.Ref)
	}
	err := r.Bodies(t.Context(), history.Collection{APIVersion: "autoscaling/v2", Kind: "HorizontalPodAutoscaler", Revision: 2}, func(raw []byte) error {
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
		_, r := pastOf(t, history.Window{}, write)
		err := r.Bodies(t.Context(), history.Collection{APIVersion: "apiextensions.k8s.io/v1", Kind: "CustomResourceDefinition", Revision: 1}, func(raw []byte) error {
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
	crd := definition(kinds[len(kinds)-1])
	for want, writes := range map[string][]etcdfile.Write{
		`key "configmaps/shop/a": it is neither protobuf nor JSON`: {{a[0], "x"}, gone(a)},
		`key "configmaps/shop/b": it holds`:                        {{"configmaps/shop/b", a[1]}, {"configmaps/shop/b", ""}},
		`key "configmaps/shop/a": it has no uid`:                   {{a[0], `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"a","namespace":"shop"}}`}},
		`key "` + crd[0] + `": its value`:                          {{crd[0], "{"}, gone(crd)},
		`key "leases/kube-system/a": protobuf`:                     {{"leases/kube-system/a", "k8s\x00\x12\x02\x12\xff"}, {"leases/kube-system/a", ""}},
	} {
		r, err := Open(etcdfile.Create(t, 0, append([]etcdfile.Write{lease(t, 1e9)}, writes...)...), snapshot.Options{})
		if err == nil {
			_, err = r.Past(t.Context(), history.Window{})
			r.Close()
		}
		if err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), "snapshot.db") {
			t.Errorf("%v, want %s", err, want)
		}
	}
}
