package deleters

import (
	"context"
	"errors"
	"slices"
	"sync"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// answers are the last errors with which kinds could not be read. They may be used from many
// goroutines.
type answers struct {
	mu   sync.Mutex
	last map[schema.GroupResource]string
}

// judge says why a kind cannot be read; empty without an error. Of a read that was cut off by
// the end of its context it says what the server has answered before, if it has.
func (a *answers) judge(ctx context.Context, gr schema.GroupResource, err error) string {
	a.mu.Lock()
	defer a.mu.Unlock()
	if err == nil {
		delete(a.last, gr)
		return ""
	}
	why := err.Error()
	said, answered := errors.AsType[*apierrors.StatusError](err)
	switch {
	case answered:
		why = said.Error()
	case ctx.Err() != nil && errors.Is(err, ctx.Err()):
		if why = a.last[gr]; why == "" {
			return gr.String() + " cannot be read: no answer in time"
		}
	}
	if a.last == nil {
		a.last = map[schema.GroupResource]string{}
	}
	a.last[gr] = why
	return gr.String() + " cannot be read: " + why
}

// unread says which kinds cannot be read, of those that were answered.
func (a *answers) unread() []string {
	a.mu.Lock()
	defer a.mu.Unlock()
	var list []string
	for gr, why := range a.last {
		list = append(list, gr.String()+" cannot be read: "+why)
	}
	slices.Sort(list)
	return list
}

// forget forgets a kind that is not served any more.
func (a *answers) forget(gr schema.GroupResource) {
	a.mu.Lock()
	defer a.mu.Unlock()
	delete(a.last, gr)
}
