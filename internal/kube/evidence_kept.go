package kube

import (
	"context"
	"slices"

	"github.com/kubectl-gc/kubectl-gc/internal/evidence"
	"github.com/kubectl-gc/kubectl-gc/internal/object"
)

// Records reads what a snapshot needs of a cluster beside its objects, so that the answers from it are
// those of the cluster: everything that Evidence and Neighbours could read, once. about are the objects
// that wait for somebody, or will when they are deleted; they are read whole. The records are sorted.
// What cannot be read is among them, with the reason. It fails only with the context.
func (c *Client) Records(ctx context.Context, about []*object.Object) ([]*evidence.Record, error) {
	w := &witness{client: c, about: about, keep: true}
	scenes := append(everyScene(), w.consumers()...)
	if w.any(waitsForSomebody) {
		scenes = append(scenes, controllers()...)
	}
	if err := w.look(ctx, scenes); err != nil {
		return nil, err
	}
	slices.SortStableFunc(w.records, compareRecords)
	slices.SortStableFunc(w.remarks, compareRecords)
	// Of several records of an object the first counts: one of what it shows.
	return append(w.records, w.remarks...), nil
}

func compareRecords(a, b *evidence.Record) int { return object.Compare(a.Ref(), b.Ref()) }

// everyScene are the parts that may matter for any question, without those in which controllers are.
func everyScene() []scene {
	scenes := append(admission(), usages()...)
	for _, p := range []evidence.Part{
		evidence.APIServices, evidence.Leases, evidence.Namespaces, evidence.Definitions, evidence.Nodes, evidence.Attachments,
		evidence.Budgets,
	} {
		scenes = append(scenes, scene{part: p})
	}
	return scenes
}
