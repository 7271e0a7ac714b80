package oracle

import (
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/kubectl-gc/kubectl-gc/internal/object"
	"github.com/kubectl-gc/kubectl-gc/internal/report"
)

// change is what became of an object because of the run.
type change struct {
	key  key
	gone bool // or on its way
	text string
}

// changes are the objects that were there when the plan was made, and that are not as
// they would be without the run.
func (t *trial) changes() []change {
	var list []change
	for _, k := range keysOf(t.before) {
		would := t.would[t.twinOf(k)]
		is := t.after[k]
		if t.twinBefore[t.twinOf(k)] == nil {
			continue // nobody's twin
		}
		switch {
		case is != nil && is.GetUID() != t.before[k].GetUID():
			is = nil // another one of its name
		}
		if would != nil && would.GetUID() != t.twinBefore[t.twinOf(k)].GetUID() {
			would = nil
		}
		switch {
		case would == nil:
		case is == nil:
			list = append(list, change{k, true, "gone"})
		default:
			if d := differences(t.ours, is, t.twin, would); len(d) > 0 {
				going := is.GetDeletionTimestamp() != nil && would.GetDeletionTimestamp() == nil
				list = append(list, change{k, going, "other " + strings.Join(d, ", ")})
			}
		}
	}
	return list
}

func keysOf(m map[key]*unstructured.Unstructured) []key {
	var list []key
	for k := range m {
		list = append(list, k)
	}
	slices.SortFunc(list, func(a, b key) int { return strings.Compare(a.String(), b.String()) })
	return list
}

// differences are the fields in which two objects at two places differ. Status is the
// word of controllers, and not compared.
func differences(at place, a *unstructured.Unstructured, elsewhere place, b *unstructured.Unstructured) []string {
	x, y := plainOf(at, a), plainOf(elsewhere, b)
	var list []string
	for _, field := range sortedKeys(x, y) {
		if !reflect.DeepEqual(x[field], y[field]) {
			list = append(list, field)
		}
	}
	return list
}

// plainOf is an object as it would be anywhere, field by field.
func plainOf(at place, o *unstructured.Unstructured) map[string]any {
	text, err := json.Marshal(o.Object)
	if err != nil {
		panic(err)
	}
	var all map[string]any
	if err := json.Unmarshal([]byte(at.plain(string(text))), &all); err != nil {
		panic(err)
	}
	metadata, _ := all["metadata"].(map[string]any)
	all["deletion"] = metadata["deletionTimestamp"] != nil
	for _, field := range []string{"labels", "annotations", "finalizers", "ownerReferences"} {
		if metadata[field] != nil {
			all[field] = metadata[field]
		}
	}
	delete(all, "metadata")
	delete(all, "status")
	return all
}

func sortedKeys(maps ...map[string]any) []string {
	seen := map[string]any{}
	for _, m := range maps {
		for k := range m {
			seen[k] = nil
		}
	}
	var list []string
	for k := range seen {
		list = append(list, k)
	}
	slices.Sort(list)
	return list
}

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

func (a account) add(r object.Ref, e entry) {
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
	for e := range document.Account() {
		c := e.Consequence
		a.add(e.Object, entry{goes: e.IsDeleted(), expected: e.Outcome == report.Deleted && c.Certainty == report.Sure, text: fmt.Sprintf("%s %s %s %s", c.Change, c.When, c.Certainty, e.Reason)})
	}
	return a, nil
}
