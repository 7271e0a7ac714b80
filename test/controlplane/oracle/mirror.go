package oracle

import (
	"context"
	"errors"
	"strings"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/dynamic/dynamicinformer"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"

	"github.com/kubectl-gc/kubectl-gc/test/controlplane/cluster"
)

// key is an object of the server: its kind, namespace and name.
type key struct{ kind, namespace, name string }

func (k key) String() string {
	return strings.ToLower(k.kind) + " " + strings.TrimPrefix(k.namespace+"/"+k.name, "/")
}

// place is the world that the object is of; empty where it is of none.
func (k key) place() place {
	in := k.namespace
	if in == "" {
		in = k.name
	}
	at, _, ok := strings.Cut(in, "-")
	if !ok || at == "" || strings.Trim(at[1:], "0123456789") != "" || at[0] != 'm' && at[0] != 't' {
		return ""
	}
	return place(at + "-")
}

// mirror is what the server has of the kinds of worlds, as watches tell it.
type mirror struct {
	mu      sync.Mutex
	objects map[place]map[key]*unstructured.Unstructured
	moved   map[place]time.Time
	// told is called with every object that comes or changes.
	told func(key, *unstructured.Unstructured)
}

// watch begins to mirror the server, and returns when everything is there.
func watch(ctx context.Context, config *rest.Config, told func(key, *unstructured.Unstructured)) (*mirror, error) {
	client, err := dynamic.NewForConfig(config)
	if err != nil {
		return nil, err
	}
	m := &mirror{objects: map[place]map[key]*unstructured.Unstructured{}, moved: map[place]time.Time{}, told: told}
	factory := dynamicinformer.NewDynamicSharedInformerFactory(client, 0)
	for _, k := range kinds {
		_, err := factory.ForResource(k.resource()).Informer().AddEventHandler(cache.ResourceEventHandlerFuncs{
			AddFunc:    func(o any) { m.take(k, o, false) },
			UpdateFunc: func(_, o any) { m.take(k, o, false) },
			DeleteFunc: func(o any) { m.take(k, o, true) },
		})
		if err != nil {
			return nil, err
		}
	}
	factory.Start(ctx.Done())
	for _, synced := range factory.WaitForCacheSync(ctx.Done()) {
		if !synced {
			return nil, errors.New("the watches did not begin")
		}
	}
	return m, nil
}

func (m *mirror) take(of kind, what any, gone bool) {
	if last, ok := what.(cache.DeletedFinalStateUnknown); ok {
		what = last.Obj
	}
	o := what.(*unstructured.Unstructured)
	k := key{of.name, o.GetNamespace(), o.GetName()}
	at := k.place()
	m.mu.Lock()
	m.moved[at] = time.Now()
	switch {
	case gone:
		delete(m.objects[at], k)
	case m.objects[at] == nil:
		m.objects[at] = map[key]*unstructured.Unstructured{k: o}
	default:
		m.objects[at][k] = o
	}
	m.mu.Unlock()
	if !gone && at != "" {
		m.told(k, o)
	}
}

// world is what the server has at a place.
func (m *mirror) world(at place) map[key]*unstructured.Unstructured {
	m.mu.Lock()
	defer m.mu.Unlock()
	all := map[key]*unstructured.Unstructured{}
	for k, o := range m.objects[at] {
		all[k] = o
	}
	return all
}

func (m *mirror) get(k key) *unstructured.Unstructured {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.objects[k.place()][k]
}

// still is since when nothing has moved at any of the places.
func (m *mirror) still(places ...place) time.Time {
	m.mu.Lock()
	defer m.mu.Unlock()
	var last time.Time
	for _, at := range places {
		if m.moved[at].After(last) {
			last = m.moved[at]
		}
	}
	return last
}

// emptying reports whether a namespace at one of the places is on its way, and what is in
// it may still go: its controller looks again after eight seconds. One whose content is
// held by others stays as it is; the operator is not one of them, however late it is on a
// busy machine.
func (m *mirror) emptying(places ...place) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, at := range places {
		for k, o := range m.objects[at] {
			if k.kind != "Namespace" || o.GetDeletionTimestamp() == nil {
				continue
			}
			held, left := 0, 0
			for in, content := range m.objects[at] {
				switch {
				case in.namespace != k.name:
				case content.GetDeletionTimestamp() == nil, operates(content):
					left++
				default:
					held++
				}
			}
			if held == 0 || left > 0 {
				return true
			}
		}
	}
	return false
}

// How long nothing may move before a world is taken for being at rest.
const (
	dwell = 700 * time.Millisecond
	// round is longer than the namespace controller waits for content.
	round = 9 * time.Second
)

// rest waits until the worlds have settled: nothing has moved for a while, and
// the collector, where there is one, has been through with all that came before. What the
// watches have not told yet counts as moving: it is waited from now on.
func (s *stage) rest(ctx context.Context, least time.Duration, places ...place) error {
	began := time.Now()
	return cluster.Await(ctx, "the worlds are at rest", func(context.Context) (bool, error) {
		last := s.mirror.still(places...)
		if last.Before(began) {
			last = began
		}
		need := least
		if s.controls && s.mirror.emptying(places...) {
			need = max(need, round)
		}
		return time.Since(last) > need && (!s.collects || s.fenced().After(last)), nil
	})
}
