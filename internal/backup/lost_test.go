package backup

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubectl-gc/kubectl-gc/internal/object"
	"github.com/kubectl-gc/kubectl-gc/internal/past"
)

// remembered is a record with objects in a range of revisions.
type remembered struct {
	past.Source
	objects []memory
	oldest  uint64
	fails   error
	asked   int
}

type memory struct {
	ref       object.Ref
	from, end uint64
}

func (r *remembered) Bodies(_ context.Context, of past.Collection, take func([]byte) error) error {
	r.asked++
	switch {
	case r.fails != nil:
		return r.fails
	case of.Revision < r.oldest:
		return apierrors.NewResourceExpired("too old")
	case of.Kind == "Gone":
		return &object.UnknownKindError{APIVersion: of.APIVersion, Kind: of.Kind}
	}
	for _, m := range r.objects {
		if m.ref.Kind != of.Kind || m.ref.Namespace != of.Namespace && of.Namespace != "" || of.Name != "" && of.Name != m.ref.Name || of.Revision < m.from || of.Revision >= m.end {
			continue
		}
		for range 2 { // a list may restart
			if err := take(bytesOf(m.ref, fmt.Sprint(of.Revision))); err != nil {
				return err
			}
		}
	}
	return nil
}

// lossOf returns the loss of an object at revision asked, caused by the request with that number,
// or by none for 0.
func lossOf(r object.Ref, asked uint64, request int) past.Loss {
	return past.Loss{Object: &object.Object{Ref: r}, Began: asked, Gone: asked, Cause: past.Cause{Request: request}}
}

func accountOf(losses ...past.Loss) *past.Account {
	return &past.Account{
		Past: &past.Record{From: past.Moment{Revision: 50}}, Losses: losses,
		Requests: []past.Request{{At: past.Moment{Revision: 100}}},
	}
}

func kept(t *testing.T, r past.Source, l Losses) []string {
	t.Helper()
	saved, err := KeepLost(t.Context(), r, t.TempDir(), Head{Tool: "v", Created: noon, Secrets: true}, l)
	must(t, err)
	b := open(t, saved.Path)
	if len(b.Entries) < saved.Objects {
		t.Errorf("%d entries for %d objects", len(b.Entries), saved.Objects)
	}
	var got []string
	for i := range b.Entries {
		e := &b.Entries[i]
		got = append(got, fmt.Sprintf("%s %s %s%s", e.Object.Kind+"/"+e.Object.Name, e.ResourceVersion, e.Action, e.Why))
	}
	return got
}

// TestKeepLost: each loss is saved as it was before its request; one created after that, as it was
// before its own deletion; a forgotten one without its bytes.
func TestKeepLost(t *testing.T) {
	r := &remembered{oldest: 50}
	var losses []past.Loss
	for i := range 20 {
		c := ref("ConfigMap", fmt.Sprintf("c%02d", i))
		r.objects, losses = append(r.objects, memory{c, 1, 120}), append(losses, lossOf(c, 120, 0))
	}
	late, secret, gone, before := ref("Pod", "late"), ref("Secret", "s"), ref("Gone", "g"), ref("Pod", "before")
	r.objects = append(r.objects, memory{late, 105, 111}, memory{secret, 1, 60}, memory{before, 1, 51})
	losses = append(losses, lossOf(late, 111, 0), lossOf(secret, 60, -1), lossOf(gone, 70, -1), lossOf(before, 0, -1), lossOf(ref("Pod", "never"), 70, -1))
	orphaned := lossOf(secret, 55, -1)
	orphaned.Orphaned = true
	a := accountOf(append(losses, orphaned)...)
	got := kept(t, r, Losses{Account: a, Which: []int{0, 1, 2, 3, 4, 5, 6, 7, 8, 20, 21, 22, 23, 24}})
	want := []string{
		"ConfigMap/c00 99 deleted", "ConfigMap/c01 99 deleted", "ConfigMap/c02 99 deleted", "ConfigMap/c03 99 deleted", "ConfigMap/c04 99 deleted",
		"ConfigMap/c05 99 deleted", "ConfigMap/c06 99 deleted", "ConfigMap/c07 99 deleted", "ConfigMap/c08 99 deleted",
		"Gone/g  deletedForgotten", "Pod/before 50 deleted", "Pod/never  deletedForgotten", "Pod/late 110 deleted", "Secret/s 59 deleted",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	// One list for each kind and namespace at a revision: ConfigMap at 99, Gone at 69, Pod at 50,
	// 69 and 99, Secret at 59, and again Pod at 110.
	if r.asked != 7 {
		t.Errorf("%d lists for 14 objects", r.asked)
	}
	if got := kept(t, r, Losses{Account: a, Which: []int{25}}); len(got) != 1 || got[0] != "Secret/s 54 changed" {
		t.Errorf("what lost its owner: %v", got)
	}
}

// TestKeepLostWithEarlier: objects in an earlier backup are kept even if the record has forgotten
// them.
func TestKeepLostWithEarlier(t *testing.T) {
	a, b, lamp := ref("ConfigMap", "a"), ref("ConfigMap", "b"), ref("Lamp", "l")
	r := &remembered{oldest: 50, objects: []memory{{a, 1, 100}, {b, 1, 100}, {lamp, 1, 100}}}
	account := accountOf(lossOf(a, 100, 0), lossOf(b, 100, 0))
	saved, err := KeepLost(t.Context(), r, t.TempDir(), Head{Tool: "v", Created: noon}, Losses{Account: account, Which: []int{0, 1}})
	must(t, err)
	earlier := open(t, saved.Path)
	whole := []past.Collection{{APIVersion: "v1", Kind: "Lamp", Revision: 99}}
	want := []string{"Lamp/l 99 deleted", "ConfigMap/a 99 deleted", "ConfigMap/b 99 deleted"}
	if diff := cmp.Diff(want, kept(t, r, Losses{Account: account, Whole: whole, Which: []int{0}, Earlier: earlier})); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	r.oldest = 200
	want = []string{"ConfigMap/a 99 deleted", "ConfigMap/b 99 deleted"}
	if diff := cmp.Diff(want, kept(t, r, Losses{Account: account, Which: []int{0}, Earlier: earlier})); diff != "" {
		t.Errorf("forgotten by now: -want +got:\n%s", diff)
	}
	if _, err := KeepLost(t.Context(), r, t.TempDir(), head, Losses{Account: account, Whole: whole}); err == nil {
		t.Error("nobody knows which Lamps there were, and it is no error")
	}
}

// present is a cluster with some objects, which records the queries.
type present struct {
	remembered
	owners []object.Ref
	kinds  []schema.GroupKind
	closed error
}

func (p *present) Dependents(_ context.Context, owners []object.Ref, kinds []schema.GroupKind) ([]object.Ref, int, error) {
	p.owners, p.kinds = owners, kinds
	if p.closed != nil {
		return nil, 0, p.closed
	}
	var refs []object.Ref
	for _, m := range p.objects {
		refs = append(refs, m.ref)
	}
	return append(refs, ref("ConfigMap", "collected")), 3, nil
}

// TestKeepLiving: existing dependents of deleted objects are saved in their current state, since
// the collector may delete them. An orphaned object is not a deleted owner.
func TestKeepLiving(t *testing.T) {
	cart, config := ref("Cart", "c"), ref("ConfigMap", "of-c")
	r := &remembered{oldest: 50, objects: []memory{{cart, 1, 100}, {config, 1, 100}}}
	orphaned := lossOf(config, 100, 0)
	orphaned.Orphaned = true
	account := accountOf(lossOf(cart, 100, 0), orphaned)
	kinds := []schema.GroupKind{{Group: "example.com", Kind: "Lamp"}}
	now := &present{}
	for i := range 2 * fewToList {
		now.objects = append(now.objects, memory{ref("Pod", fmt.Sprintf("p%02d", i)), 0, 1})
	}
	now.objects = append(now.objects, memory{ref("Secret", "key"), 0, 1}, memory{config, 0, 1})
	got := kept(t, r, Losses{Account: account, Which: []int{0, 1}, Living: now, Kinds: kinds})
	want := []string{"Cart/c 99 deleted", "ConfigMap/of-c 99 changed"}
	for i := range 2 * fewToList {
		want = append(want, fmt.Sprintf("Pod/p%02d 0 changed", i))
	}
	if diff := cmp.Diff(append(want, "Secret/key 0 changed"), got); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	if diff := cmp.Diff([]object.Ref{cart}, now.owners); diff != "" || !slices.Equal(now.kinds, kinds) {
		t.Errorf("asked about %v: -want +got:\n%s", now.kinds, diff)
	}
	if now.asked != 3 { // for three kinds
		t.Errorf("%d lists for %d objects", now.asked, len(now.objects))
	}
}

// TestKeepLivingFails: losses are saved even if existing objects can't be read, since the server
// forgets them within minutes.
func TestKeepLivingFails(t *testing.T) {
	a := ref("ConfigMap", "a")
	r := &remembered{oldest: 50, objects: []memory{{a, 1, 100}}}
	refused := errors.New("connection refused")
	for name, now := range map[string]*present{"found": {closed: refused}, "read": {remembered: remembered{objects: []memory{{ref("Secret", "s"), 0, 1}}, fails: refused}}} {
		saved, err := KeepLost(t.Context(), r, t.TempDir(), Head{Tool: "v", Created: noon}, Losses{Account: accountOf(lossOf(a, 100, 0)), Which: []int{0}, Living: now})
		if err != nil || !errors.Is(saved.Unknown, refused) || saved.Objects != 1 {
			t.Errorf("what is there cannot be %s: %+v, %v", name, saved, err)
		}
		if b := open(t, saved.Path); len(b.Entries) != 1 {
			t.Errorf("what is there cannot be %s: the backup has %d objects", name, len(b.Entries))
		}
	}
}

// TestKeepLostFails: a failed read is not taken for an empty past.
func TestKeepLostFails(t *testing.T) {
	a := ref("ConfigMap", "a")
	for _, r := range []*remembered{
		{fails: errors.New("connection refused")},
		{fails: apierrors.NewForbidden(object.ConfigMap.Resource().GroupResource(), "", nil)},
	} {
		saved, err := KeepLost(t.Context(), r, t.TempDir(), head, Losses{Account: accountOf(lossOf(a, 100, 0)), Which: []int{0}})
		if !errors.Is(err, r.fails) {
			t.Errorf("%v", err)
		}
		if _, err := Open(saved.Path, nil); !errors.Is(err, ErrUnsealed) {
			t.Errorf("a backup that is not whole can be opened: %v", err)
		}
	}
}

// contents is a record that holds the same objects at every revision.
type contents struct {
	past.Source
	objects map[string][]string // by kind
	refused string
}

func (r *contents) Bodies(_ context.Context, of past.Collection, take func([]byte) error) error {
	if of.Kind == r.refused {
		return apierrors.NewForbidden(schema.GroupResource{Resource: "x"}, "", errors.New("not for you"))
	}
	for _, text := range r.objects[of.Kind] {
		if err := take([]byte(text)); err != nil {
			return err
		}
	}
	return nil
}

// TestKeepRewritten: with a token, the ServiceAccount that named it is kept, and with a ClusterRole
// those that aggregated it, as a backup of a run has them. What was deleted itself is kept once.
func TestKeepRewritten(t *testing.T) {
	r := &contents{objects: map[string][]string{
		"Secret": {
			`{"type":"kubernetes.io/service-account-token","metadata":{"namespace":"shop","name":"token","uid":"u-Secret-token","resourceVersion":"1","annotations":{"kubernetes.io/service-account.name":"ci","kubernetes.io/service-account.uid":"u-ci"}}}`,
			`{"type":"Opaque","metadata":{"namespace":"shop","name":"other","uid":"u-Secret-other","resourceVersion":"1"}}`,
		},
		"ServiceAccount": {
			`{"metadata":{"namespace":"shop","name":"ci","uid":"u-ci","resourceVersion":"2"},"secrets":[{"name":"token"}]}`,
			`{"metadata":{"namespace":"shop","name":"of-other","uid":"u-of-other","resourceVersion":"2"},"secrets":[{"name":"other"}]}`,
			`{"metadata":{"namespace":"shop","name":"of-another-account","uid":"u-another","resourceVersion":"2"},"secrets":[{"name":"token"}]}`,
			`{"metadata":{"namespace":"shop","name":"none","uid":"u-none","resourceVersion":"2"}}`,
		},
		"ClusterRole": {
			`{"metadata":{"name":"part","uid":"u-part","resourceVersion":"1","labels":{"to":"edit"}}}`,
			`{"metadata":{"name":"edit","uid":"u-edit","resourceVersion":"3"},"aggregationRule":{"clusterRoleSelectors":[{"matchLabels":{"to":"edit"}}]}}`,
			`{"metadata":{"name":"view","uid":"u-view","resourceVersion":"3"},"aggregationRule":{"clusterRoleSelectors":[{"matchLabels":{"to":"view"}}]}}`,
		},
	}}
	role := object.ClusterRole.Ref("", "part")
	role.UID = "u-part"
	secrets := [2]object.Ref{object.Secret.Ref("shop", "token"), object.Secret.Ref("shop", "other")}
	secrets[0].UID, secrets[1].UID = "u-Secret-token", "u-Secret-other"
	losses := Losses{Account: accountOf(lossOf(secrets[0], 60, -1), lossOf(secrets[1], 60, -1), lossOf(role, 60, -1)), Which: []int{0, 1, 2}}
	want := []string{
		"ClusterRole/part 1 deleted", "Secret/token 1 deleted", "Secret/other 1 deleted", "ServiceAccount/ci 2 changed", "ClusterRole/edit 3 changed",
	}
	got := kept(t, r, losses)
	slices.Sort(got)
	slices.Sort(want)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	r.refused = "ServiceAccount"
	saved, err := KeepLost(t.Context(), r, t.TempDir(), Head{Tool: "v", Created: noon, Secrets: true}, losses)
	if err != nil || !apierrors.IsForbidden(saved.Unread) || saved.Objects != 4 {
		t.Errorf("%+v, %v", saved, err)
	}
}
