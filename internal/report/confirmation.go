package report

import (
	"slices"

	"k8s.io/apimachinery/pkg/types"
)

// Confirmation is what a person has to see before saying yes to a plan: where and
// as whom, how much of what, and the data that would be lost. It is shown, and is
// no document of its own. (spec W21)
type Confirmation struct {
	// Verb is what is asked, as a person says it: delete, collect, undo.
	Verb    string
	Context string
	Server  string
	// User and ClusterUID are empty where the server does not tell.
	User       string
	ClusterUID types.UID
	// Counts are the consequences by kind, change, time and certainty.
	Counts []ConsequenceCount
	// Deletes is the number of objects that go, or may go; UpTo says that some of them
	// only may.
	Deletes int
	UpTo    bool
	// Removes is the number of finalizers that are taken off, Restores that of the objects
	// that an undo makes or changes.
	Removes, Restores int
	// Only is the one object that is written to; nil if there are several.
	Only *Ref
	// Data are those of them that hold what nobody can make again.
	Data []Ref
	// Notes are further sentences, each of which a person should have read.
	Notes []string
	// Backup is the name of a backup that is removed, for which no cluster is asked; empty for
	// everything else.
	Backup string
	// Digest identifies the plan.
	Digest string
}

// ConsequenceCount is the number of objects of one kind with consequences of one sort.
type ConsequenceCount struct {
	APIVersion, Kind string
	Change           Change
	When             When
	Certainty        Certainty
	Count            int
}

// Add counts one object.
func (c *Confirmation) Add(n ConsequenceCount) {
	for i := range c.Counts {
		same := c.Counts[i]
		if same.Count = n.Count; same == n {
			c.Counts[i].Count++
			return
		}
	}
	n.Count = 1
	c.Counts = append(c.Counts, n)
}

// Edits is the number of objects that are changed, and stay.
func (c *Confirmation) Edits() int {
	n := 0
	for i := range c.Counts {
		if c.Counts[i].Change == ChangeEdited {
			n += c.Counts[i].Count
		}
	}
	return n
}

// DataKinds counts the data by kind, in the order in which the kinds come.
func (c *Confirmation) DataKinds() []KindCount {
	var list []KindCount
	for _, r := range c.Data {
		i := slices.IndexFunc(list, func(k KindCount) bool { return k.Kind == r.Kind && k.APIVersion == r.APIVersion })
		if i < 0 {
			i, list = len(list), append(list, KindCount{APIVersion: r.APIVersion, Kind: r.Kind})
		}
		list[i].Count++
	}
	return list
}

// Name is what a person types to say which cluster is meant: the context of the
// kubeconfig, or the server where there is none. A backup is named by itself.
func (c *Confirmation) Name() string {
	if c.Backup != "" {
		return c.Backup
	}
	if c.Context != "" {
		return c.Context
	}
	return c.Server
}

// Obstacle is why a plan is refused, with the objects for which that holds, and what
// lifts it. It is shown, and is no document of its own.
type Obstacle struct {
	// Reason is a reason.Code, or a policy.RefusalReason where that has none.
	Reason  string
	Objects []Ref
	// Finalizer and Message are set for a finalizer that must stay.
	Finalizer, Message string
	// Planned and Limit are set for a plan that deletes too much.
	Planned, Limit int
	// Unlock is the value of --unlock that lifts it; empty where none does.
	Unlock string
}

// Answer is what the API server said to a request that it tried without storing it. It is
// shown, and is no document of its own.
type Answer struct {
	Object Ref
	// Verb is DELETE, PATCH, POST or PUT.
	Verb string
	// Refused is what it said no with; Untried why it was not asked.
	Refused, Untried string
}
