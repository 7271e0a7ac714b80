package scenario

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-gc/kubectl-gc/internal/apisim"
	"github.com/kubectl-gc/kubectl-gc/internal/object"
)

func TestFaults(t *testing.T) {
	at := object.Ref{APIVersion: "v1", Kind: "ConfigMap", Namespace: "n"}
	web, db := at, at
	web.Name, db.Name = "web-1", "db"
	s := apisim.New([]*object.Object{{Ref: web, ResourceVersion: "1"}, {Ref: db, ResourceVersion: "2"}}, Resources())
	deletes, err := parseRule("verb=delete kind=ConfigMap namespace=n name=web-* err=Forbidden times=2")
	if err != nil {
		t.Fatal(err)
	}
	f := &faults{API: s}
	f.add(deletes)
	var got []string
	for range 3 {
		got = append(got, fmt.Sprint(apierrors.ReasonForError(f.Delete(t.Context(), web, metav1.DeleteOptions{}))))
	}
	if want := []string{"Forbidden", "Forbidden", ""}; !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
	if _, err := f.Get(t.Context(), db); err != nil {
		t.Error(err)
	}
	if err := f.Patch(t.Context(), db, object.Patch{}); err != nil {
		t.Error(err)
	}
	if _, err := f.Resource("v1", "ConfigMap"); err != nil {
		t.Error(err)
	}
	for name := range answers {
		f := &faults{API: s}
		f.add(rule{err: name})
		if _, err := f.Get(t.Context(), db); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
}

func TestRuleRefused(t *testing.T) {
	for text, want := range map[string]string{
		"verb=eat err=Forbidden":    `no verb "eat"`,
		"kind=ConfigMap":            "err is missing",
		"err=Boredom":               `no error "Boredom"`,
		"err=Forbidden times=0":     "times=0",
		"err=Forbidden name=[":      "name=[",
		"err=Forbidden colour=blue": `no key "colour"`,
		"err=Forbidden kind":        `"kind" is not of the form`,
		"err=Forbidden kind=":       `"kind=" is not of the form`,
	} {
		if _, err := parseRule(text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got %v, want %q", text, err, want)
		}
	}
}
