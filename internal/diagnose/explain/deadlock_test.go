package explain_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/kubectl-gc/kubectl-gc/internal/report"
)

// TestDeadlocks: a deadlock is reported with the path to it and the costs of a second delete. (spec
// §3.16, S028, S029)
func TestDeadlocks(t *testing.T) {
	const waiting = "v1 ConfigMap n/top uid=top fin=foregroundDeletion deleting grace=0\n"
	const command = "kubectl delete configmap top -n n --cascade="
	const ends = "background: ends the waiting and lets the object go now; its dependents are collected afterwards"
	const keeps = "orphan: ends the waiting and lets the object go; dependents that are not being deleted yet are kept"
	for _, test := range []struct {
		name, world, want string
		remedies          []string
	}{
		{
			"it blocks itself", "v1 ConfigMap n/top uid=top owners=top! fin=foregroundDeletion deleting grace=0\n",
			"WaitsForItself [top] cm/top is its own owner and blocks its own deletion", []string{ends, keeps},
		},
		{
			"a circle", "v1 ConfigMap n/top uid=top owners=other! fin=foregroundDeletion deleting grace=0\n" +
				"v1 ConfigMap n/other uid=other owners=top! fin=foregroundDeletion deleting grace=0",
			"CycleOfWaiting [top] cm/top and cm/other are all being deleted in the foreground and wait for one another",
			[]string{ends + "; these go, too: cm/other", keeps + "; these go, too: cm/other"},
		},
		{
			"a dependent without a namespace", waiting + "rbac.authorization.k8s.io/v1 ClusterRole role uid=role owners=top!",
			"OwnerRefInvalidNamespace [top role] clusterrole.rbac.authorization.k8s.io/role blocks, is in no namespace and names an owner in one: the garbage collector gives up on it, so that it never goes",
			[]string{ends, keeps + "; these stay, without this owner: clusterrole.rbac.authorization.k8s.io/role"},
		},
		{
			"behind another one", waiting + "v1 ConfigMap n/middle uid=middle owners=top! fin=foregroundDeletion deleting grace=0\n" +
				"rbac.authorization.k8s.io/v1 ClusterRole role uid=role owners=middle!",
			"OwnerRefInvalidNamespace [top middle role] clusterrole.rbac.authorization.k8s.io/role blocks, is in no namespace and names an owner in one: the garbage collector gives up on it, so that it never goes",
			[]string{ends, keeps},
		},
		{"a finalizer", waiting + "v1 ConfigMap n/held uid=held owners=top! fin=x.io/y deleting grace=0", "", []string{"say", ends, keeps}},
		{"it goes", waiting + "v1 ConfigMap n/leaf uid=leaf owners=top!", "", nil},
		{
			"nobody can be released", "v1 ConfigMap n/top uid=top fin=orphan deleting grace=0\nv1 ConfigMap n/a uid=a\nv1 ConfigMap n/b uid=b\n" +
				"v1 ConfigMap n/leaf uid=leaf owners=top,a^,b^",
			"", []string{"background: deletes the object now without orphaning: the dependents that were to be kept are collected"},
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			e := protectedObject(t, test.world)
			if got := deadlockText(e.Deadlock); got != test.want {
				t.Errorf("got  %s\nwant %s", got, test.want)
			}
			var remedies []string
			for _, r := range e.Remedies {
				policy, again := strings.CutPrefix(r.Command, command)
				if !again {
					remedies = append(remedies, "say")
					continue
				}
				remedies = append(remedies, policy+": "+r.Effect)
			}
			if diff := cmp.Diff(test.remedies, remedies); diff != "" {
				t.Errorf("remedies (-want +got):\n%s", diff)
			}
		})
	}
}

func deadlockText(d *report.Deadlock) string {
	if d == nil {
		return ""
	}
	var names []string
	for _, r := range d.Path {
		names = append(names, r.Name)
	}
	return d.Reason + " [" + strings.Join(names, " ") + "] " + d.Message
}
