package oracle

import (
	"context"
	"net/http"
	"slices"
	"sync"
	"time"

	"github.com/kubectl-gc/kubectl-gc/test/controlplane/cluster"
)

// theirs is the annotation of what somebody has made in the place of what had gone.
const theirs = "oracle/theirs"

// deedDone is something that somebody else has done, or tried.
type deedDone struct {
	step
	key   key
	began time.Time
	ended time.Time
	code  int // 0 when it was done
}

// meddling guards what others do in a story: each of it happens once.
var meddling sync.Mutex

// happens has others do what they do at a moment.
func (t *trial) happens(ctx context.Context, at moment) {
	meddling.Lock()
	var due []*deedDone
	for _, s := range t.story.steps {
		if s.when == at && t.story.thing(s.object) != nil && !slices.ContainsFunc(t.deeds, func(d *deedDone) bool { return d.step == s }) {
			d := &deedDone{step: s, key: t.ours.key(t.story.thing(s.object))}
			t.deeds, due = append(t.deeds, d), append(due, d)
		}
	}
	meddling.Unlock()
	for _, d := range due {
		if d.do == renews {
			t.operators.Go(func() { t.carryOut(ctx, d) })
			continue
		}
		t.carryOut(ctx, d)
	}
}

func (t *trial) carryOut(ctx context.Context, d *deedDone) {
	began := time.Now()
	code, err := t.perform(ctx, t.ours, d.step)
	if err != nil {
		t.fail(err)
	}
	meddling.Lock()
	defer meddling.Unlock()
	d.began, d.ended, d.code = began, time.Now(), code
}

// repeat has everything that others did happen at the twin's, when they are through. Operators
// are not: nothing of what they look after goes there.
func (t *trial) repeat(ctx context.Context) error {
	err := cluster.Await(ctx, "others are through", func(context.Context) (bool, error) {
		meddling.Lock()
		defer meddling.Unlock()
		return !slices.ContainsFunc(t.deeds, func(d *deedDone) bool { return d.ended.IsZero() && d.do != renews }), nil
	})
	if err != nil {
		return err
	}
	for _, d := range t.deeds {
		if d.do == renews {
			continue
		}
		if _, err := t.perform(ctx, t.twin, d.step); err != nil {
			return err
		}
	}
	return nil
}

// goes waits until an object has gone, and reports whether it has before the operators end.
func (t *trial) goes(ctx context.Context, k key) bool {
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	for t.mirror.get(k) != nil {
		select {
		case <-ctx.Done():
			return false
		case <-t.rested:
			return false
		case <-tick.C:
		}
	}
	return true
}

// key is where a thing of the story is at a place.
func (p place) key(of *thing) key {
	k := key{kind: of.kind, name: p.name(of.name)}
	if kindNamed(of.kind).namespaced {
		k.namespace = p.name(of.namespace)
	}
	return k
}

// perform does something at a place. The answer of the server is of no concern, as long
// as it is one.
func (t *trial) perform(ctx context.Context, at place, s step) (code int, err error) {
	of := t.story.thing(s.object)
	k := at.key(of)
	path := kindNamed(k.kind).path(k.namespace, k.name)
	patch := func(metadata fields) error {
		_, err := t.send(ctx, http.MethodPatch, path, fields{"metadata": metadata})
		return err
	}
	switch s.do {
	case protects:
		err = patch(fields{"annotations": fields{protect: "true"}})
	case annotates:
		err = patch(fields{"annotations": fields{"oracle/seen": "yes"}})
	case holds, releases:
		now := t.mirror.get(k)
		if now == nil {
			return http.StatusNotFound, nil
		}
		left := slices.DeleteFunc(now.GetFinalizers(), func(f string) bool { return f == foreign })
		if s.do == holds {
			left = append(left, foreign)
		}
		err = patch(fields{"finalizers": left})
	case deletes:
		_, err = t.send(ctx, http.MethodDelete, path, fields{"apiVersion": "v1", "kind": "DeleteOptions", "propagationPolicy": "Background"})
	case renews, replaces:
		if s.do == renews && !t.goes(ctx, k) {
			return http.StatusNotFound, nil
		}
		content := at.content(t.story, of)
		content["apiVersion"], content["kind"] = kindNamed(of.kind).apiVersion, of.kind
		content["metadata"] = fields{"name": k.name, "annotations": fields{theirs: "yes"}}
		_, err = t.send(ctx, http.MethodPost, kindNamed(of.kind).path(k.namespace, ""), content)
	case adds:
		in := of.namespace
		if in == "" {
			in = "a"
		}
		_, err = t.send(ctx, http.MethodPost, kindNamed("ConfigMap").path(at.name(in), ""), fields{"metadata": fields{
			"name": at.name("late-" + s.object), "ownerReferences": []fields{{
				"apiVersion": kindNamed(of.kind).apiVersion, "kind": of.kind, "name": k.name, "uid": at.uid(s.object),
			}},
		}})
	}
	if c := cluster.Code(err); c != 0 {
		return c, nil
	}
	return 0, err
}

// release takes off, in both worlds, every finalizer that holds what is being deleted, as
// long as there are any. What goes then was to be in the account, too.
func (t *trial) release(ctx context.Context) error {
	for range 6 {
		some := false
		for _, at := range []place{t.ours, t.twin} {
			for k, o := range t.worldAt(at) {
				left := slices.DeleteFunc(slices.Clone(o.GetFinalizers()), func(f string) bool { return f == foreign || f == operated })
				if o.GetDeletionTimestamp() == nil || len(left) == len(o.GetFinalizers()) {
					continue
				}
				some = true
				_, err := t.send(ctx, http.MethodPatch, kindNamed(k.kind).path(k.namespace, k.name), fields{"metadata": fields{"finalizers": left}})
				if err != nil && cluster.Code(err) == 0 {
					return err
				}
			}
		}
		if !some {
			return nil
		}
		t.freed = true
		if err := t.look(ctx, 2*dwell); err != nil {
			return err
		}
	}
	return nil
}
