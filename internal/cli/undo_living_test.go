package cli

import (
	"bytes"
	"slices"
	"testing"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/cli-runtime/pkg/genericiooptions"

	"github.com/kubectl-gc/kubectl-gc/internal/object"
	"github.com/kubectl-gc/kubectl-gc/internal/reason"
	"github.com/kubectl-gc/kubectl-gc/internal/snapshot"
	"github.com/kubectl-gc/kubectl-gc/test/scenario"
)

// TestDependentsNotRead: the unreadable kinds of dependents are listed once, without kinds that
// were left out or can't refer to a namespaced owner.
func TestDependentsNotRead(t *testing.T) {
	coverage := &snapshot.Coverage{}
	for _, r := range scenario.Resources().All() {
		switch {
		case r.Is(object.Secret):
			coverage.Fail(r.GroupResource(), "shop", reason.Forbidden, "no")
		case r.Is(object.Node):
			coverage.Fail(r.GroupResource(), "", reason.Forbidden, "no")
		case r.Namespaced:
			coverage.Add(r.GroupResource(), "shop")
		default:
			coverage.Add(r.GroupResource(), "")
		}
	}
	coverage.LeaveOut("only some namespaces were looked at")
	snap, err := snapshot.New(nil, scenario.Resources(), coverage, snapshot.Source{Discovered: true})
	if err != nil {
		t.Fatal(err)
	}
	for everywhere, want := range map[bool]string{false: "secrets", true: "nodes, secrets"} {
		var errOut bytes.Buffer
		l := &living{streams: genericiooptions.IOStreams{ErrOut: &errOut}}
		l.warn(snap, everywhere)
		l.warn(snap, everywhere)
		want = "warning: cannot read " + want + ": if objects of these types still refer to what is restored, their owner references keep the old uid, and the garbage collector deletes them\n"
		if errOut.String() != want {
			t.Errorf("everywhere %v: got\n%swant\n%s", everywhere, errOut.String(), want)
		}
	}
}

// TestWhereDependentsAre: with a cluster-scoped owner, dependents are looked for everywhere,
// whatever the other owners are.
func TestWhereDependentsAre(t *testing.T) {
	a, b, other := object.ConfigMap.Ref("shop", "a"), object.ConfigMap.Ref("shop", "b"), object.ConfigMap.Ref("other", "c")
	crd := object.CRD.Ref("", "lamps.example.com")
	l := &living{}
	for name, test := range map[string]struct {
		owners []object.Ref
		kinds  []schema.GroupKind
		want   []string
	}{
		"in namespaces":        {owners: []object.Ref{a, other, b}, want: []string{"other", "shop"}},
		"without one":          {owners: []object.Ref{a, crd}},
		"without one, first":   {owners: []object.Ref{crd, a}},
		"of unknown instances": {owners: []object.Ref{a}, kinds: []schema.GroupKind{{Group: "example.com", Kind: "Lamp"}}},
	} {
		if got := l.scope(test.owners, test.kinds).Namespaces; !slices.Equal(got, test.want) {
			t.Errorf("%s: %v, want %v", name, got, test.want)
		}
	}
}
