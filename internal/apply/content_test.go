package apply

import (
	"testing"

	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-gc/kubectl-gc/internal/object"
)

// Two versions have the same content when nobody but the cluster has written between
// them.
func TestContent(t *testing.T) {
	const was = `{"metadata":{"name":"a","resourceVersion":"1","generation":1,"labels":{"a":"b"},"ownerReferences":[{"uid":"1"}]},"spec":{"n":9007199254740993},"status":{"ready":true}}`
	for name, x := range map[string]struct {
		is   string
		same bool
	}{
		"version and references": {`{"metadata":{"name":"a","resourceVersion":"2","generation":1,"labels":{"a":"b"}},"spec":{"n":9007199254740993},"status":{"ready":true}}`, true},
		"being deleted":          {`{"metadata":{"name":"a","resourceVersion":"2","generation":2,"labels":{"a":"b"},"deletionTimestamp":"x","deletionGracePeriodSeconds":0,"finalizers":["f"]},"spec":{"n":9007199254740993},"status":{"ready":true}}`, true},
		"status":                 {`{"metadata":{"name":"a","labels":{"a":"b"},"managedFields":[]},"spec":{"n":9007199254740993},"status":{"ready":false}}`, true},
		"another order":          {`{"spec":{"n":9007199254740993},"metadata":{"labels":{"a":"b"},"name":"a"}}`, true},
		"spec":                   {`{"metadata":{"name":"a","labels":{"a":"b"}},"spec":{"n":9007199254740992}}`, false},
		"label":                  {`{"metadata":{"name":"a"},"spec":{"n":9007199254740993}}`, false},
		"annotation":             {`{"metadata":{"name":"a","labels":{"a":"b"},"annotations":{"a":"b"}},"spec":{"n":9007199254740993}}`, false},
		"another field":          {`{"metadata":{"name":"a","labels":{"a":"b"}},"spec":{"n":9007199254740993},"data":{}}`, false},
	} {
		a, err := contentOf([]byte(was))
		if err != nil {
			t.Fatal(err)
		}
		b, err := contentOf([]byte(x.is))
		if err != nil || (a == b) != x.same {
			t.Errorf("%s: the same %t, want %t; %v", name, a == b, x.same, err)
		}
	}
	for _, broken := range []string{"", "null", "[]", `{"metadata":1}`} {
		if c, err := contentOf([]byte(broken)); err == nil {
			t.Errorf("%q has the content %x", broken, c)
		}
	}
}

func TestUnforeseen(t *testing.T) {
	ref := func(uid types.UID, blocks object.Flag) object.OwnerReference {
		return object.OwnerReference{APIVersion: "v1", Kind: "ConfigMap", Name: string(uid), UID: uid, BlockOwnerDeletion: blocks}
	}
	one := func(deleting bool, finalizers []string, owners ...object.OwnerReference) *object.Object {
		o := &object.Object{Owners: owners}
		o.Edit().Finalizers = finalizers
		if deleting {
			o.Edit().DeletionTimestamp = 1
		}
		return o
	}
	going, stays := ref("going", object.True), ref("stays", object.True)
	leaving := map[types.UID]bool{"going": true}
	for name, x := range map[string]struct {
		was, is *object.Object
		want    string
	}{
		"nothing":                     {one(false, nil, going), one(false, nil, going), ""},
		"released":                    {one(false, nil, going, stays), one(false, nil, stays), ""},
		"told not to block":           {one(false, nil, going), one(false, nil, ref("going", object.False)), ""},
		"deleted":                     {one(false, nil, going), one(true, nil, going), ""},
		"deleted in the foreground":   {one(false, nil, going), one(true, []string{object.Foreground}, going), ""},
		"dealt with":                  {one(true, []string{object.Orphan}), one(true, nil), ""},
		"its controller is through":   {one(false, []string{"a/b"}), one(true, nil), ""},
		"released by somebody":        {one(false, nil, stays), one(false, nil), "it is not owned by ConfigMap stays any more"},
		"told to block":               {one(false, nil, ref("going", object.False)), one(false, nil, going), "it is owned by ConfigMap going now"},
		"adopted":                     {one(false, nil, going), one(false, nil, stays), "it is owned by ConfigMap stays now"},
		"held":                        {one(false, nil), one(true, []string{"a/b"}), "it has finalizer a/b now"},
		"orphaned by somebody":        {one(false, nil), one(true, []string{object.Orphan}), "it has finalizer orphan now"},
		"somebody took a finalizer":   {one(false, []string{"a/b"}), one(false, nil), "it does not have finalizer a/b any more"},
		"a finalizer, not a deletion": {one(false, nil), one(false, []string{object.Foreground}), "it has finalizer foregroundDeletion now"},
	} {
		if got := unforeseen(x.was, x.is, leaving); got != x.want {
			t.Errorf("%s: %q, want %q", name, got, x.want)
		}
	}
}
