package reading

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/kubectl-gc/kubectl-gc/internal/cli/command"
	"github.com/kubectl-gc/kubectl-gc/internal/kube"
	"github.com/kubectl-gc/kubectl-gc/internal/object"
	"github.com/kubectl-gc/kubectl-gc/internal/snapshot"
	"github.com/kubectl-gc/kubectl-gc/test/controlplane/cluster"
)

// TestPrintedAsRead: what the server prints of objects of a snapshot, in rows without their
// metadata, is what it prints of each by its uid; and no list has to be asked for again.
func TestPrintedAsRead(t *testing.T) {
	load := &cluster.Load{Cluster: plane}
	// Of these the first comes after the second where namespaces are ordered by themselves.
	for _, namespace := range []string{"printed-b", "printed", "printed-a", "printed-c"} {
		if err := load.Namespace(namespace, 50); err != nil {
			t.Fatal(err)
		}
	}
	apply(t, `apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: prints.example.com}
spec:
  group: example.com
  scope: Namespaced
  names: {plural: prints, singular: print, kind: Print}
  versions:
  - name: v1
    served: true
    storage: true
    schema: {openAPIV3Schema: {type: object, x-kubernetes-preserve-unknown-fields: true}}
    additionalPrinterColumns:
    - {name: Ready, type: string, jsonPath: .spec.ready}
`)
	served(t, "prints")
	var custom strings.Builder
	for i, namespace := range []string{"printed", "printed-a", "printed-b", "printed-c", "printed"} {
		fmt.Fprintf(&custom, "apiVersion: example.com/v1\nkind: Print\nmetadata: {name: p%d, namespace: %s}\nspec: {ready: r%[1]d}\n---\n", i/4, namespace)
	}
	apply(t, custom.String())

	printed := func(asRead bool) (of map[object.Ref]object.Printed, requests int) {
		m, err := plane.Meter()
		if err != nil {
			t.Fatal(err)
		}
		defer m.Close()
		c, err := command.Connect((&cluster.Cluster{Kubeconfig: m.Kubeconfig}).Flags(), kube.Options{})
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		snap, err := c.Snapshot(context.Background(), kube.Scope{References: true, Monitored: true}, nil)
		if err != nil {
			t.Fatal(err)
		}
		before, _ := m.All()
		var in *snapshot.Snapshot
		if asRead {
			in = snap
		}
		var refs []object.Ref
		for _, o := range snap.Objects {
			refs = append(refs, o.Ref)
		}
		by := c.Printed(context.Background(), refs, in)
		of = map[object.Ref]object.Printed{}
		for _, ref := range refs {
			if p := by[ref.UID]; p != (object.Printed{}) {
				of[ref] = p
			}
		}
		// These are on one page, so that they are of the past only if a revision is asked for.
		if record := strings.Contains(m.String(), "list of replicasets of the past"); record != asRead {
			t.Errorf("as read: %t, and of the past: %t", asRead, record)
		}
		after, _ := m.All()
		return of, after - before
	}
	want, whole := printed(false)
	got, rows := printed(true)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("-by their uids +as they were read:\n%s", diff)
	}
	if pods := 4 * 50 * cluster.PodsOfOne; len(got) < pods {
		t.Errorf("only %d are printed", len(got))
	}
	if rows != whole {
		t.Errorf("%d requests for rows, and %d with metadata", rows, whole)
	}
}
