package oracle

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/rest"

	"github.com/kubectl-gc/kubectl-gc/test/controlplane/cluster"
)

// accounts is the namespace of the users of the program.
const accounts = "oracle"

// stage is a control plane with the worlds of many stories.
type stage struct {
	*cluster.Cluster
	mirror  *mirror
	records *records
	program string
	dir     string
	next    int // slot
	// collects and controls tell whether the collector and the other controllers run.
	collects, controls bool

	mu      sync.Mutex
	fence   time.Time // when the last fence that has gone was made
	failure error
}

// raise starts a control plane that writes down what it is asked.
func raise(ctx context.Context, dir string) (*stage, error) {
	program := *judged
	if program == "" {
		var err error
		if program, err = cluster.Program(); err != nil {
			return nil, err
		}
	}
	c, err := cluster.Start(cluster.Audit)
	if err != nil {
		return nil, err
	}
	s := &stage{Cluster: c, program: program, dir: dir}
	if err := s.furnish(ctx); err != nil {
		return nil, errors.Join(err, c.Stop())
	}
	return s, nil
}

func (s *stage) furnish(ctx context.Context) error {
	if _, err := s.send(ctx, http.MethodPost, "/api/v1/namespaces", fields{"metadata": fields{"name": accounts}}); err != nil {
		return err
	}
	for _, d := range definitions {
		if _, err := s.Do(ctx, http.MethodPost, "/apis/apiextensions.k8s.io/v1/customresourcedefinitions", "application/json", []byte(d)); err != nil {
			return err
		}
	}
	for _, k := range kinds {
		if k.resource().Group == group {
			if err := s.Serves(ctx, group, k.plural, "v1"); err != nil {
				return err
			}
		}
	}
	if err := s.police(ctx); err != nil {
		return err
	}
	var err error
	if s.records, err = follow(ctx, s.AuditLog(), s.fail); err != nil {
		return err
	}
	config := &rest.Config{Host: s.URL, BearerToken: s.Token, TLSClientConfig: rest.TLSClientConfig{CAFile: s.CA}, QPS: -1}
	s.mirror, err = watch(ctx, config, s.operate)
	return err
}

// fail notes what ends everything.
func (s *stage) fail(err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.failure = errors.Join(s.failure, err)
}

func (s *stage) failed() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.failure
}

func (s *stage) send(ctx context.Context, method, path string, body any) ([]byte, error) {
	text, err := json.Marshal(body)
	if err != nil {
		return nil, err
	}
	form := "application/json"
	if method == http.MethodPatch {
		form = "application/merge-patch+json"
	}
	return s.Do(ctx, method, path, form, text)
}

// set stores the worlds of stories, each twice, and starts the controllers and, until
// the context ends, the fences.
func (s *stage) set(ctx context.Context, all []*trial, who controllers) error {
	if err := s.control(ctx, nobody); err != nil {
		return err
	}
	var objects []cluster.Stored
	var places []place
	for _, t := range all {
		t.slot = s.next
		s.next++
		t.ours, t.twin = placesOf(t.slot)
		for _, at := range []place{t.ours, t.twin} {
			some, err := at.stored(t.story)
			if err != nil {
				return err
			}
			// Namespaces come first, so that nothing stands in one that is not there.
			slices.SortStableFunc(some, func(a, b cluster.Stored) int { return rank(a) - rank(b) })
			objects, places = append(objects, some...), append(places, at)
		}
	}
	if err := s.Store(objects); err != nil {
		return err
	}
	for _, t := range all {
		if err := s.admit(ctx, t); err != nil {
			return err
		}
	}
	if err := s.control(ctx, who); err != nil {
		return err
	}
	go s.fences(ctx)
	return s.rest(ctx, 2*dwell, places...)
}

func rank(o cluster.Stored) int {
	if filepath.Dir(o.Key) == "namespaces" {
		return 0
	}
	return 1
}

// control has other controllers run.
func (s *stage) control(ctx context.Context, who controllers) error {
	s.mu.Lock()
	s.fence = time.Time{}
	s.mu.Unlock()
	s.collects, s.controls = who == everybody, who != nobody
	return s.Controllers(running[who]...)
}

// fences makes garbage of its own again and again, while a batch runs: when one has
// gone, the collector has begun with everything that came before it.
func (s *stage) fences(ctx context.Context) {
	for n := 0; s.collects && ctx.Err() == nil; n++ {
		made := time.Now()
		name := fmt.Sprintf("fence-%d-%d", s.next, n)
		_, err := s.send(ctx, http.MethodPost, kindNamed("ConfigMap").path(accounts, ""), fields{"metadata": fields{
			"name": name, "ownerReferences": []fields{{"apiVersion": "v1", "kind": "ConfigMap", "name": "nobody", "uid": "nobody"}},
		}})
		if err == nil {
			err = cluster.Await(ctx, "the garbage collector collects", func(ctx context.Context) (bool, error) {
				_, err := s.Do(ctx, http.MethodGet, kindNamed("ConfigMap").path(accounts, name), "", nil)
				if cluster.Code(err) == http.StatusNotFound {
					return true, nil
				}
				return false, err
			})
		}
		if err != nil {
			if ctx.Err() == nil {
				s.fail(err)
			}
			return
		}
		s.mu.Lock()
		s.fence = made
		s.mu.Unlock()
		timer := time.NewTimer(100 * time.Millisecond)
		select {
		case <-ctx.Done():
		case <-timer.C:
		}
	}
}

func (s *stage) fenced() time.Time {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.fence
}

// operate is the operator: it takes its finalizer off what it looks after.
func (s *stage) operate(k key, o *unstructured.Unstructured) {
	if !operates(o) {
		return
	}
	go func() {
		left := slices.DeleteFunc(o.GetFinalizers(), func(f string) bool { return f == operated })
		_, err := s.send(context.Background(), http.MethodPatch, kindNamed(k.kind).path(k.namespace, k.name), fields{"metadata": fields{
			"uid": o.GetUID(), "resourceVersion": o.GetResourceVersion(), "finalizers": left,
		}})
		if err != nil && cluster.Code(err) == 0 {
			s.fail(err)
		}
	}()
}

// operates reports whether an object waits for the operator.
func operates(o *unstructured.Unstructured) bool {
	return o.GetDeletionTimestamp() != nil && o.GetLabels()[runs] == "yes" && slices.Contains(o.GetFinalizers(), operated)
}

// strike removes the worlds of a batch.
func (s *stage) strike(ctx context.Context, all []*trial) error {
	if err := s.control(ctx, nobody); err != nil {
		return err
	}
	var prefixes []string
	for _, t := range all {
		for _, at := range []place{t.ours, t.twin} {
			for _, k := range kinds {
				prefixes = append(prefixes, k.key+"/"+string(at))
			}
			prefixes = append(prefixes, "rolebindings/"+string(at), "events/"+string(at), "clusterrolebindings/"+string(at))
		}
		prefixes = append(prefixes, "serviceaccounts/"+accounts+"/"+t.user())
		if t.link != nil {
			t.link.close()
		}
		if t.gate != nil {
			t.gate.CloseClientConnections()
			t.gate.Close()
		}
		if err := os.RemoveAll(t.dir); err != nil {
			return err
		}
	}
	return s.Wipe(prefixes...)
}
