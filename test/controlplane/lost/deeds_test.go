package lost

import (
	"context"
	"fmt"
	"net/http"
	"time"

	"github.com/kubectl-gc/kubectl-gc/test/controlplane/cluster"
)

// build makes the objects of a state.
func (s *state) build(ctx context.Context) error {
	for _, t := range s.things {
		err := cluster.Await(ctx, t.path()+" is there", func(ctx context.Context) (bool, error) {
			got, err := send(ctx, "", http.MethodPost, t.collection(), t.manifest())
			switch {
			case err != nil:
				return false, err
			case got.code == http.StatusNotFound, got.code == http.StatusForbidden:
				return false, nil // its definition is not served yet, or its account not there
			case got.code != http.StatusCreated:
				return false, fmt.Errorf("%s: %d %+v", t.path(), got.code, got)
			}
			t.uid = got.Metadata.UID
			return true, nil
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// act carries the deletes out, one after the other, while others write.
func (s *state) act(ctx context.Context) error {
	done := make(chan error, 1)
	go func() { done <- s.meddle(ctx) }()
	for _, d := range s.deeds {
		wait(ctx, d.pause)
		options := object{"apiVersion": "v1", "kind": "DeleteOptions"}
		if d.policy != "" {
			options["propagationPolicy"] = d.policy
		}
		got, err := send(ctx, d.id, http.MethodDelete, d.target.path(), options)
		if err != nil {
			return err
		}
		d.got = got
	}
	return <-done
}

// meddle labels objects and makes new ones, as others do in a cluster that is alive.
func (s *state) meddle(ctx context.Context) error {
	random := *s.Rand
	for i := range s.others {
		wait(ctx, random.IntN(500))
		t := s.things[random.IntN(len(s.things))]
		if random.IntN(2) == 0 {
			if _, err := send(ctx, "", http.MethodPatch, t.path(), object{"metadata": object{"labels": object{"written": fmt.Sprint(i)}}}); err != nil {
				return err
			}
			continue
		}
		late := &thing{kind: kinds[0], namespace: s.things[0].name, name: s.name(fmt.Sprintf("late%d", i))}
		if t.namespace == "" || t.namespace == late.namespace {
			late.owners = []owner{{of: t}}
		}
		if _, err := send(ctx, "", http.MethodPost, late.collection(), late.manifest()); err != nil {
			return err
		}
	}
	return nil
}

func wait(ctx context.Context, milliseconds int) {
	t := time.NewTimer(time.Duration(milliseconds) * time.Millisecond)
	defer t.Stop()
	select {
	case <-ctx.Done():
	case <-t.C:
	}
}

// release takes off what holds the objects of a state, so that nothing is left for the next.
func (s *state) release(ctx context.Context) error {
	for _, t := range s.things {
		if _, err := send(ctx, "", http.MethodPatch, t.path(), object{"metadata": object{"finalizers": nil}}); err != nil {
			return err
		}
	}
	for _, t := range s.things {
		if t.namespace == "" {
			if _, err := send(ctx, "", http.MethodDelete, t.path(), object{"apiVersion": "v1", "kind": "DeleteOptions"}); err != nil {
				return err
			}
		}
	}
	return nil
}
