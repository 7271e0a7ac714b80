package cli_test

import (
	"bytes"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"k8s.io/cli-runtime/pkg/genericiooptions"

	"github.com/kubectl-gc/kubectl-gc/internal/cli"
	"github.com/kubectl-gc/kubectl-gc/test/facade"
	"github.com/kubectl-gc/kubectl-gc/test/scenario"
)

// asked records the requested paths of a server.
type asked struct {
	http.Handler
	mu    sync.Mutex
	paths []string
}

func (a *asked) ServeHTTP(w http.ResponseWriter, q *http.Request) {
	a.mu.Lock()
	a.paths = append(a.paths, q.URL.Path)
	a.mu.Unlock()
	a.Handler.ServeHTTP(w, q)
}

// TestExtraReads: a plan reads only the evidence about other controllers that matters for the
// objects it reaches.
func TestExtraReads(t *testing.T) {
	const admission = "/apis/admissionregistration.k8s.io/v1/"
	webhooks := []string{
		admission + "mutatingwebhookconfigurations", admission + "validatingwebhookconfigurations",
		admission + "validatingadmissionpolicies", admission + "validatingadmissionpolicybindings",
	}
	rs := scenario.Resources()
	for name, c := range map[string]struct {
		args, world string
		want        []string
	}{
		"a Deployment": {
			"dry-run delete deployment/web -n shop",
			"apps/v1 Deployment shop/web\napps/v1 ReplicaSet shop/rs owners=web\nv1 Pod shop/p owners=rs node=n1\nv1 Node n1\nv1 Namespace shop",
			append([]string{
				"/apis/apps/v1/namespaces/shop/deployments/web", // the target's content, for the digest
				"/apis/coordination.k8s.io/v1/namespaces/kube-system/leases/kube-controller-manager",
			}, webhooks...),
		},
		"a Secret: only kinds that can refer to it, where there are any": {
			"dry-run delete secret/db -n shop",
			"v1 Secret shop/db\napps/v1 Deployment shop/web\napps/v1 ReplicaSet shop/rs owners=web^\nv1 Pod shop/p owners=rs^ node=n1\nv1 Node n1\nv1 Namespace shop\nv1 ConfigMap shop/c",
			append([]string{"/apis/apps/v1/namespaces/shop/deployments"}, webhooks...),
		},
		"a PriorityClass: its users in all namespaces": {
			"dry-run delete priorityclass/high", "scheduling.k8s.io/v1 PriorityClass high\napps/v1 Deployment shop/web\nv1 Namespace shop",
			append([]string{
				"/apis/apps/v1/deployments", "/apis/scheduling.k8s.io/v1/priorityclasses/high",
				"/apis/apiextensions.k8s.io/v1/customresourcedefinitions",
			}, webhooks...),
		},
		"a ConfigMap that nothing can refer to": {
			"dry-run delete configmap/c -n shop", "v1 ConfigMap shop/c\nv1 Namespace shop\nv1 Secret shop/s",
			append([]string{"/api/v1/namespaces/shop/configmaps/c"}, webhooks...),
		},
		"nothing that is garbage": {"collect -A --dry-run", "v1 ConfigMap shop/c\nv1 Namespace shop", nil},
		"a namespace": {
			"dry-run delete namespace/shop", "v1 Namespace shop phase=Active spec=kubernetes\nv1 ConfigMap shop/c",
			append([]string{
				"/api/v1/namespaces/shop",
				"/apis/apiextensions.k8s.io/v1/customresourcedefinitions", "/apis/apiregistration.k8s.io/v1/apiservices",
				"/apis/coordination.k8s.io/v1/namespaces/kube-system/leases/kube-controller-manager",
			}, webhooks...),
		},
	} {
		t.Run(name, func(t *testing.T) {
			objects, err := scenario.ParseWorld(c.world, scenario.Names{})
			if err != nil {
				t.Fatal(err)
			}
			server := &asked{Handler: facade.New(objects, rs, facade.Documents(rs.All()))}
			h := httptest.NewServer(server)
			defer h.Close()
			dir := t.TempDir()
			nothing := filepath.Join(dir, "kubeconfig")
			if err := os.WriteFile(nothing, []byte("apiVersion: v1\nkind: Config\n"), 0o600); err != nil {
				t.Fatal(err)
			}
			t.Setenv("KUBECONFIG", nothing)
			var out bytes.Buffer
			args := append([]string{"kubectl-gc"}, strings.Fields(c.args)...)
			code := cli.Main(t.Context(), append(args, "--server="+h.URL, "--cache-dir="+dir), genericiooptions.IOStreams{In: &bytes.Buffer{}, Out: &out, ErrOut: &out})
			if code != 0 {
				t.Fatalf("code %d: %s", code, out.String())
			}
			last := slices.Sorted(slices.Values(server.paths[len(server.paths)-len(c.want):]))
			if !slices.Equal(last, slices.Sorted(slices.Values(c.want))) {
				t.Errorf("last it asks for %q, want %q", last, c.want)
			}
			before := server.paths[:len(server.paths)-len(c.want)]
			if slices.ContainsFunc(before, func(p string) bool { return strings.HasPrefix(p, admission) }) {
				t.Errorf("more was read: %q", before)
			}
			t.Logf("%d requests, %d of them for the surroundings", len(server.paths), len(c.want))
		})
	}
}
