package backup

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-gc/kubectl-gc/internal/object"
	"github.com/kubectl-gc/kubectl-gc/internal/report"
)

var deleteOptions = metav1.DeleteOptions{}

var clock = UndoOptions{Tool: "test", Now: func() time.Time { return time.Unix(3, 0) }}

// An owner may be deleted between the plan and the run of an undo: no reference to it is written,
// neither in a creation nor in a restore.
func TestOwnerGoesMeanwhile(t *testing.T) {
	owner := one("v1", "ConfigMap", "owner")
	stays := one("v1", "ConfigMap", "stays")
	lost, live := one("v1", "ConfigMap", "lost", to(owner), to(stays)), one("v1", "ConfigMap", "live", to(owner))
	now := one("v1", "ConfigMap", "live")
	s, client := testCluster(t, owner, stays, now)
	dir := backup(t, map[*object.Object]Action{lost: Deleted, live: Changed})
	u := planned(t, client, dir)
	if d := u.Document(); len(d.Steps) != 2 || d.Summary.Dropped != 0 {
		t.Fatalf("the plan: %+v", d)
	}
	s.remove(t, owner)
	out, err := u.Run(t.Context(), clock)
	if err != nil {
		t.Fatal(err)
	}
	if len(s.stored) != 1 || !strings.HasPrefix(s.stored[0], "create configmaps lost ") ||
		strings.Contains(s.stored[0], "u-owner") || !strings.Contains(s.stored[0], "u-stays") {
		t.Errorf("stored: %q", s.stored)
	}
	if out.Steps[0].State != report.StepMade || len(out.Steps[0].Dropped) != 1 || out.Steps[0].Dropped[0].Reason != "OwnerGone" {
		t.Errorf("what is made: %+v", out.Steps[0])
	}
	if out.Steps[1].State != report.StepRefused || out.Summary.Restored != 0 || out.State != report.Partial {
		t.Errorf("what gets nothing back: %+v, %s", out.Steps[1], out.State)
	}
}

// An object that has the name of a step's object when its turn comes stays unchanged. If the
// recreated owner's controller created it, it counts as the restored object, and its dependents
// refer to it.
func TestControllerIsFaster(t *testing.T) {
	for _, tt := range []struct {
		name, owner string
		state       report.StepState
	}{
		{"its controller", "new-web", report.StepMade},
		{"somebody else", "u-other", report.StepTaken},
	} {
		t.Run(tt.name, func(t *testing.T) {
			web := one("v1", "ConfigMap", "web")
			controlled := to(web)
			controlled.Controller = object.True
			set := one("v1", "ConfigMap", "web-1", controlled)
			s, client := testCluster(t)
			u := planned(t, client, backup(t, map[*object.Object]Action{
				web: Deleted, set: Deleted, one("v1", "ConfigMap", "web-1-settings", to(set)): Deleted,
			}))
			controlled.UID = types.UID(tt.owner)
			faster := one("v1", "ConfigMap", "web-1", controlled)
			faster.UID, faster.ResourceVersion = "faster", ""
			o := clock
			o.Between = func(step int) error {
				if step != 2 {
					return nil
				}
				return s.Change(func() error {
					_, err := s.Sim.Create(t.Context(), faster)
					return err
				})
			}
			out, err := u.Run(t.Context(), o)
			if err != nil {
				t.Fatal(err)
			}
			made := tt.state == report.StepMade
			if got := out.Steps[1]; got.State != tt.state || made != (got.UID == "faster") {
				t.Errorf("%+v", got)
			}
			if made != (out.State == report.Complete) || made != strings.Contains(s.stored[len(s.stored)-1], "faster") {
				t.Errorf("%s, stored: %q", out.State, s.stored)
			}
		})
	}
}

// An object that another client created with other content differs: it stays, the saved
// content is not written, and the undo is incomplete. The same content counts as created.
func TestSomebodyElseIsFaster(t *testing.T) {
	for annotated, state := range map[bool]report.StepState{false: report.StepMade, true: report.StepDiffers} {
		lost, below := one("v1", "ConfigMap", "lost"), one("v1", "ConfigMap", "below")
		below.Owners = []object.OwnerReference{to(lost)}
		s, client := testCluster(t)
		u := planned(t, client, backup(t, map[*object.Object]Action{lost: Deleted, below: Deleted}))
		faster := one("v1", "ConfigMap", "lost")
		faster.UID, faster.ResourceVersion = "faster", ""
		if annotated {
			faster.Edit().Protection = object.Protect
		}
		o := clock
		o.Between = func(step int) error {
			if step != 1 {
				return nil
			}
			return s.Change(func() error {
				_, err := s.Sim.Create(t.Context(), faster)
				return err
			})
		}
		out, err := u.Run(t.Context(), o)
		if err != nil {
			t.Fatal(err)
		}
		differs := state == report.StepDiffers
		step := out.Steps[0]
		if step.State != state || differs != (len(step.Differences) == 1 && step.Differences[0].Hidden && step.UID == "") || differs != (out.Summary.Differs == 1) {
			t.Errorf("%+v", step)
		}
		if differs != (out.State == report.Partial) || differs != out.Incomplete() || differs == strings.Contains(s.stored[0], "faster") {
			t.Errorf("%s, stored: %q", out.State, s.stored)
		}
	}
}

// An object may be written before its references are restored. It still gets them, unless it has
// other owners.
func TestWrittenMeanwhile(t *testing.T) {
	adopted := func(uid types.UID) *[]object.OwnerReference {
		r := to(one("v1", "ConfigMap", "web"))
		r.UID = uid
		return &[]object.OwnerReference{r}
	}
	for _, tt := range []struct {
		name   string
		write  object.Patch
		state  report.StepState
		stored int
	}{
		{"a finalizer", object.Patch{Finalizers: &[]string{"example.com/hold"}}, report.StepRestored, 2},
		{"the owner made anew", object.Patch{Owners: adopted("new-web")}, report.StepRestored, 1},
		{"another owner", object.Patch{Owners: adopted("another")}, report.StepContended, 1},
	} {
		t.Run(tt.name, func(t *testing.T) {
			web := one("v1", "ConfigMap", "web")
			now := one("v1", "ConfigMap", "web-1")
			s, client := testCluster(t, now)
			u := planned(t, client, backup(t, map[*object.Object]Action{web: Deleted, one("v1", "ConfigMap", "web-1", to(web)): Changed}))
			o := clock
			o.Between = func(step int) error {
				if step != 2 {
					return nil
				}
				tt.write.Type = object.Merge
				return s.Change(func() error { return s.Sim.Patch(t.Context(), now.Ref, tt.write) })
			}
			out, err := u.Run(t.Context(), o)
			if err != nil {
				t.Fatal(err)
			}
			if got := out.Steps[1]; got.State != tt.state {
				t.Errorf("%+v", got)
			}
			if len(s.stored) != tt.stored {
				t.Errorf("stored: %q", s.stored)
			}
		})
	}
}

// Before the first step, the server has checked all of them: those that can be tried as dry runs,
// the rest by permission.
func TestTry(t *testing.T) {
	owner := one("v1", "ConfigMap", "owner")
	lost, live := one("v1", "ConfigMap", "lost"), one("v1", "ConfigMap", "live", to(owner))
	thing := one("old.example.com/v1", "Thing", "thing")
	for _, tt := range []struct {
		name      string
		forbidden []string
		says      string
	}{
		{"everything is allowed", nil, ""},
		{"creations are forbidden", []string{"create configmaps"}, "you may not create configmaps"},
		{"patches are forbidden", []string{"patch configmaps"}, "you may not patch configmaps"},
		{"those of an extension server are forbidden", []string{"create things"}, "we may not create things.old.example.com"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s, client := testCluster(t, owner, one("v1", "ConfigMap", "live"))
			u := planned(t, client, backup(t, map[*object.Object]Action{lost: Deleted, live: Changed, thing: Deleted}))
			s.forbidden = tt.forbidden
			refused := tried(t, u)
			if tt.says == "" && refused != nil || tt.says != "" && (len(refused) != 1 || !strings.Contains(refused[0], tt.says)) {
				t.Errorf("refused: %q, want %q", refused, tt.says)
			}
			// An extension server may store a dry run.
			if len(s.stored) != 0 || strings.Contains(strings.Join(s.tried, "\n"), "things") {
				t.Errorf("stored %q, tried %q", s.stored, s.tried)
			}
			if tt.says == "" && len(s.tried) != 2 {
				t.Errorf("tried %q", s.tried)
			}
		})
	}
}

// tried returns the refusals of an undo by the server.
func tried(t *testing.T, u *Undo) (refused []string) {
	t.Helper()
	answers, err := u.Try(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for i := range answers {
		if answers[i].Refused != "" {
			refused = append(refused, answers[i].Refused)
		}
	}
	return refused
}

// Steps in a namespace that is created first can't be tried; the permission is checked
// nevertheless.
func TestTryInANewNamespace(t *testing.T) {
	space := one("v1", "Namespace", "annex")
	space.Namespace = ""
	inside := one("v1", "ConfigMap", "inside")
	inside.Namespace = "annex"
	s, client := testCluster(t)
	u := planned(t, client, backup(t, map[*object.Object]Action{space: Deleted, inside: Deleted}))
	if refused := tried(t, u); refused != nil {
		t.Errorf("refused: %q", refused)
	}
	s.forbidden = []string{"create configmaps"}
	if refused := tried(t, u); len(refused) != 1 || !strings.Contains(refused[0], "we may not create configmaps") {
		t.Errorf("refused: %q", refused)
	}
	if len(s.stored) != 0 {
		t.Errorf("stored %q", s.stored)
	}
}

// The name of an owner is free text: one with a path in it is never requested.
func TestNamesThatLeadElsewhere(t *testing.T) {
	for _, name := range []string{".", "..", "a/b", "a%2fb", ""} {
		s, client := testCluster(t)
		lost := one("v1", "ConfigMap", "lost", object.OwnerReference{APIVersion: "v1", Kind: "ConfigMap", Name: name, UID: "u"})
		u := planned(t, client, backup(t, map[*object.Object]Action{lost: Deleted}))
		d := u.Document()
		if len(d.Steps) != 1 || len(d.Steps[0].Dropped) != 1 || d.Steps[0].Dropped[0].Reason != "OwnerUnknown" {
			t.Errorf("%q: %+v", name, d)
		}
		odd := one("v1", "ConfigMap", name)
		if d := planned(t, client, backup(t, map[*object.Object]Action{odd: Deleted})).Document(); len(d.Steps) != 0 || d.Skipped[0].Reason != "CannotTell" {
			t.Errorf("an object of the name %q: %+v", name, d)
		}
		known := []string{"/api/v1/namespaces/shop/configmaps/lost", "/api/v1/namespaces/shop/configmaps", "/api/v1/namespaces/shop", "/api/v1/namespaces"}
		for _, path := range s.asked {
			if strings.HasPrefix(path, "/api/v1/") && !slices.Contains(known, path) {
				t.Errorf("%q: %s was asked for", name, path)
			}
		}
	}
}

// The journals of earlier undos are read from the backup only, not through a link.
func TestJournalsElsewhere(t *testing.T) {
	_, client := testCluster(t)
	dir := backup(t, map[*object.Object]Action{one("v1", "ConfigMap", "lost"): Deleted})
	if err := os.Symlink(t.TempDir(), filepath.Join(dir, journals)); err != nil {
		t.Fatal(err)
	}
	u, err := planWith(t, client, dir)
	if err == nil || !strings.Contains(err.Error(), "not a directory of the backup") {
		t.Errorf("planned %v, %v", u, err)
	}
}
