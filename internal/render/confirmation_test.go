package render

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/kubectl-gc/kubectl-gc/internal/object"
	"github.com/kubectl-gc/kubectl-gc/internal/report"
)

func TestConfirmationText(t *testing.T) {
	c := &report.Confirmation{
		Verb: "delete", Context: "prod", Server: "https://10.0.0.1:6443", ClusterUID: "5e1f",
		Counts: []report.ConsequenceCount{
			{APIVersion: "apps/v1", Kind: "Deployment", Change: report.ChangeDeleted, When: report.AtOnce, Certainty: report.Sure, Count: 1},
			{APIVersion: "v1", Kind: "Secret", Change: report.ChangeDeleted, When: report.AtOnce, Certainty: report.Sure, Count: 3},
			{APIVersion: "v1", Kind: "Secret", Change: report.ChangeDeleted, When: report.AtOnce, Certainty: report.Undecided, Count: 1},
			{APIVersion: "v1", Kind: "Pod", Change: report.ChangeDeleted, When: report.FinalizerRemoved, Certainty: report.Sure, Count: 2},
			{APIVersion: "v1", Kind: "Pod", Change: report.ChangeEdited, When: report.FinalizerRemoved, Certainty: report.Possible, Count: 2},
		},
		Deletes: 4, Data: []object.Ref{{APIVersion: "v1", Kind: "Secret", Namespace: "a", Name: "key"}},
		Notes: []string{"No backup is made."},
	}
	var b strings.Builder
	if err := ConfirmationText(&b, Style{Width: 80}, c); err != nil {
		t.Fatal(err)
	}
	want := `delete in prod
server:  https://10.0.0.1:6443
cluster: 5e1f
user:    unknown

KIND     OUTCOME                                           COUNT
deploy   deleted                                           1
secret   deleted                                           3
secret   may be deleted                                    1
pod      deleted once a controller removes its finalizer   2
pod      changed if a finalizer is removed                 2

Data is among the deleted objects:
  secret/key -n a

No backup is made.
`
	if diff := cmp.Diff(want, b.String()); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// TestConfirmationPrompt: the prompt is one sentence for every command.
func TestConfirmationPrompt(t *testing.T) {
	refs := func(kind string, n int) []object.Ref {
		list := make([]object.Ref, n)
		for i := range list {
			list[i] = object.Ref{APIVersion: "v1", Kind: kind, Name: "x"}
		}
		return list
	}
	for want, c := range map[string]report.Confirmation{
		"to delete pvc/data:":                                             {Deletes: 1, Only: &object.Ref{APIVersion: "v1", Kind: "PersistentVolumeClaim", Namespace: "shop", Name: "data"}},
		"to delete 170 objects, 6 of them PVCs:":                          {Deletes: 170, Data: refs("PersistentVolumeClaim", 6)},
		"to delete 3 objects, all of them Secrets:":                       {Deletes: 3, Data: refs("Secret", 3)},
		"to delete up to 9 objects:":                                      {Deletes: 9, UpTo: true},
		"to delete 9 objects, 1 of them a PV and 2 Secrets:":              {Deletes: 9, Data: append(refs("PersistentVolume", 1), refs("Secret", 2)...)},
		"to remove 2 finalizers and delete 9 objects, 2 of them Secrets:": {Deletes: 9, Removes: 2, Data: refs("Secret", 2)},
		"to remove 1 finalizer:":                                          {Removes: 1},
		"to restore 12 objects:":                                          {Restores: 12},
		"to change 4 objects:":                                            {Counts: []report.ConsequenceCount{{Change: report.ChangeEdited, Count: 4}}},
	} {
		c.Context = "prod-eu"
		if got := ConfirmationPrompt(Style{}, &c); got != "Type the name of the context (prod-eu) "+want {
			t.Errorf("%s, want %s", got, want)
		}
	}
	if got := ConfirmationPrompt(Style{}, &report.Confirmation{Server: "https://x\x1b", Removes: 1}); got != `Type the name of the server (https://x\x1b) to remove 1 finalizer:` {
		t.Error(got)
	}
}

// TestObstaclesText: a refusal names the obstacles, and what unlocks them.
func TestObstaclesText(t *testing.T) {
	pvc := object.Ref{APIVersion: "v1", Kind: "PersistentVolumeClaim", Namespace: "shop", Name: "data"}
	one := []object.Ref{{APIVersion: "v1", Kind: "Namespace", Name: "shop"}}
	got := ObstaclesText([]report.Obstacle{
		{Reason: "ProtectedKind", Objects: one, Unlock: "namespace"},
		{Reason: "ProtectedKind", Objects: []object.Ref{pvc, pvc, pvc, pvc, pvc}, Unlock: "pvc"},
		{Reason: "ProtectedNamespace", Objects: one},
		{Reason: "ProtectedByAnnotation", Objects: one},
		{Reason: "ProtectedByHelm", Objects: one, Unlock: "helm"},
		{Reason: "UnseenObject", Objects: one},
		{Reason: "LeaksOutside", Objects: one, Finalizer: "a/b", Message: "it stands for something", Unlock: "leak"},
		{Reason: "TooManyDeletes", Planned: 7, Limit: 5},
	})
	want := `
  ns/shop is protected by its kind (--unlock=namespace)
  pvc/data -n shop, pvc/data -n shop, pvc/data -n shop and 2 more are protected by their kind (--unlock=pvc)
  ns/shop is protected: the cluster depends on the namespace; no option unlocks this
  ns/shop is protected by its annotation kubectl-gc.io/protect; no option unlocks this: remove the annotation first
  ns/shop is protected by its annotation helm.sh/resource-policy: keep (--unlock=helm)
  ns/shop could not be read: unknown whether an annotation protects it
  finalizer a/b of ns/shop: it stands for something (--unlock=leak)
  the plan deletes 7 objects, at most 5 are allowed`
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestAnswersText(t *testing.T) {
	pod := object.Ref{APIVersion: "v1", Kind: "Pod", Namespace: "shop", Name: "web"}
	accepted := report.Answer{Object: pod, Verb: "DELETE"}
	refused, untried := accepted, accepted
	refused.Refused, untried.Untried = "denied by a webhook", "it may know no dry run"
	for want, answers := range map[string][]report.Answer{
		"The API server tried 2 requests and would accept 2.": {accepted, accepted},
		"The API server tried no requests.\n  not tried: DELETE pod/web -n shop, DELETE pod/web -n shop, DELETE pod/web -n shop and 1 more: it may know no dry run": {untried, untried, untried, untried},
		"The API server tried 2 requests and would accept 1.\n  DELETE pod/web -n shop would be refused: denied by a webhook\n" +
			"  not tried: DELETE pod/web -n shop: it may know no dry run": {accepted, refused, untried},
	} {
		if diff := cmp.Diff(want, AnswersText(answers)); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
	}
}
