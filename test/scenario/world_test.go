package scenario

import (
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/kubectl-gc/kubectl-gc/internal/object"
)

// What is printed can be read again, and then is the same.
func TestFormatRoundTrip(t *testing.T) {
	name := rapid.StringMatching(`[a-z][a-z0-9:.-]{0,5}`)
	flag := rapid.SampledFrom([]object.Flag{object.Unset, object.False, object.True})
	grace := rapid.Map(rapid.Int64Range(-1, 90), func(n int64) *int64 { return &n })
	owner := rapid.Custom(func(t *rapid.T) object.OwnerReference {
		return object.OwnerReference{
			APIVersion: rapid.SampledFrom([]string{"v1", "apps/v1", ""}).Draw(t, "apiVersion"), Kind: "Pod",
			Name: name.Draw(t, "name"), UID: uid(rapid.StringMatching(`[a-z0-9-]{0,4}`).Draw(t, "uid")),
			Controller: flag.Draw(t, "controller"), BlockOwnerDeletion: flag.Draw(t, "block"),
		}
	})
	rapid.Check(t, func(t *rapid.T) {
		o := &object.Object{ResourceVersion: "7", Generation: rapid.Int64Range(0, 3).Draw(t, "gen")}
		o.Ref = object.Ref{
			APIVersion: "v1", Kind: rapid.SampledFrom([]string{"Pod", "Namespace", "CustomResourceDefinition", "ConfigMap", "Job", "PersistentVolume", "ResourceClaim", "ServiceCIDR", "IPAddress", "Secret", "StatefulSet"}).Draw(t, "kind"),
			Namespace: rapid.SampledFrom([]string{"", "shop"}).Draw(t, "namespace"), Name: name.Draw(t, "name"), UID: "me",
		}
		o.Owners = rapid.SliceOfN(owner, 0, 3).Draw(t, "owners")
		o.Labels = object.LabelsOf(rapid.MapOfN(name, rapid.SampledFrom([]string{"", "v", "a=b"}), 0, 2).Draw(t, "labels"))
		life := o.Edit()
		life.Finalizers = rapid.SliceOfN(rapid.SampledFrom([]string{"x/y", "orphan"}), 0, 2).Draw(t, "fin")
		life.Revision = rapid.Uint32Range(0, 2).Draw(t, "revision")
		life.GracePeriod = rapid.OneOf(rapid.Just[*int64](nil), grace).Draw(t, "grace")
		if rapid.Bool().Draw(t, "deleting") {
			life.DeletionTimestamp = Start + rapid.Int64Range(-1, 1).Draw(t, "when")
		}
		switch {
		case o.Kind == "Pod" && rapid.Bool().Draw(t, "facts"):
			p := &object.PodFacts{
				NodeName: rapid.SampledFrom([]string{"", "n1"}).Draw(t, "node"), Phase: rapid.SampledFrom([]string{"", "Failed"}).Draw(t, "phase"),
				Mirror: rapid.Bool().Draw(t, "mirror"), TerminationGracePeriod: rapid.OneOf(rapid.Just[*int64](nil), grace).Draw(t, "period"),
			}
			if p.VolumesKnown = rapid.Bool().Draw(t, "volumes"); p.VolumesKnown {
				p.Claims = rapid.SampledFrom([][]object.Claim{nil, {{Name: "a"}}, {{Name: "a"}, {Name: "b-c", Ephemeral: true}}}).Draw(t, "claims")
			}
			life.Facts = p
		case o.Kind == "Job" && rapid.Bool().Draw(t, "facts"):
			life.Facts = &object.JobFacts{Finished: rapid.Bool().Draw(t, "finished"), ManagedBy: rapid.SampledFrom([]string{"", "x.io/y"}).Draw(t, "managed")}
		case o.Kind == "PersistentVolume" && rapid.Bool().Draw(t, "facts"):
			life.Facts = rapid.SampledFrom([]*object.PVFacts{{}, {Phase: "Bound", ClaimNamespace: "shop", ClaimName: "c", ClaimUID: "u"},
				{ReclaimPolicy: "Delete", Provisioner: "a.b", MigratedTo: "c.d", CSI: true}}).Draw(t, "volume")
		case o.Kind == "ResourceClaim" && rapid.Bool().Draw(t, "facts"):
			life.Facts = &object.ResourceClaimFacts{Reserved: rapid.SampledFrom([][]object.Reservation{nil, {{Resource: "pods", Name: "p", UID: "u"}, {Resource: "x", Name: "y"}}}).Draw(t, "users")}
		case o.Kind == "IPAddress" && rapid.Bool().Draw(t, "facts"):
			life.Facts = &object.IPAddressFacts{Resource: "services", Namespace: "shop", Name: "web"}
		case o.Kind == "StatefulSet" && rapid.Bool().Draw(t, "facts"):
			life.Facts = &object.StatefulSetFacts{ClaimTemplates: rapid.SampledFrom([][]string{nil, {"data", "log"}}).Draw(t, "templates")}
		case o.Kind == "Secret" && rapid.Bool().Draw(t, "facts"):
			life.Facts = rapid.SampledFrom([]*object.Token{{Account: "ci", AccountUID: "u", Sure: true}, {Account: "ci", Sure: true}, {Account: "ci", AccountUID: "u"}}).Draw(t, "token")
		case o.Kind == "ServiceCIDR" && rapid.Bool().Draw(t, "facts"):
			life.Facts = &object.ServiceCIDRFacts{CIDRs: rapid.SampledFrom([][]string{nil, {"10.0.0.0/8", "fd00::/112"}}).Draw(t, "cidrs")}
		case o.Kind == "Namespace" && rapid.Bool().Draw(t, "facts"):
			life.Facts = &object.NamespaceFacts{Phase: "Active", Finalizers: rapid.SampledFrom([][]string{nil, {"kubernetes", "a/b"}}).Draw(t, "spec")}
		case o.Kind == "CustomResourceDefinition":
			life.Facts = &object.CRDFacts{
				Group: "g.com", Kind: "K", Plural: "ks", Versions: []object.CRDVersion{{Name: "v1", Served: true, Storage: true}},
				Namespaced: rapid.Bool().Draw(t, "namespaced"), Established: rapid.Bool().Draw(t, "established"), Terminating: rapid.Bool().Draw(t, "terminating"),
			}
		}
		names := Names{"me": o.Ref}
		line := Format(o, names)
		back, err := ParseWorld(line, Names{})
		if err != nil {
			t.Fatalf("%s: %v", line, err)
		}
		if !object.Equal(o, back[0]) {
			t.Fatalf("%s\ncame back as\n%s", line, Format(back[0], names))
		}
	})
}

func TestReferencesByUID(t *testing.T) {
	names := Names{}
	objects, err := ParseWorld(`
v1 Pod shop/p uid=p owners=r!^
# a comment
apps/v1 ReplicaSet shop/web uid=r
v1 Pod shop/q uid=q owners=apps/v1:ReplicaSet:other:r
`, names)
	if err != nil {
		t.Fatal(err)
	}
	if got := objects[0].Owners[0]; got.Kind != "ReplicaSet" || got.Name != "web" || got.Controller != object.True || !got.Blocks() {
		t.Errorf("got %+v", got)
	}
	if got, want := Format(objects[2], names), "v1 Pod shop/q uid=q owners=[apps/v1:ReplicaSet:other:r] rv=1"; got != want {
		t.Errorf("got %s\nwant %s", got, want)
	}
}

func TestParseWorldRefuses(t *testing.T) {
	for text, want := range map[string]string{
		"v1 ConfigMap shop/a\nv1 ConfigMap":              "line 2",
		"v1 ConfigMap uid=a":                             "[namespace/]name",
		"v1 ConfigMap shop/a colour=blue":                `no attribute "colour"`,
		"v1 ConfigMap shop/a node=n1":                    `no attribute "node"`,
		"v1 ConfigMap shop/a fin":                        `"fin" wants a value`,
		"v1 ConfigMap shop/a owners=b":                   "no object of the scenario has this UID",
		"v1 ConfigMap shop/a uid=a owners=a!x":           "no mark",
		"v1 ConfigMap shop/a deleting=soon":              "not a number",
		"v1 ConfigMap shop/a grace=long":                 "not a number",
		"v1 ConfigMap shop/a labels=app":                 "key=value",
		"v1 CustomResourceDefinition ks.g.com defines=K": "defines=K",
		"v1 PersistentVolume pv claim=c":                 "namespace/name:uid",
	} {
		_, err := ParseWorld(text, Names{})
		if err == nil || !strings.Contains(err.Error(), want) || !strings.HasPrefix(err.Error(), "line ") {
			t.Errorf("%s: got %v, want %q with a line", text, err, want)
		}
	}
}
