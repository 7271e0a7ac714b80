package report

import (
	"slices"

	"k8s.io/apimachinery/pkg/types"
)

// Confirmation is what a user must see before agreeing to a plan: the cluster, the user, the
// counts, and the data that would be lost. It is only shown; no document contains it. (spec W21)
type Confirmation struct {
	// Verb is the verb of the question: delete, collect, undo.
	Verb    string
	Context string
	Server  string
	// User and ClusterUID are empty if the server does not tell them.
	User       string
	ClusterUID types.UID
	// Counts are the consequences by kind, change, time and certainty.
	Counts []ConsequenceCount
	// Deletes is the number of objects that are deleted or may be. UpTo is true if some of them
	// only may be.
	Deletes int
	UpTo    bool
	// Removes is the number of finalizers that are removed, Restores the number of objects that an
	// undo creates or changes.
	Removes, Restores int
	// Only is the written object; nil if there are several.
	Only *Ref
	// Data are the objects with data that cannot be recreated.
	Data []Ref
	// Notes are further sentences that the user should read.
	Notes []string
	// Backup is the name of the backup to remove, which no cluster has a part in; otherwise empty.
	Backup string
	// Digest identifies the plan.
	Digest string
}

// ConsequenceCount is the number of objects of one kind with the same change, time and certainty.
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

// Edits returns the number of objects that are changed and stay.
func (c *Confirmation) Edits() int {
	n := 0
	for i := range c.Counts {
		if c.Counts[i].Change == ChangeEdited {
			n += c.Counts[i].Count
		}
	}
	return n
}

// DataKinds counts the data by kind, in order of first occurrence.
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

// Name returns what the user types to confirm: the context of the kubeconfig, or the server if
// there is none. For the removal of a backup it is the name of the backup.
func (c *Confirmation) Name() string {
	if c.Backup != "" {
		return c.Backup
	}
	if c.Context != "" {
		return c.Context
	}
	return c.Server
}

// Obstacle is why a plan is refused, with the objects concerned and what lifts it. It is only
// shown; no document contains it.
type Obstacle struct {
	// Reason is a reason.Code, or a policy.RefusalReason without one.
	Reason  string
	Objects []Ref
	// Finalizer and Message are set for a finalizer that must stay.
	Finalizer, Message string
	// Planned and Limit are set for a plan that deletes too much.
	Planned, Limit int
	// Unlock is the value of --unlock that lifts it; empty if none does.
	Unlock string
}

// Answer is the answer of the API server to a dry-run request. It is only shown; no document
// contains it.
type Answer struct {
	Object Ref
	// Verb is DELETE, PATCH, POST or PUT.
	Verb string
	// Refused is the error of a refusal. Untried is why the request was not sent.
	Refused, Untried string
}
