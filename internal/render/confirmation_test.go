package render

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

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
		Deletes: 4, Data: []report.Ref{{APIVersion: "v1", Kind: "Secret", Namespace: "a", Name: "key"}},
		Notes: []string{"No backup is made."},
	}
	var b strings.Builder
	if err := ConfirmationText(&b, Style{Width: 80}, c); err != nil {
		t.Fatal(err)
	}
	want := `delete in prod
server:  https://10.0.0.1:6443
cluster: 5e1f
user:    the server does not tell

KIND     OUTCOME                                           COUNT
deploy   deleted                                           1
secret   deleted                                           3
secret   may be deleted                                    1
pod      deleted once a controller removes its finalizer   2
pod      changed if a finalizer comes off                  2

Data is among what is deleted:
  secret/key -n a

No backup is made.
`
	if diff := cmp.Diff(want, b.String()); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
