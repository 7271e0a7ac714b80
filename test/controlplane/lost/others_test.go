package lost

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net/http"
)

// meddle is what others do meanwhile in a cluster that is alive: they label objects, make new
// ones, take finalizers off, change owners, scale, and stop the containers of pods.
func (s *state) meddle(ctx context.Context) error {
	random := rand.New(rand.NewPCG(uint64(s.number), uint64(s.others)))
	for i := range s.others {
		wait(ctx, random.IntN(600))
		t := s.things[random.IntN(len(s.things))]
		var err error
		switch random.IntN(8) {
		case 0, 1:
			err = t.patch(ctx, object{"metadata": object{"labels": object{"written": fmt.Sprint(i)}}})
		case 2, 3:
			late := &thing{kind: kinds[0], namespace: s.things[0].name, name: s.name(fmt.Sprintf("late%d", i))}
			if t.namespace == "" || t.namespace == late.namespace {
				late.owners = []owner{{of: t}}
			}
			_, err = send(ctx, "", http.MethodPost, late.collection(), late.manifest())
		case 4:
			err = s.free(ctx)
		case 5:
			err = s.give(ctx, random, t)
		case 6:
			err = s.scale(ctx, random.IntN(3))
		case 7:
			err = s.stop(ctx)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func (t *thing) patch(ctx context.Context, body object) error {
	_, err := send(ctx, "", http.MethodPatch, t.path(), body)
	return err
}

// free takes off the finalizers of what is being deleted and waits for somebody.
func (s *state) free(ctx context.Context) error {
	for _, t := range s.things {
		if len(t.finalizers) != 1 || t.finalizers[0] != foreign {
			continue
		}
		if got, err := send(ctx, "", http.MethodGet, t.path(), nil); err != nil || got.Metadata.DeletionTimestamp == "" {
			continue
		}
		return t.patch(ctx, object{"metadata": object{"finalizers": nil}})
	}
	return nil
}

// give takes the owners of an object away, or gives it others.
func (s *state) give(ctx context.Context, random *rand.Rand, t *thing) error {
	var owners []owner
	if o := s.things[random.IntN(len(s.things))]; random.IntN(2) == 0 && o != t && (o.namespace == "" || o.namespace == t.namespace) {
		owners = []owner{{of: o, blocks: true}}
	}
	return t.patch(ctx, object{"metadata": object{"ownerReferences": references(owners)}})
}

func (s *state) scale(ctx context.Context, replicas int) error {
	for _, t := range s.things {
		if t.kind.kind == "Deployment" || t.kind.kind == "ReplicaSet" {
			return t.patch(ctx, object{"spec": object{"replicas": replicas}})
		}
	}
	return nil
}

// stop does what a kubelet does: pods that are asked to go do go.
func (s *state) stop(ctx context.Context) error {
	for _, t := range s.things {
		if t.kind.kind != "Pod" {
			continue
		}
		if got, err := send(ctx, "", http.MethodGet, t.path(), nil); err != nil || got.Metadata.DeletionTimestamp == "" {
			continue
		}
		if _, err := send(ctx, "", http.MethodDelete, t.path(), object{"apiVersion": "v1", "kind": "DeleteOptions", "gracePeriodSeconds": 0}); err != nil {
			return err
		}
	}
	return nil
}

// node is where some pods are: nothing runs there.
const node = "nowhere"

// provide makes the node.
func provide(ctx context.Context) error {
	_, err := send(ctx, "", http.MethodPost, "/api/v1/nodes", object{"apiVersion": "v1", "kind": "Node", "metadata": object{"name": node}})
	return err
}
