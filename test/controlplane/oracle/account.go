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
	// expected: the plan expects that it goes.
	expected bool
	text     string
}

type account map[key]*entry

func (a account) add(r report.Ref, e entry) {
	e.key = key{r.Kind, r.Namespace, r.Name}
	if old := a[e.key]; old != nil {
		e.goes = e.goes || old.goes
	}
	a[e.key] = &e
}

// accountOf is what a plan says that a run changes or takes, at once or later.
func accountOf(raw []byte) (account, error) {
	var document report.Plan
	if err := json.Unmarshal(raw, &document); err != nil {
		return nil, fmt.Errorf("the plan: %w", err)
	}
	a := account{}
	for _, c := range document.Consequences {
		a.add(c.Object, entry{goes: c.Change == report.ChangeDeleted, expected: c.Outcome == report.Deleted && c.Certainty == report.Sure, text: fmt.Sprintf("%s %s %s %s", c.Change, c.When, c.Certainty, c.Reason)})
	}
	return a, nil
}
