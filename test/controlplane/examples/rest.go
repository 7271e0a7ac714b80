package main

import (
	"context"
	"net/http"
	"time"
)

// dwell is for how long nothing may be written until the cluster counts as being at
// rest, where controllers are as quick as usual. Those that put something off do so
// for less.
const dwell = 400 * time.Millisecond

// settle waits until nothing is written any more: for as long as dwell, and on a
// machine that is slow or busy for many times as long as a controller takes. What
// runs renews its Lease whatever happens, every ten seconds: that is no write here,
// or a slow machine would never be at rest.
func (s *stage) settle(ctx context.Context) error {
	reaction, err := s.reaction(ctx)
	if err != nil {
		return err
	}
	var last int64
	var since time.Time
	return until(ctx, "nothing is written any more", func() (bool, error) {
		leases, err := s.leases(ctx)
		if err != nil {
			return false, err
		}
		revision, err := s.revision(ctx)
		renewed := int64(0)
		for _, lease := range leases {
			if last < lease && lease <= revision {
				renewed++
			}
		}
		if revision > last+renewed {
			since = time.Now()
		}
		last = revision
		return time.Since(since) > max(dwell, 10*reaction), err
	})
}

// leases are the revisions in which they were renewed last.
func (s *stage) leases(ctx context.Context) ([]int64, error) {
	var list struct {
		Items []struct {
			Metadata struct {
				ResourceVersion int64 `json:"resourceVersion,string"`
			} `json:"metadata"`
		} `json:"items"`
	}
	err := s.get(ctx, "/apis/coordination.k8s.io/v1/leases", &list)
	revisions := make([]int64, len(list.Items))
	for i, lease := range list.Items {
		revisions[i] = lease.Metadata.ResourceVersion
	}
	return revisions, err
}

// reaction is how long a controller takes to react to something that is gone then.
func (s *stage) reaction(ctx context.Context) (time.Duration, error) {
	const sets = "/apis/apps/v1/namespaces/kube-public/replicasets"
	began := time.Now()
	if err := s.request(ctx, http.MethodPost, sets, asJSON, object{"metadata": object{"name": "probe"}, "spec": object{
		"replicas": 0, "selector": object{"matchLabels": object{"app": "probe"}},
		"template": object{"metadata": object{"labels": object{"app": "probe"}}, "spec": object{"containers": []object{{"name": "c", "image": "i"}}}},
	}}); err != nil {
		return 0, err
	}
	if err := until(ctx, "the controller of ReplicaSets reacts", func() (bool, error) {
		var set struct {
			Status struct{ ObservedGeneration int64 }
		}
		err := s.get(ctx, sets+"/probe", &set)
		return set.Status.ObservedGeneration > 0, err
	}); err != nil {
		return 0, err
	}
	took := time.Since(began)
	return took, s.request(ctx, http.MethodDelete, sets+"/probe", asJSON, object{"propagationPolicy": "Background"})
}

// revision is the number of what was written last.
func (s *stage) revision(ctx context.Context) (int64, error) {
	var list struct {
		Metadata struct {
			ResourceVersion int64 `json:"resourceVersion,string"`
		} `json:"metadata"`
	}
	err := s.get(ctx, "/api/v1/namespaces?limit=1", &list)
	return list.Metadata.ResourceVersion, err
}
