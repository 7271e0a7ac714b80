package oracle

import (
	"encoding/json"
	"fmt"

	"github.com/kubectl-gc/kubectl-gc/internal/report"
)

// entry is what an account says of one object.
type entry struct {
	key key
	// goes: it is deleted. Otherwise it is changed.
	goes bool
	// sure: nothing but this run decides it, so that it has to be allowed, shown and
	// copied. What would have happened anyway, and what nobody can tell, is in the
	// account so that nothing else may happen.
	sure bool
	text string
}

type account map[key]*entry

func (a account) add(r report.Ref, e entry) {
	e.key = key{r.Kind, r.Namespace, r.Name}
	if old := a[e.key]; old != nil {
		e.goes, e.sure = e.goes || old.goes, e.sure || old.sure
	}
	a[e.key] = &e
}

// accountOf is what a plan says that a run changes or takes, at once or later. It is the
// field of that name, and where a plan has none, what its effects say.
func accountOf(raw []byte) (account, error) {
	var document struct {
		report.Plan
		Consequences *[]struct {
			Object    report.Ref
			Change    string
			When      string
			Certainty string
			Anyway    bool
			Reason    string
		} `json:"consequences"`
	}
	if err := json.Unmarshal(raw, &document); err != nil {
		return nil, fmt.Errorf("the plan: %w", err)
	}
	a := account{}
	if document.Consequences != nil {
		for _, c := range *document.Consequences {
			a.add(c.Object, entry{goes: c.Change == "Deleted", sure: true, text: fmt.Sprintf("%s %s %s %s", c.Change, c.When, c.Certainty, c.Reason)})
		}
		return a, nil
	}
	targets := map[report.Ref]bool{}
	for _, t := range document.Seed.Targets {
		targets[t] = true
		// A target counts whatever becomes of it: a request is sent for it.
		a.add(t, entry{goes: document.Seed.Verb == "delete", sure: true, text: "target"})
	}
	for i := range document.Effects {
		e := &document.Effects[i]
		if e.Outcome == report.Kept && !e.DependsOnTiming {
			continue
		}
		a.add(e.Object, entry{
			goes: e.Outcome == report.Deleted || e.Outcome == report.Blocked,
			sure: e.Outcome != report.Unknown && e.Outcome != report.Kept && !e.DependsOnTiming && (!e.AlreadyHappening || targets[e.Object]),
			text: fmt.Sprintf("%s %s baseline=%t contested=%t", e.Outcome, e.Reason, e.AlreadyHappening, e.DependsOnTiming),
		})
	}
	return a, nil
}
