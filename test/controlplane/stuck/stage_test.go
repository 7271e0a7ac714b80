// Package stuck builds what people find stuck on a real control plane, and asks the
// program about it: situations are files of testdata, which has the answers as well;
// docs/stuck-situations.md says them in short.
package stuck

import (
	"context"
	"flag"
	"net/http"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/kubectl-gc/kubectl-gc/test/controlplane/cluster"
)

// plane is the control plane of all situations.
var plane *cluster.Cluster

func TestMain(m *testing.M) {
	flag.Parse()
	os.Exit(cluster.Main(m, &plane))
}

// controllers are those that run while situations come about. None of them takes
// away what a situation needs: no collector of pods, nobody who looks at nodes.
var controllers = []string{
	"garbage-collector-controller", "namespace-controller",
	"persistentvolumeclaim-protection-controller", "persistentvolume-protection-controller",
}

// background is for what ends with the tests.
var background = context.Background()

// stage is the cluster that the situations share.
type stage struct {
	*testing.T
	ctx context.Context
}

// each does something with some situations beside each other, and ends the test with
// the first error.
func (s *stage) each(all []*situation, do func(context.Context, *situation) error) {
	s.Helper()
	const beside = 8
	slots := make(chan struct{}, beside)
	errs := make([]error, len(all))
	var running sync.WaitGroup
	for i, one := range all {
		slots <- struct{}{}
		running.Go(func() {
			errs[i] = do(s.ctx, one)
			<-slots
		})
	}
	running.Wait()
	for _, err := range errs {
		if err != nil {
			s.Fatal(err)
		}
	}
}

// prepare makes what all situations share, their namespaces and their kinds.
func (s *stage) prepare(all []*situation) {
	s.Helper()
	shared := &situation{Name: "default", places: map[string]string{}, uids: map[string]string{}}
	worker := node{Name: "worker", Ready: "True"}
	if err := shared.create(s.ctx, "", worker.manifest(), lease("kube-node-lease", "worker", "worker", "$now"),
		lease("kube-system", "kube-controller-manager", "machine_1", "$ago:1h")); err != nil {
		s.Fatal(err)
	}
	var mu sync.Mutex
	var kinds []string
	s.each(all, func(ctx context.Context, one *situation) error {
		if !one.WithoutNamespace {
			if err := one.create(ctx, "", body{"apiVersion": "v1", "kind": "Namespace", "metadata": body{"name": one.Name}}); err != nil {
				return err
			}
		}
		names, err := one.define(ctx)
		mu.Lock()
		defer mu.Unlock()
		kinds = append(kinds, names...)
		return err
	})
	for _, name := range kinds {
		plural, group, _ := strings.Cut(name, ".")
		if err := plane.Serves(s.ctx, group, plural, "v1"); err != nil {
			s.Fatal(err)
		}
	}
}

// control starts the controllers, and returns when the collector works.
func (s *stage) control() {
	s.Helper()
	if err := plane.Controllers(controllers...); err != nil {
		s.Fatal(err)
	}
	s.fence("started")
}

// fence returns when the collector has begun with all that it was told before.
func (s *stage) fence(name string) {
	s.Helper()
	const all = "/api/v1/namespaces/default/configmaps"
	o := body{"metadata": body{"name": name, "ownerReferences": []any{body{"apiVersion": "v1", "kind": "ConfigMap", "name": "never", "uid": name}}}}
	if _, err := send(s.ctx, http.MethodPost, all, "application/json", o); err != nil {
		s.Fatal(err)
	}
	cluster.Until(s.T, "the garbage collector works", func() bool {
		_, err := plane.Do(s.ctx, http.MethodGet, all+"/"+name, "", nil)
		return cluster.Code(err) == http.StatusNotFound
	})
}

// alive renews the leases of what runs: of the node that is well, of the controller manager, and
// of the operators of a situation.
func (s *stage) alive(one *situation, managed bool) {
	s.Helper()
	paths := []string{collection("coordination.k8s.io/v1", "Lease", "kube-node-lease") + "/worker"}
	if managed {
		paths = append(paths, collection("coordination.k8s.io/v1", "Lease", "kube-system")+"/kube-controller-manager")
	}
	for i := range one.Made {
		if o := one.Made[i].Operator; o != nil && o.Lease == "$now" {
			path, err := one.at("Lease/" + o.Name)
			if err != nil {
				s.Fatal(err)
			}
			paths = append(paths, path)
		}
	}
	for _, path := range paths {
		if _, err := send(s.ctx, http.MethodPatch, path, "application/merge-patch+json", one.fill(body{"spec": body{"renewTime": "$now"}})); err != nil {
			s.Fatal(err)
		}
	}
}

// stopwatch logs how long each part of a test takes.
func (s *stage) stopwatch() func(string) {
	began := time.Now()
	return func(part string) {
		s.Helper()
		s.Logf("%s: %s", part, time.Since(began).Round(time.Millisecond))
		began = time.Now()
	}
}
