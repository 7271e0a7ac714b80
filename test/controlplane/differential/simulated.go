package differential

import (
	"context"
	"fmt"
	"net/http"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-gc/kubectl-gc/internal/apisim"
	"github.com/kubectl-gc/kubectl-gc/internal/object"
	"github.com/kubectl-gc/kubectl-gc/test/controlplane/cluster"
	"github.com/kubectl-gc/kubectl-gc/test/facade"
	"github.com/kubectl-gc/kubectl-gc/test/scenario"
)

// simulated is the collector of Kubernetes over our simulated API server.
type simulated struct {
	on        platform
	discovery map[string][]byte
	slots     int

	book
	facade  *facade.Server
	server  *http.Server
	manager *cluster.Manager
	fences  int
}

var _, _ site = (*simulated)(nil), (*live)(nil)

func (s *simulated) put(_ context.Context, objects []*object.Object) error {
	home := &object.Object{Ref: object.Ref{Namespace: "default"}} // of the fences
	objects = append(objects, ground(append(objects, home))...)
	s.facade = facade.New(objects, s.on.Resources, s.discovery, apisim.WithRules(s.on.rules()))
	return nil
}

func (s *simulated) clear() error {
	s.facade = nil
	return nil
}

func (s *simulated) collect() (err error) {
	var url string
	if s.server, url, err = serve(recorder{s.facade, s.on.Resources, &s.book}); err != nil {
		return err
	}
	s.manager, err = cluster.StartManager(url, "garbage-collector-controller")
	return err
}

func (s *simulated) rest() error {
	if s.manager == nil {
		return nil
	}
	s.manager.Stop()
	s.manager = nil
	return s.server.Close()
}

func (s *simulated) fence(ctx context.Context) error {
	s.fences++
	o := &object.Object{}
	o.APIVersion, o.Kind, o.Namespace, o.Name = "v1", "ConfigMap", "default", fmt.Sprintf("fence-%d", s.fences)
	o.Owners = []object.OwnerReference{{APIVersion: "v1", Kind: "Secret", Name: o.Name, UID: types.UID(o.Name)}}
	o.UID = "is-" + o.Owners[0].UID
	err := s.facade.Change(func() error {
		_, err := s.facade.Sim.Create(ctx, o)
		return err
	})
	if err != nil {
		return err
	}
	for deadline := time.Now().Add(time.Minute); ; pause(ctx, 10*time.Millisecond) {
		_, err := s.facade.Sim.Get(ctx, o.Ref)
		if apierrors.IsNotFound(err) {
			return nil
		}
		if err != nil {
			return err
		}
		if time.Now().After(deadline) {
			log := s.manager.Stop()
			s.manager = nil
			return fmt.Errorf("the garbage collector does not collect\n%s", log[max(0, len(log)-4000):])
		}
	}
}

func (s *simulated) worlds(context.Context) ([][]*object.Object, error) {
	worlds := make([][]*object.Object, s.slots)
	for _, o := range s.facade.Sim.Objects() {
		sortIn(worlds, o)
	}
	return worlds, nil
}

func (s *simulated) act(ctx context.Context, slot int, a scenario.Act) error {
	a.Ref = placeOf(slot).ref(a.Ref)
	return s.facade.Change(func() error {
		a.Apply(ctx, s.facade.Sim)
		return nil
	})
}

func (s *simulated) finish(ctx context.Context, pod object.Ref) error {
	return s.facade.Change(func() error {
		_ = s.facade.Sim.Delete(ctx, pod, finished(pod.UID)) // it may be gone
		return nil
	})
}
