package engine

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

// A delete has a policy and preconditions, and nothing else: no grace period, no dry run, none of
// the deprecated options.
func TestDeleteOptions(t *testing.T) {
	uid, version := types.UID("u"), "7"
	for _, c := range []struct {
		policy  Policy
		version string
		want    metav1.DeleteOptions
	}{
		{Background, "7", metav1.DeleteOptions{
			PropagationPolicy: new(metav1.DeletePropagationBackground), Preconditions: &metav1.Preconditions{UID: &uid, ResourceVersion: &version},
		}},
		{ForegroundPolicy, "7", metav1.DeleteOptions{
			PropagationPolicy: new(metav1.DeletePropagationForeground), Preconditions: &metav1.Preconditions{UID: &uid, ResourceVersion: &version},
		}},
		{OrphanPolicy, "", metav1.DeleteOptions{
			PropagationPolicy: new(metav1.DeletePropagationOrphan), Preconditions: &metav1.Preconditions{UID: &uid},
		}},
	} {
		if diff := cmp.Diff(c.want, DeleteOptions(c.policy, uid, c.version)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", c.policy, diff)
		}
	}
}
