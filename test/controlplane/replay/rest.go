package replay

import (
	"cmp"
	"context"
	"fmt"
	"net/http"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/cockroachdb/datadriven"

	"github.com/kubectl-gc/kubectl-gc/test/controlplane/cluster"
	"github.com/kubectl-gc/kubectl-gc/test/scenario"
)

// resting are the directives after which a world is at rest, and the controllers
// that bring it there.
var resting = map[string][]string{
	"drain": {collector},
	"controllers": {
		collector, "namespace-controller", "persistentvolumeclaim-protection-controller", "persistentvolume-protection-controller",
		"serviceaccount-token-controller", "endpoints-controller",
	},
}

const collector = "garbage-collector-controller"

// asking are the directives that a file may have beside those: requests, and views
// of what is not compared.
var asking = []string{
	"release", "cluster", "create", "update", "finalize", "patch", "delete", "deletecollection", "get", "state", "warnings", "tick",
	"observe", "waiting", "deferred", "queue", "absent", "graph", "recorded",
}

// comesToRest says by which directive the worlds of a file settle, or else
// why they do not.
func comesToRest(file string) (by, why string, err error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return "", "", err
	}
	for block := range strings.SplitSeq(string(text), "\n\n") {
		lines := slices.DeleteFunc(strings.Split(strings.TrimSpace(block), "\n"),
			func(l string) bool { return strings.HasPrefix(l, "#") || l == "" })
		if !slices.Contains(lines, "----") {
			continue
		}
		words := strings.Fields(lines[0])
		_, rest := resting[words[0]]
		switch {
		case rest && len(words) == 1:
			by = min(cmp.Or(by, words[0]), words[0])
		case rest, !slices.Contains(asking, words[0]):
			return "", "a real controller cannot be told to " + lines[0], nil
		case words[0] == "cluster" && len(words) > 1:
			return "", "a real server cannot be " + lines[0], nil
		}
	}
	if by == "" {
		return "", "it never settles", nil
	}
	return by, "", nil
}

// calm is how long a world has to stay as it is, after the collector was seen to have
// begun with all that it knows, until it counts as being at rest.
const calm = 500 * time.Millisecond

// hire starts the controllers of a file, unless they work already, and returns when
// the collector has seen the world.
func (p *play) hire(ctx context.Context) error {
	if p.working {
		return nil
	}
	p.working = true
	if err := p.Controllers(resting[p.rest]...); err != nil {
		return err
	}
	return p.fence(ctx)
}

// fence returns when the collector has begun with all that it was told before: it
// collects dependents of what never was, of three kinds.
func (p *play) fence(ctx context.Context) error {
	p.fences++
	name := fmt.Sprintf("fence-%d", p.fences)
	refs := fmt.Sprintf(`"metadata":{"name":%q,"ownerReferences":[{"apiVersion":"v1","kind":"Secret","name":%q,"uid":%q}]}`, name, name, name)
	bodies := map[string]string{
		"configmaps": `{` + refs + `}`, "secrets": `{` + refs + `}`,
		"pods": `{` + refs + `,"spec":{"containers":[{"name":"c","image":"i"}]}}`,
	}
	const place = "/api/v1/namespaces/kube-node-lease/"
	for kind, body := range bodies {
		if _, err := p.Do(ctx, http.MethodPost, place+kind, "application/json", []byte(body)); err != nil {
			return err
		}
	}
	for kind := range bodies {
		if err := cluster.Await(ctx, "the garbage collector collects "+kind, func(ctx context.Context) (bool, error) {
			_, err := p.Do(ctx, http.MethodGet, place+kind+"/"+name, "", nil)
			if cluster.Code(err) == http.StatusNotFound {
				return true, nil
			}
			return false, err
		}); err != nil {
			return err
		}
	}
	return nil
}

// dismiss ends the controllers.
func (p *play) dismiss() error {
	if !p.working {
		return nil
	}
	p.working = false
	return p.Controllers()
}

// patience is how long a world may be another one than the file says. A file that is
// wrong has to be noticed before all files together take too long.
const patience = 2 * time.Minute

// settle waits until the world is what the file says, and makes sure that it stays
// so. The error says what is wrong with one that does not come to that.
func (p *play) settle(ctx context.Context, d *datadriven.TestData) error {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	var wrong []string
	finished := map[string]bool{}
	look := func(ctx context.Context) (bool, error) {
		if err := p.finish(ctx, d, finished); err != nil {
			return false, err
		}
		now, err := p.compareWorld(ctx)
		if err == nil {
			wrong = now
		}
		return len(wrong) == 0, err
	}
	err := cluster.Await(ctx, "the world settles as the file says", func(ctx context.Context) (bool, error) {
		if ok, err := look(ctx); !ok || err != nil {
			return false, err
		}
		if err := p.fence(ctx); err != nil {
			return false, err
		}
		if err := pause(ctx, calm); err != nil {
			return false, err
		}
		return look(ctx)
	})
	if err != nil {
		return fmt.Errorf("%w\n%s", err, strings.Join(wrong, "\n"))
	}
	return nil
}

// finish does to the pods what the file says that their kubelets do.
func (p *play) finish(ctx context.Context, d *datadriven.TestData, finished map[string]bool) error {
	for line := range strings.Lines(d.Expected) {
		words := strings.Fields(line)
		if len(words) < 5 || words[0] != "kubelet" || finished[line] {
			continue
		}
		ref, _, err := p.env.Target(words[2:5])
		if err != nil {
			return err
		}
		pod, err := p.find(ctx, ref)
		if err != nil {
			return err
		}
		if pod == nil || !pod.BeingDeleted() {
			continue
		}
		path, _, err := pathOf(p.env, ref)
		if err != nil {
			return fmt.Errorf("%s: %w", ref, err)
		}
		finished[line] = true
		body := fmt.Appendf(nil, `{"apiVersion":"v1","kind":"DeleteOptions","gracePeriodSeconds":0,"preconditions":{"uid":%q}}`, pod.UID)
		if _, err := p.ask(ctx, http.MethodDelete, path, "application/json", body); err != nil {
			return err
		}
	}
	return nil
}

// newRest is a play of a file whose world settles after the directive rest.
func newRest(s *stage, file, rest string) *play {
	p := newPlay(s, file)
	p.rest = rest
	scenario.Control(p.env)
	return p
}
