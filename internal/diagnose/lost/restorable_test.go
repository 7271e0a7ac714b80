package lost

import (
	"slices"
	"testing"

	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-gc/kubectl-gc/internal/history"
	"github.com/kubectl-gc/kubectl-gc/internal/object"
)

// restorables returns an account of a deleted namespace, a deleted CRD, and deletes by other
// controllers.
func restorables() *history.Account {
	at := func(ref object.Ref) *object.Object {
		ref.UID = types.UID("u-" + ref.Kind + "-" + ref.Name)
		return &object.Object{Ref: ref}
	}
	caused := func(o *object.Object, code history.Code, by object.Ref, request int) history.Loss {
		return history.Loss{Object: o, Asked: 100, Gone: 100, Cause: history.Cause{Code: code, By: by, Request: request}}
	}
	ns, web, set := at(object.Namespace.Ref("", "shop")), at(object.Deployment.Ref("shop", "web")), at(object.ReplicaSet.Ref("shop", "web-1"))
	crd := at(object.CRD.Ref("", "lamps.example.com"))
	crd.Edit().Facts = &object.CRDFacts{Group: "example.com", Kind: "Lamp", Plural: "lamps", Namespaced: true, Versions: []object.CRDVersion{{Name: "v1"}, {Name: "v2", Served: true}}}
	lamp := at(object.Ref{APIVersion: "example.com/v2", Kind: "Lamp", Namespace: "park", Name: "l"})
	below := at(object.ConfigMap.Ref("park", "below"))
	below.Owners = []object.OwnerReference{{APIVersion: "example.com/v2", Kind: "Lamp", Name: "l", UID: lamp.UID}}
	perhaps := caused(at(object.Pod.Ref("shop", "perhaps")), history.Evicted, object.Ref{}, -1)
	perhaps.Or = []history.Cause{{Code: history.Requested, Request: -1}}
	return &history.Account{
		Past: &history.Past{From: history.Moment{Revision: 50, Time: 1000}, To: history.Moment{Revision: 200, Time: 1100}, Resources: &object.Resources{}},
		Losses: []history.Loss{
			0: caused(ns, history.Requested, object.Ref{}, 0),
			1: caused(web, history.NamespaceDeleted, ns.Ref, 0),
			2: caused(set, history.OwnerGone, web.Ref, 0),
			3: caused(at(object.Pod.Ref("shop", "evicted")), history.Evicted, object.Ref{}, -1),
			4: perhaps,
			5: caused(crd, history.Requested, object.Ref{}, 1),
			6: caused(lamp, history.DefinitionDeleted, crd.Ref, 1),
			7: caused(below, history.OwnerGone, lamp.Ref, 1),
			8: caused(at(object.Pod.Ref("shop", "replaced")), history.ControllerChanged, object.Ref{}, -1),
			9: caused(at(object.Secret.Ref("park", "collected")), history.OwnerReplaced, lamp.Ref, -1),
		},
		Requests: []history.Request{
			{Losses: []int{0}, At: history.Moment{Revision: 100}, Took: 3}, {Losses: []int{5}, At: history.Moment{Revision: 90}, Took: 3},
		},
	}
}

// TestRestorable: the losses of the question come back with what was deleted with them, and with the
// namespace and the CRD that they need. What another controller deleted comes back only if it is
// named.
func TestRestorable(t *testing.T) {
	for name, test := range map[string]struct {
		q    Question
		want []int
	}{
		"all":                        {Question{}, []int{0, 1, 2, 4, 5, 6, 7, 9}},
		"a namespace":                {Question{Namespace: "shop"}, []int{0, 1, 2, 4}},
		"what is in one without CRD": {Question{Namespace: "park"}, []int{5, 6, 7, 9}},
		"an object":                  {Question{Objects: []object.Ref{object.Deployment.Ref("shop", "web")}}, []int{0, 1, 2}},
		"one that was evicted":       {Question{Objects: []object.Ref{object.Pod.Ref("shop", "evicted")}}, []int{0, 3}},
		"a CRD":                      {Question{Objects: []object.Ref{object.CRD.Ref("", "lamps.example.com")}}, []int{5, 6, 7, 9}},
		"nothing":                    {Question{Namespace: "elsewhere"}, nil},
	} {
		if got := Restorable(restorables(), test.q); !slices.Equal(got, test.want) {
			t.Errorf("%s: %v, want %v", name, got, test.want)
		}
	}
}

// TestOneOfRequest: a question about one of several objects of a request is not about the others, nor
// about what was deleted with them.
func TestOneOfRequest(t *testing.T) {
	loss := func(ref, by object.Ref) history.Loss {
		ref.UID = types.UID("u-" + ref.Name)
		if by.Name != "" {
			by.UID = types.UID("u-" + by.Name)
			return history.Loss{Object: &object.Object{Ref: ref}, Asked: 100, Gone: 100, Cause: history.Cause{Code: history.OwnerGone, By: by}}
		}
		return history.Loss{Object: &object.Object{Ref: ref}, Asked: 100, Gone: 100, Cause: history.Cause{Code: history.Requested}}
	}
	cm := func(name string) object.Ref { return object.ConfigMap.Ref("shop", name) }
	a := &history.Account{
		Past: &history.Past{From: history.Moment{Revision: 50}, To: history.Moment{Revision: 200}},
		Losses: []history.Loss{
			loss(cm("a"), object.Ref{}), loss(cm("b"), object.Ref{}), loss(cm("of-a"), cm("a")), loss(cm("of-b"), cm("b")), loss(cm("of-of-b"), cm("of-b")),
		},
		Requests: []history.Request{{Losses: []int{0, 1}, At: history.Moment{Revision: 100}, Took: 5}},
	}
	q := Question{Objects: []object.Ref{cm("b")}}
	if got := Restorable(a, q); !slices.Equal(got, []int{1, 3, 4}) {
		t.Errorf("%v", got)
	}
	d := Document(a, q)
	if r := d.Requests; len(r) != 1 || len(r[0].Objects) != 1 || r[0].Objects[0].Name != "b" || r[0].Took != 3 || len(d.Losses) != 3 {
		t.Errorf("%+v of %d losses", d.Requests, len(d.Losses))
	}
	if r := Document(a, Question{}).Requests; len(r) != 1 || len(r[0].Objects) != 2 || r[0].Took != 5 {
		t.Errorf("of all: %+v", r)
	}
}

// TestDefinitions: a CRD that is not served comes first, and its former objects are read in a version
// that it served. Those of a CRD that is back are read at once.
func TestDefinitions(t *testing.T) {
	a := restorables()
	gone, back, others := Definitions(a, []int{0, 5, 7})
	if !slices.Equal(gone, []int{5}) || back != nil || !slices.Equal(others, []int{0, 7}) {
		t.Errorf("%v %v %v", gone, back, others)
	}
	want := history.Collection{APIVersion: "example.com/v2", Kind: "Lamp", Namespace: "park", Revision: 89}
	if got := Instances(a, gone, Question{Namespace: "park"}); len(got) != 1 || got[0] != want {
		t.Errorf("%+v", got)
	}
	if got := Below(a, nil, map[types.UID]bool{"u-Lamp-l": true}, ""); !slices.Equal(got, []int{7}) {
		t.Errorf("below the instances: %v", got)
	}
	later := Later(a, gone, Question{Namespace: "park"})
	if later.Then.Command != "kubectl gc undo --since-revision=50 -n park" || later.Remembered != "1970-01-01T00:23:20Z" || len(later.CRDs) != 1 {
		t.Errorf("%+v", later)
	}
	if got := Later(a, gone, Question{Objects: []object.Ref{a.Losses[5].Object.Ref}}).Then.Command; got != "kubectl gc undo --since-revision=50 crd/lamps.example.com" {
		t.Error(got)
	}
	a.Past.Resources.Add(object.Resource{Group: "example.com", Version: "v2", Kind: "Lamp", Name: "lamps", Verbs: object.AllVerbs})
	if gone, back, _ := Definitions(a, []int{0, 5, 7}); gone != nil || !slices.Equal(back, []int{5}) {
		t.Errorf("once it is served: %v %v", gone, back)
	}
}
