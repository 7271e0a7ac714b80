package manifest

import (
	"bytes"
	"compress/gzip"
	"encoding/base64"
	"fmt"
	"reflect"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-gc/kubectl-gc/internal/object"
)

// packed returns what Helm writes for a release.
func packed(text string) string {
	var b bytes.Buffer
	zip := gzip.NewWriter(&b)
	_, _ = zip.Write([]byte(text)) // a bytes.Buffer has no errors
	_ = zip.Close()
	return base64.StdEncoding.EncodeToString(b.Bytes())
}

// record returns a Secret as kubectl prints it, with its data before its kind.
func record(data string) string {
	return fmt.Sprintf(`{"apiVersion": "v1", "data": {"release": %q}, "kind": "Secret", "metadata": {"name": "sh.helm.release.v1.web.v3", "namespace": "shop",
		"labels": {"name": "web", "owner": "helm", "status": "deployed"}}}`, base64.StdEncoding.EncodeToString([]byte(data)))
}

const helmRelease = `{"name": "web", "namespace": "shop", "version": 3, "info": {"status": "deployed", "notes": "hidden"}, "config": {"password": "hidden"},
	"chart": {"metadata": {"name": "web", "version": "1.2"}, "values": {"password": "hidden"}, "files": [{"name": "crds/a.yaml", "data": "hidden"}]},
	"manifest": "---\napiVersion: v1\nkind: Secret\nmetadata: {name: s}\nstringData: {password: hidden}\n---apiVersion: v1\nkind: Service\nmetadata: {name: web, namespace: other}\n",
	"hooks": [{"name": "b", "weight": 2, "events": ["pre-delete"], "manifest": "apiVersion: v1\nkind: Pod\nmetadata: {name: b}\n"},
		{"name": "a", "events": ["post-delete"], "delete_policies": ["hook-succeeded"], "manifest": "apiVersion: v1\nkind: Pod\nmetadata: {name: a}\n"}]}`

// helmFacts reads a record with small limits.
func helmFacts(t *testing.T, text string) *object.HelmReleaseFacts {
	t.Helper()
	found, err := find(text, Options{Limits: Limits{ValueBytes: 1 << 20, ObjectBytes: 256 << 10}})
	if err != nil || len(found.Objects) != 1 {
		t.Fatalf("%d objects, %v", len(found.Objects), err)
	}
	return found.Objects[0].HelmRelease()
}

// TestHelmRecord reads a record in the forms in which it is stored, and keeps names only.
func TestHelmRecord(t *testing.T) {
	want := &object.HelmReleaseFacts{
		Name: "web", Namespace: "shop", Revision: 3, Status: "deployed", Chart: "web-1.2", CRDs: true,
		Objects: []object.HelmObject{{APIVersion: "v1", Kind: "Service", Namespace: "other", Name: "web"}, {APIVersion: "v1", Kind: "Secret", Name: "s"}},
		Hooks: []object.HelmHook{
			{HelmObject: object.HelmObject{APIVersion: "v1", Kind: "Pod", Name: "a"}, Events: []string{"post-delete"}, DeletePolicies: []string{"hook-succeeded"}},
			{HelmObject: object.HelmObject{APIVersion: "v1", Kind: "Pod", Name: "b"}, Weight: 2, Events: []string{"pre-delete"}, DeletePolicies: []string{"before-hook-creation"}},
		},
	}
	inList := strings.Replace(record(packed(helmRelease)), `"kind": "Secret", `, "", 1)
	for name, text := range map[string]string{
		"Secret":       record(packed(helmRelease)),
		"uncompressed": record(base64.StdEncoding.EncodeToString([]byte(helmRelease))),
		"kind first":   "kind: Secret\napiVersion: v1\n" + yamlRecord(base64.StdEncoding.EncodeToString([]byte(packed(helmRelease)))),
		"ConfigMap":    "apiVersion: v1\nkind: ConfigMap\n" + yamlRecord(packed(helmRelease)),
		"kind last":    `{"apiVersion": "v1", "items": [` + inList + `], "kind": "SecretList"}`,
	} {
		t.Run(name, func(t *testing.T) {
			got := helmFacts(t, text)
			if !reflect.DeepEqual(got, want) {
				t.Errorf("got  %+v\nwant %+v", got, want)
			}
			if strings.Contains(fmt.Sprintf("%+v", got), "hidden") {
				t.Error("it has a value")
			}
		})
	}
}

func yamlRecord(data string) string {
	return "data:\n  release: " + data + "\nmetadata:\n  labels: {name: web, owner: helm}\n  name: sh.helm.release.v1.web.v3\n  namespace: shop\n"
}

// TestHelmRecordStored reads a record as etcd has it.
func TestHelmRecordStored(t *testing.T) {
	meta := metav1.ObjectMeta{Name: "sh.helm.release.v1.web.v3", Namespace: "shop", Labels: map[string]string{"name": "web", "owner": "helm"}}
	for kind, o := range map[string]interface{ Marshal() ([]byte, error) }{
		"Secret":    &corev1.Secret{ObjectMeta: meta, Data: map[string][]byte{"other": nil, "release": []byte(packed(helmRelease))}},
		"ConfigMap": &corev1.ConfigMap{ObjectMeta: meta, Data: map[string]string{"release": packed(helmRelease)}},
	} {
		message, err := o.Marshal()
		if err != nil {
			t.Fatal(err)
		}
		b := NewStored("v1", kind, NewInterner())
		m := b.Metadata()
		if err := m.Read(message); err != nil {
			t.Fatal(err)
		}
		if f := b.Object(m).HelmRelease(); f == nil || f.Unread != "" || len(f.Objects) != 2 {
			t.Errorf("%s: %+v", kind, f)
		}
	}
}

// TestHelmRecordUnread: what cannot be read says so, and is bounded.
func TestHelmRecordUnread(t *testing.T) {
	whole := packed(helmRelease)
	bomb := packed(`{"name": "` + strings.Repeat("a", 400<<10) + `"}`)
	deep := packed(strings.Repeat(`{"info":`, 20000))
	many := packed(`{"manifest": "` + strings.Repeat(`---\napiVersion: v1\nkind: A\nmetadata: {name: a}\n`, 1000) + `"}`)
	skipped := packed(`{"config": "` + strings.Repeat("a", 2<<20) + `"}`)
	for name, c := range map[string]struct{ text, says string }{
		"redacted":         {record("***HIDDEN***"), "illegal base64"},
		"truncated":        {record(whole[:len(whole)/2/4*4]), "reading ends early"},
		"no JSON":          {record(packed("release")), "a value is expected here"},
		"other release":    {record(packed(strings.Replace(helmRelease, `"web"`, `"wob"`, 1))), "about another release"},
		"other revision":   {record(packed(strings.Replace(helmRelease, `"version": 3`, `"version": 4`, 1))), "about another release or revision"},
		"other namespace":  {record(packed(strings.Replace(helmRelease, `"shop"`, `"shap"`, 1))), "in another namespace"},
		"two releases":     {record(packed(helmRelease + helmRelease)), "the end of the record"},
		"nameless object":  {record(packed(strings.Replace(helmRelease, "{name: s}", "{nome: s}", 1))), "metadata.name is missing"},
		"no kind":          {record(packed(strings.Replace(helmRelease, "kind: Secret", "cind: Secret", 1))), "kind is missing"},
		"other annotation": {record(packed(strings.Replace(helmRelease, "{name: s}", "{name: s, annotations: {a: {}}}", 1))), "cannot unmarshal"},
		"long name":        {record(bomb), "limit"},
		"deep":             {record(deep), "nested deeper"},
		"many objects":     {record(many), "limit"},
		"long value":       {record(skipped), "limit"},
	} {
		t.Run(name, func(t *testing.T) {
			got := helmFacts(t, c.text)
			if got == nil || !strings.Contains(got.Unread, c.says) || len(got.Objects) > 0 || got.Name != "web" || got.Revision != 3 {
				t.Errorf("got %.300v, want %q", got, c.says)
			}
		})
	}
}

// TestNoHelmRecord: other Secrets, superseded revisions and records without data have no facts.
func TestNoHelmRecord(t *testing.T) {
	whole := record(packed(helmRelease))
	for name, text := range map[string]string{
		"other owner": strings.Replace(whole, `"helm"`, `"halm"`, 1),
		"superseded":  strings.Replace(whole, `"deployed"`, `"superseded"`, 1),
		"other field": strings.Replace(whole, `"release":`, `"rolease":`, 1),
		"null":        strings.Replace(whole, `"data": {`, `"data": null, "other": {`, 1),
		"no text":     strings.Replace(whole, `"release": "`, `"release": 1, "other": "`, 1),
	} {
		if got := helmFacts(t, text); got != nil {
			t.Errorf("%s: %+v", name, got)
		}
	}
}

// TestHelmOrder: Helm sorts documents by their names, manifest-10 before manifest-2, and then by kind.
func TestHelmOrder(t *testing.T) {
	var manifest strings.Builder
	for i, kind := range strings.Fields("Zebra ConfigMap Namespace ConfigMap Apple List ConfigMap Service ConfigMap ConfigMap ConfigMap ConfigMap") {
		text := `---\napiVersion: v1\nkind: %s\nmetadata: {name: n%d}\n`
		if kind == "List" {
			text = `---\napiVersion: v1\nkind: %s\nitems: [{apiVersion: v1, kind: Service, metadata: {name: n%d, annotations: {helm.sh/resource-policy: keep}}}]\n`
		}
		fmt.Fprintf(&manifest, text, kind, i)
	}
	var names []string
	for _, o := range helmFacts(t, record(packed(`{"name": "web", "namespace": "shop", "version": 3, "manifest": "`+manifest.String()+`"}`))).Objects {
		names = append(names, o.Name)
		if o.Keeps {
			t.Errorf("%s is kept", o.Name)
		}
	}
	if got, want := strings.Join(names, " "), "n7 n1 n10 n11 n3 n6 n8 n9 n2 n4 n5 n0"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

// FuzzHelmRecord expects facts or a reason from any record, and the same every time.
func FuzzHelmRecord(f *testing.F) {
	whole := packed(helmRelease)
	for _, seed := range []string{helmRelease, "{}", `{"manifest": "a: b"}`, `{"hooks": [{}]}`, `{"chart": null}`, whole[:20]} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		for _, written := range []string{string(text), base64.StdEncoding.EncodeToString(text), packed(string(text))} {
			a, errA := decodeHelm(strings.NewReader(written), Limits{}.withDefaults())
			b, errB := decodeHelm(strings.NewReader(written), Limits{}.withDefaults())
			if (errA == nil) != (errB == nil) || !reflect.DeepEqual(a, b) {
				t.Fatalf("%v, then %v", errA, errB)
			}
			for _, o := range a.Objects {
				if o.APIVersion == "" || o.Kind == "" || o.Name == "" {
					t.Fatalf("an object without identity: %+v", o)
				}
			}
		}
	})
}
