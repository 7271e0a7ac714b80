package report

import "k8s.io/apimachinery/pkg/types"

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
	// Deletes is the number of objects that go, or may go.
	Deletes int
	// Data are those of them that hold what nobody can make again.
	Data []Ref
	// Notes are further sentences, each of which a person should have read.
	Notes []string
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

// Name is what a person types to say which cluster is meant: the context of the
// kubeconfig, or the server where there is none.
func (c *Confirmation) Name() string {
	if c.Context != "" {
		return c.Context
	}
	return c.Server
}
