package report

import "k8s.io/apimachinery/pkg/types"

// Confirmation is what a person has to see before saying yes to a plan: where and
// as whom, how much of what, and the data that would be lost. It is shown, and is
// no document of its own. (safety.md F12)
type Confirmation struct {
	// Verb is what is asked, as a person says it: delete, collect, undo.
	Verb    string
	Context string
	Server  string
	// User and ClusterUID are empty where the server does not tell.
	User       string
	ClusterUID types.UID
	// Counts are the changes by kind and outcome, in the order of Summary.ByKind.
	Counts []Count
	// Deletes is the number of objects that the plan deletes.
	Deletes int
	// Data are those of them that hold what nobody can make again.
	Data []Ref
	// Notes are further sentences, each of which a person should have read.
	Notes []string
	// Digest identifies the plan.
	Digest string
}

// Name is what a person types to say which cluster is meant: the context of the
// kubeconfig, or the server where there is none.
func (c *Confirmation) Name() string {
	if c.Context != "" {
		return c.Context
	}
	return c.Server
}
