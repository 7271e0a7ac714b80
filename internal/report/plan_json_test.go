package report_test

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-gc/kubectl-gc/internal/object"
	"github.com/kubectl-gc/kubectl-gc/internal/report"
)

func pod(name string, uid types.UID) object.Ref {
	return object.Ref{APIVersion: "v1", Kind: "Pod", Namespace: "shop", Name: name, UID: uid}
}

// TestReferencesOfAPlan: a reference is the uid alone exactly where that leads to one effect, and
// to the same reference there.
func TestReferencesOfAPlan(t *testing.T) {
	known := pod("known", "u-known")
	older := known
	older.APIVersion = "v1beta1"
	effects := []report.Effect{
		{Object: known},
		{Object: pod("no-uid", "")},
		{Object: pod("twin-a", "u-twin")}, {Object: pod("twin-b", "u-twin")}, {Object: pod("twin-c", "u-twin")},
	}
	const whole = `{"apiVersion":"v1","kind":"Pod","namespace":"shop","name":"`
	for name, tt := range map[string]struct {
		ref  object.Ref
		want string
	}{
		"what has an effect":                 {known, `{"uid":"u-known"}`},
		"what has none":                      {pod("else", "u-else"), whole + `else","uid":"u-else"}`},
		"what has no uid":                    {pod("no-uid", ""), whole + `no-uid","uid":""}`},
		"what shares its uid":                {pod("twin-b", "u-twin"), whole + `twin-b","uid":"u-twin"}`},
		"what is called otherwise elsewhere": {older, strings.Replace(whole, `"v1"`, `"v1beta1"`, 1) + `known","uid":"u-known"}`},
	} {
		p := &report.Plan{
			Seed:    report.Seed{Targets: []object.Ref{tt.ref, tt.ref}},
			Effects: append([]report.Effect{{Object: pod("first", "u-first"), Because: []object.Ref{tt.ref, tt.ref}, RecreatedBy: &tt.ref}}, effects...),
			Steps:   []report.Step{{N: 1, Object: tt.ref}},
		}
		text, err := json.Marshal(p)
		if err != nil {
			t.Fatal(err)
		}
		var got struct {
			Seed    struct{ Targets []json.RawMessage }
			Effects []struct {
				Because     []json.RawMessage
				RecreatedBy json.RawMessage
			}
			Steps []struct{ Object json.RawMessage }
		}
		if err := json.Unmarshal(text, &got); err != nil {
			t.Fatal(err)
		}
		first := got.Effects[0]
		for _, r := range append(first.Because, first.RecreatedBy, got.Steps[0].Object) {
			if string(r) != tt.want {
				t.Errorf("%s is written as %s, want %s", name, r, tt.want)
			}
		}
		for _, r := range got.Seed.Targets {
			if !strings.Contains(string(r), `"name":"`+tt.ref.Name+`"`) {
				t.Errorf("%s: the seed names a target as %s", name, r)
			}
		}
		var back report.Plan
		if err := json.Unmarshal(text, &back); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(p, &back); diff != "" {
			t.Errorf("%s is read otherwise than it was written (-want +got):\n%s", name, diff)
		}
	}
}

// TestAccountOfAPlan: the account is written with the effects, and read again.
func TestAccountOfAPlan(t *testing.T) {
	once := []report.Release{{Object: pod("b", "u-b"), Finalizer: "example.com/f", State: report.ControllerGone}}
	p := &report.Plan{
		Effects: []report.Effect{
			{Object: pod("a", "u-a"), Outcome: report.Kept, Reason: "ExistingOwner"},
			{Object: pod("b", "u-b"), Outcome: report.Blocked, Reason: "HeldByFinalizer", Once: once, Consequence: &report.Consequence{
				Change: report.ChangeDeleted, When: report.ControllerActs, Controller: "namespace-controller", Certainty: report.Possible, Anyway: true,
			}},
		},
	}
	text, err := json.Marshal(p)
	if err != nil {
		t.Fatal(err)
	}
	const want = `"consequence":{"change":"Deleted","when":"ControllerActs","controller":"namespace-controller","certainty":"Possible","anyway":true}`
	if strings.Count(string(text), `"consequence`) != 1 || !strings.Contains(string(text), want) {
		t.Errorf("%s\nhas not once %s", text, want)
	}
	var back report.Plan
	if err := json.Unmarshal(text, &back); err != nil {
		t.Fatal(err)
	}
	p.Seed.Targets, back.Seed.Targets = nil, nil
	if diff := cmp.Diff(p, &back); diff != "" {
		t.Errorf("read otherwise than written (-want +got):\n%s", diff)
	}
	if account := slices.Collect(back.Account()); !slices.Equal(account, []*report.Effect{&back.Effects[1]}) {
		t.Errorf("the account is %v", account)
	}
}

// TestBrokenPlan: what is no plan is none.
func TestBrokenPlan(t *testing.T) {
	for _, text := range []string{`[]`, `{"effects":[{"object":1}]}`} {
		if err := json.Unmarshal([]byte(text), &report.Plan{}); err == nil {
			t.Errorf("%s is a plan", text)
		}
	}
}
