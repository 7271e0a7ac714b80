package deleters

import (
	"context"
	"errors"
	"slices"
	"sync"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// answers has the last errors of kinds that could not be read. It is safe for concurrent use.
type answers struct {
	mu   sync.Mutex
	last map[schema.GroupResource]string
}

// judge returns why a kind cannot be read; empty without an error. If the context ended the read,
// it returns the server's last error, if there is one.
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

// unread reports the kinds that could not be read last time.
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

// forget drops a kind that is no longer served.
func (a *answers) forget(gr schema.GroupResource) {
	a.mu.Lock()
	defer a.mu.Unlock()
	delete(a.last, gr)
}
