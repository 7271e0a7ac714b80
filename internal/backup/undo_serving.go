package backup

import (
	"context"
	"fmt"
	"time"

	"github.com/kubectl-gc/kubectl-gc/internal/backup/undo"
	"github.com/kubectl-gc/kubectl-gc/internal/object"
)

// serving is the result of waiting until a kind is served.
type serving struct {
	over bool
	err  error
}

const (
	// servedWithin is how long a server may take to serve a new CRD. One of several API servers
	// waits five seconds for the others.
	//
	// Upstream: apiextensions-apiserver/pkg/apiserver/customresource_handler.go updateCustomResourceDefinition.
	// Upstream: apiextensions-apiserver/pkg/controller/establish/establishing_controller.go EstablishingController.sync.
	servedWithin = 30 * time.Second
	firstLook    = 20 * time.Millisecond
	latestLook   = time.Second
)

// define registers that a step has created a CRD.
func (r *running) define(s *undo.Step) {
	if group, kind, ok := s.Defines(); ok {
		r.defined[group+"/"+kind] = &serving{}
	}
}

// awaitServed blocks until objects of a kind can be created, if this run has created its CRD.
func (r *running) awaitServed(ctx context.Context, ref object.Ref) error {
	kind := r.defined[ref.Group()+"/"+ref.Kind]
	if kind == nil {
		return nil
	}
	if !kind.over {
		kind.over, kind.err = true, r.isServed(ctx, ref)
	}
	return kind.err
}

func (r *running) isServed(ctx context.Context, ref object.Ref) error {
	ctx, cancel := context.WithTimeout(ctx, servedWithin)
	defer cancel()
	defer context.AfterFunc(r.interrupted, cancel)()
	look := lookup{ctx: ctx, from: r.proven}
	var last error
	for pause := firstLook; ; pause = min(2*pause, latestLook) {
		if _, last = r.client.Resource(ref.APIVersion, ref.Kind); last != nil {
			_, last = r.client.Discover(ctx)
		}
		if last == nil {
			// Its absence is proven only once its path is served.
			if _, last = look.find(ref); last == nil {
				return nil
			}
		}
		if r.o.Wait == nil || !r.o.Wait(ctx, pause) {
			return fmt.Errorf("its CRD was made, and it is not served yet: %w", last)
		}
	}
}
