package health

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/kubectl-gc/kubectl-gc/internal/manifest"
	"github.com/kubectl-gc/kubectl-gc/internal/object"
)

// TestReadOf: an object of a snapshot gives the record of its JSON.
func TestReadOf(t *testing.T) {
	const spec = `"spec":{"ingressClassName":"c","tls":[{"secretName":"s"}],"jobTemplate":{"spec":{"template":{"spec":{"serviceAccountName":"a"}}}}}`
	for name, c := range map[string]struct{ kind, metadata string }{
		"an Ingress":                       {"networking.k8s.io/v1 Ingress", ""},
		"a CronJob with a finalizer":       {"batch/v1 CronJob", `,"finalizers":["a.b/c"]`},
		"an Ingress that is being deleted": {"networking.k8s.io/v1 Ingress", `,"deletionTimestamp":"2026-01-01T00:00:00Z","finalizers":["a.b/c"]`},
		"a Service":                        {"v1 Service", ""},
		"a pod of a ReplicaSet":            {"v1 Pod", `,"ownerReferences":[{"apiVersion":"apps/v1","kind":"ReplicaSet","name":"r","uid":"r","controller":true}]`},
		"a ReplicaSet of a Deployment":     {"apps/v1 ReplicaSet", `,"ownerReferences":[{"apiVersion":"apps/v1","kind":"Deployment","name":"r","uid":"r","controller":true}]`},
		"no references":                    {"v1 ServiceAccount", ""},
		"a Deployment with labels":         {"apps/v1 Deployment", `,"labels":{"app":"x","app.kubernetes.io/instance":"i"},"ownerReferences":[{"apiVersion":"v1","kind":"ConfigMap","name":"c","uid":"c"}]`},
		"a pod with labels":                {"v1 Pod", `,"labels":{"app":"x","b":""}`},
		"an EndpointSlice":                 {"discovery.k8s.io/v1 EndpointSlice", `,"labels":{"kubernetes.io/service-name":"web"}`},
	} {
		t.Run(name, func(t *testing.T) {
			apiVersion, kind, _ := strings.Cut(c.kind, " ")
			raw := `{"apiVersion":"` + apiVersion + `","kind":"` + kind + `","metadata":{"name":"x","namespace":"shop","uid":"u"` + c.metadata + `},` + spec + `}`
			var o *object.Object
			if err := manifest.Read(strings.NewReader(raw), manifest.Options{}, manifest.Handler{
				Object: func(read *object.Object, _ bool, _ manifest.Position) error { o = read; return nil },
			}); err != nil {
				t.Fatal(err)
			}
			want, err := Read(apiVersion, kind, []byte(raw))
			if err != nil {
				t.Fatal(err)
			}
			got, err := ReadOf(o, []byte(raw))
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("(-of JSON +of the object):\n%s", diff)
			}
		})
	}
}
