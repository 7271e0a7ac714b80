package kube

import (
	"context"
	"slices"

	"github.com/kubectl-gc/kubectl-gc/internal/evidence"
	"github.com/kubectl-gc/kubectl-gc/internal/object"
)

// Records reads the evidence that a snapshot stores, so that it can answer like the cluster:
// everything that Evidence and Neighbours could read. about are the objects that wait for a
// controller, or will when they are deleted. They are read whole. The records are sorted. Failed
// reads are records with a reason. Records fails only if the context ends.
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
	// World.Take uses the first record of an object, so content comes before remarks.
	return append(w.records, w.remarks...), nil
}

func compareRecords(a, b *evidence.Record) int { return object.Compare(a.Ref(), b.Ref()) }

// everyScene lists the parts that any question may need, except those that show controllers.
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
