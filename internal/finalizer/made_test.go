package finalizer

import (
	"testing"

	"github.com/kubectl-gc/kubectl-gc/internal/object"
	"github.com/kubectl-gc/kubectl-gc/internal/snapshot"
)

// TestMayBeMadeFor: the objects of one namespace are enough for a plan only if no controller makes objects for
// its targets elsewhere.
func TestMayBeMadeFor(t *testing.T) {
	gateway := &object.Object{Ref: object.Ref{APIVersion: gatewayGroup + "/v1", Kind: "Gateway", Namespace: "shop", Name: "web", UID: "g"}}
	source := &object.Object{Ref: object.Secret.Ref("shop", "pull"), Labels: object.LabelsOf(map[string]string{cloneSourceLabel: ""})}
	secret := &object.Object{Ref: object.Secret.Ref("shop", "db")}
	for _, c := range []struct {
		served string
		o      *object.Object
		want   bool
	}{
		{envoyGroup, gateway, true}, {contourGroup, gateway, false}, {kyvernoGroup, source, true}, {kyvernoGroup, secret, false},
		{hierarchyGroup, secret, true}, {"", source, false}, {"", gateway, false},
	} {
		snap := &snapshot.Snapshot{Resources: &object.Resources{}}
		snap.Resources.Add(object.Resource{Group: c.served, Version: "v1", Name: "things", Kind: "Thing"})
		if got := NewInventories(snap).MayBeMadeFor(c.o); got != c.want {
			t.Errorf("%s, %s: %t", c.served, c.o.Ref, got)
		}
	}
}
