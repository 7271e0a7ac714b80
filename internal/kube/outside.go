package kube

import (
	"context"
	"sync"

	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-gc/kubectl-gc/internal/object"
)

// maxOutsideGets is the number of objects of one kind and namespace that are read one by one. More
// are read with one list.
const maxOutsideGets = 3

// ReadOutside reads the fields that decide about the outside resources of objects. The result lacks
// objects that cannot be read, or that were replaced. The error is that of the context.
func (c *Client) ReadOutside(ctx context.Context, objects []*object.Object) (map[types.UID]*object.OutsideFacts, error) {
	places, of := map[string]Place{}, map[string][]*object.Object{}
	for _, o := range objects {
		if at, err := c.place(o.Ref); err == nil {
			places[at.about()] = at
			of[at.about()] = append(of[at.about()], o)
		}
	}
	found := map[types.UID]*object.OutsideFacts{}
	var mu sync.Mutex
	add := func(o *object.Object) {
		if facts := o.Outside(); facts != nil {
			mu.Lock()
			defer mu.Unlock()
			found[o.UID] = facts
		}
	}
	var tasks []func()
	for about, at := range places {
		if len(of[about]) > maxOutsideGets {
			tasks = append(tasks, func() {
				_, _ = c.List(ctx, at, Selection{Outside: true}, Listing{Object: func(o *object.Object) error {
					add(o)
					return nil
				}})
			})
			continue
		}
		for _, o := range of[about] {
			tasks = append(tasks, func() {
				if _, now, err := c.Raw(ctx, o.Ref); err == nil {
					add(now)
				}
			})
		}
	}
	runAll(tasks)
	return found, ctx.Err()
}
