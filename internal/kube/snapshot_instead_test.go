package kube

import (
	"context"
	"slices"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-gc/kubectl-gc/internal/object"
	"github.com/kubectl-gc/kubectl-gc/internal/reason"
	"github.com/kubectl-gc/kubectl-gc/internal/snapshot"
)

// TestSnapshotInstead: kinds that may not be listed everywhere are listed in the namespace, and the
// namespace is read by name. Nothing else counts as absent.
func TestSnapshotInstead(t *testing.T) {
	s, c := world(t)
	forbidden := refuse(403, metav1.StatusReasonForbidden)
	for _, path := range []string{"/api/v1/namespaces", "/api/v1/pods", configMapsPath, "/apis/example.com/v1/widgets"} {
		s.on(path, forbidden)
	}
	s.on("/api/v1/namespaces/shop", answer200(jsonType, []byte(`{"kind":"Namespace","apiVersion":"v1","metadata":{"name":"shop","uid":"n","resourceVersion":"4"},"spec":{"finalizers":["kubernetes"]},"status":{"phase":"Active"}}`)))
	s.on("/api/v1/namespaces/shop/pods", noPods)
	s.on("/api/v1/namespaces/shop/configmaps", listOf("5", "", "a", "b"))
	s.on("/apis/example.com/v1/namespaces/shop/widgets", forbidden)
	snap, err := c.Snapshot(context.Background(), Scope{Instead: []string{"shop"}}, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"a", "b"} {
		if snap.Find("v1", "ConfigMap", "shop", name) == nil {
			t.Errorf("no %s", name)
		}
	}
	if o := snap.Find("v1", "Namespace", "", "shop"); o == nil || o.NamespaceFacts() == nil {
		t.Error("the namespace was not read by its name")
	}
	for r, inside := range map[string]bool{"configmaps": true, "pods": true, "widgets": false} {
		i := slices.IndexFunc(snap.Resources.All(), func(x object.Resource) bool { return x.Name == r })
		x := snap.Resources.All()[i]
		if snap.Covers(x, "shop") != inside || snap.Covers(x, "") || snap.Covers(x, "other") {
			t.Errorf("%s: covered in shop %t, everywhere %t, elsewhere %t", r, snap.Covers(x, "shop"), snap.Covers(x, ""), snap.Covers(x, "other"))
		}
	}
	if len(snap.Gaps) != 4 || slices.ContainsFunc(snap.Gaps, func(g snapshot.Gap) bool { return g.Reason() != reason.Forbidden || g.Namespace != "" }) {
		t.Errorf("gaps %v", snap.Gaps)
	}
	if unread := snap.Unread("shop"); len(unread) != 1 || unread[0].Resource != "widgets" {
		t.Errorf("unread of the namespace: %v", unread)
	}
}
