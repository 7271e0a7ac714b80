package lost

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/kubectl-gc/kubectl-gc/test/controlplane/cluster"
)

// populate makes so many objects, in namespaces of some 2,000, and those that are deleted whole: one for
// each round.
func populate(b *testing.B, objects, rounds int) {
	b.Helper()
	l := &cluster.Load{Cluster: plane}
	for i := range rounds {
		if err := l.Namespace(doomed(i), 3000/cluster.PerApplication); err != nil {
			b.Fatal(err)
		}
	}
	if err := l.Fill(objects); err != nil {
		b.Fatal(err)
	}
	b.Logf("%d objects", l.Objects)
}

func doomed(i int) string { return fmt.Sprintf("doomed-%d", i) }

// accident deletes a namespace of 3,000 objects, and in others some 2,000 with deployments and by
// collections; it returns when all that has gone.
func accident(ctx context.Context, round int) error {
	first := 5 * round // of the namespaces that lose something
	requests := []string{"/api/v1/namespaces/" + doomed(round)}
	for n := range 5 {
		for i := range 30 {
			requests = append(requests, fmt.Sprintf("/apis/apps/v1/namespaces/%s/deployments/app-%03d", cluster.LoadNamespace(first+n), i))
		}
	}
	requests = append(requests, "/api/v1/namespaces/"+cluster.LoadNamespace(first)+"/configmaps", "/api/v1/namespaces/"+cluster.LoadNamespace(first+1)+"/secrets")
	for _, path := range requests {
		got, err := send(ctx, "", http.MethodDelete, path, object{"apiVersion": "v1", "kind": "DeleteOptions", "propagationPolicy": "Background"})
		if err != nil {
			return err
		}
		if got.code >= http.StatusBadRequest {
			return fmt.Errorf("DELETE %s: %d", path, got.code)
		}
	}
	return cluster.Await(ctx, "all is collected", func(ctx context.Context) (bool, error) {
		got, err := send(ctx, "", http.MethodGet, requests[0], nil)
		if err != nil || got.code != http.StatusNotFound {
			return false, err
		}
		last, err := plane.Do(ctx, http.MethodGet, "/api/v1/namespaces/"+cluster.LoadNamespace(first+4)+"/pods?labelSelector=app%3Dapp-029", "", nil)
		return err == nil && !strings.Contains(string(last), `"name":"app-029`), err
	})
}

// chat writes to a pod, as nodes do of a cluster that is alive.
func chat(ctx context.Context, n int) {
	path := fmt.Sprintf("/api/v1/namespaces/%s/pods/app-%03d-1-%d/status", cluster.LoadNamespace(20+n%20), n%90, n%cluster.PodsOfOne)
	_, _ = send(ctx, "", http.MethodPatch, path, object{"status": object{"message": fmt.Sprint(n)}})
}
