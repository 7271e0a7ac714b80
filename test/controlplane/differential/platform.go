package differential

import (
	"github.com/kubectl-gc/kubectl-gc/internal/apisim"
	"github.com/kubectl-gc/kubectl-gc/internal/engine"
	"github.com/kubectl-gc/kubectl-gc/internal/object"
	"github.com/kubectl-gc/kubectl-gc/internal/release"
	"github.com/kubectl-gc/kubectl-gc/internal/snapshot"
)

// platform is what is known of a control plane beside its objects: the kinds that it
// serves, and the release whose rules it follows, the newest one when it is empty.
type platform struct {
	*object.Resources
	release string
	// own tells that the collector is that of the program, which is the same over every
	// release.
	own bool
}

func (p platform) rules() release.Rules {
	minor, _ := snapshot.MinorOf(p.release)
	return release.Of(release.Minor(minor))
}

// snapshot is a world as a dry run gets it.
func (p platform) snapshot(world []*object.Object) (*snapshot.Snapshot, error) {
	return snapshot.New(clones(world), p.Resources, snapshot.CoversEverything(), snapshot.Source{KubernetesVersion: p.release})
}

// server is a simulated API server over a world.
func (p platform) server(world []*object.Object) *apisim.Server {
	return apisim.New(clones(world), p.Resources, apisim.WithRules(p.rules()))
}

// collector is a simulated garbage collector.
func (p platform) collector() *engine.Collector {
	if p.own {
		return engine.New()
	}
	return engine.New(engine.WithRelease(p.rules()))
}
