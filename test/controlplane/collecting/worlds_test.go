package collecting

import (
	"fmt"
	"net/http"
	"strings"
	"sync"

	"github.com/kubectl-gc/kubectl-gc/test/controlplane/cluster"
)

// load is a world whose collection is measured: a root, perhaps owners under it, and
// dependents.
type load struct {
	name   string
	policy string
	// owners between the root and the dependents; 0 for none.
	owners int
	// each is how many requests our collector may send for an object, and patches
	// how many more there are.
	each    float64
	patches int
	// faster is how many times as many objects a second ours has to collect as
	// upstream's collector.
	faster float64
}

// loads are those of the budget: with 5,000 dependents there are 50 owners in worlds
// of two levels.
func loads(dependents int) []load {
	middle := dependents / 100
	return []load{
		{"background, one owner", "Background", 0, 1.02, 0, 1.8},
		{"background, two levels", "Background", middle, 1.05, 0, 1.8},
		{"foreground, two levels, blocking", "Foreground", middle, 1.05, middle + 1, 2.5},
		{"orphan, one owner", "Orphan", 0, 1, 1, 3},
	}
}

// collected is how many objects a collector deletes or releases.
func (l load) collected(dependents int) int { return dependents + l.owners }

// budget is how many requests our collector may send.
func (l load) budget(dependents int) float64 {
	return l.each*float64(l.collected(dependents)) + float64(l.patches)
}

// build stores the world and returns the root's path.
func (s *stage) build(l load, n int) (root string) {
	s.t.Helper()
	uid := func(name string) string { return name + "-" + s.namespace }
	make := func(resource, kind, name, owner string) cluster.Stored {
		refs := ""
		if owner != "" {
			refs = fmt.Sprintf(`,"ownerReferences":[{"apiVersion":"v1","kind":"Secret","name":%q,"uid":%q,"controller":true,"blockOwnerDeletion":true}]`,
				owner, uid(owner))
		}
		return cluster.Stored{Key: resource + "/" + s.namespace + "/" + name, Manifest: fmt.Appendf(nil,
			`{"apiVersion":"v1","kind":%q,"metadata":{"name":%q,"namespace":%q,"uid":%q,"creationTimestamp":"2026-01-01T00:00:00Z",`+
				`"labels":{"app.kubernetes.io/name":"cost"}%s}}`, kind, name, s.namespace, uid(name), refs)}
	}
	all := []cluster.Stored{make("secrets", "Secret", "root", "")}
	for i := range l.owners {
		all = append(all, make("secrets", "Secret", fmt.Sprintf("owner-%d", i), "root"))
	}
	for i := range n {
		owner := "root"
		if l.owners > 0 {
			owner = fmt.Sprintf("owner-%d", i%l.owners)
		}
		all = append(all, make("configmaps", "ConfigMap", fmt.Sprintf("dependent-%d", i), owner))
	}
	if err := s.Store(all); err != nil {
		s.t.Fatal(err)
	}
	s.until("the last one is served", func() bool { return !s.gone(s.at("configmaps", fmt.Sprintf("dependent-%d", n-1))) })
	return s.at("secrets", "root")
}

// done reports whether nothing is left to collect.
func (s *stage) done(l load) bool {
	s.t.Helper()
	if len(s.list(s.at("secrets")+"?limit=1")) > 0 {
		return false
	}
	return l.policy == "Orphan" || len(s.list(s.at("configmaps")+"?limit=1")) == 0
}

// write is one request of a client that does nothing but write.
type write struct{ method, path, contentType, body string }

// writes are the requests that a collector cannot do without, in phases.
func (s *stage) writes(l load) [][]write {
	s.t.Helper()
	root := "root-" + s.namespace
	remove := func(resource string, o meta, policy string) write {
		return write{http.MethodDelete, s.at(resource, o.Name), "application/json", fmt.Sprintf(
			`{"kind":"DeleteOptions","apiVersion":"v1","propagationPolicy":%q,"preconditions":{"uid":%q,"resourceVersion":%q}}`, policy, o.UID, o.ResourceVersion)}
	}
	finish := func(name, uid string) write {
		return write{http.MethodPatch, s.at("secrets", name), "application/merge-patch+json",
			fmt.Sprintf(`{"metadata":{"uid":%q,"finalizers":null}}`, uid)}
	}
	var owners, dependents, ends []write
	for _, o := range s.list(s.at("secrets")) {
		if o.UID == root {
			continue
		}
		owners = append(owners, remove("secrets", o, l.policy))
		ends = append(ends, finish(o.Name, o.UID))
	}
	for _, o := range s.list(s.at("configmaps")) {
		if l.policy == "Orphan" {
			dependents = append(dependents, write{http.MethodPatch, s.at("configmaps", o.Name), "application/strategic-merge-patch+json",
				fmt.Sprintf(`{"metadata":{"uid":%q,"ownerReferences":[{"$patch":"delete","uid":%q}]}}`, o.UID, root)})
			continue
		}
		dependents = append(dependents, remove("configmaps", o, "Background"))
	}
	if l.policy == "Foreground" {
		return [][]write{owners, dependents, ends, {finish("root", root)}}
	}
	if l.policy == "Orphan" {
		return [][]write{dependents, {finish("root", root)}}
	}
	return [][]write{owners, dependents}
}

// send sends writes, as many at a time as a collector has workers.
func (s *stage) send(phases [][]write) {
	s.t.Helper()
	for _, phase := range phases {
		work := make(chan write)
		var all sync.WaitGroup
		for range 20 {
			all.Go(func() {
				for w := range work {
					if _, err := s.ask(w.method, w.path, w.contentType, w.body); err != nil {
						s.t.Error(err)
					}
				}
			})
		}
		for _, w := range phase {
			work <- w
		}
		close(work)
		all.Wait()
	}
}

// written counts what the server was asked for about config maps and secrets, lists
// and watches apart, since it was started.
func (s *stage) written() map[string]int {
	s.t.Helper()
	counts := map[string]int{}
	for line := range strings.Lines(string(s.must(http.MethodGet, "/metrics", "", ""))) {
		rest, ok := strings.CutPrefix(line, "apiserver_request_total{")
		if !ok {
			continue
		}
		labels, value, _ := strings.Cut(rest, "} ")
		if !strings.Contains(labels, `resource="configmaps"`) && !strings.Contains(labels, `resource="secrets"`) {
			continue
		}
		_, verb, _ := strings.Cut(labels, `verb="`)
		verb, _, _ = strings.Cut(verb, `"`)
		var n float64
		if _, err := fmt.Sscan(value, &n); err != nil {
			s.t.Fatalf("%s: %v", line, err)
		}
		if verb != "LIST" && verb != "WATCH" {
			counts[verb] += int(n)
		}
	}
	return counts
}
