package apply

import (
	"testing"

	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-gc/kubectl-gc/internal/object"
)

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
		if got := unexpectedChange(x.was, x.is, leaving); got != x.want {
			t.Errorf("%s: %q, want %q", name, got, x.want)
		}
	}
}
