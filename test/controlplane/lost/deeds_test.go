package lost

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/kubectl-gc/kubectl-gc/test/controlplane/cluster"
)

// deed is what somebody deletes with one command.
type deed struct {
	// targets are one object, or several of a kind and namespace.
	targets []*thing
	// selector is that of the command; empty for one that names its object, a star for --all.
	selector string
	policy   string
	// grace is the grace period that is asked for; nil where none is.
	grace *int
	// pause is how many milliseconds later than the one before it comes.
	pause int
	user  string
	// again says that the object is made anew as soon as it is gone, as kubectl replace --force does.
	again bool
}

// drawDeeds draws one to three deletes: mostly of what owns something.
func (s *state) drawDeeds() {
	var owners []*thing
	for _, t := range s.things {
		for _, w := range t.owners {
			owners = append(owners, w.of)
		}
	}
	for i := range 1 + s.IntN(3) {
		from := s.things
		if len(owners) > 0 && s.IntN(3) > 0 {
			from = owners
		}
		target := from[s.IntN(len(from))]
		d := &deed{
			targets: []*thing{target}, policy: []string{"", "Background", "Foreground", "Orphan"}[s.IntN(4)],
			pause: []int{0, 0, 20, 300, 2000}[s.IntN(5)], user: fmt.Sprintf("%s-by%d", s.label, i),
		}
		switch s.IntN(8) {
		case 0:
			d.grace = new(0)
		case 1:
			d.grace = new(1)
		case 2:
			d.again = !s.kubectl && target.kind != namespaceKind && target.kind != definitionKind
		}
		if target.namespace != "" && s.IntN(5) == 0 {
			d.again = false
			d.selector = []string{"*", target.group}[s.IntN(2)]
			d.targets = s.selected(target, d.selector)
		}
		s.deeds = append(s.deeds, d)
	}
}

// selected are the objects of the kind and namespace of one that a selector means.
func (s *state) selected(like *thing, selector string) []*thing {
	if selector == "" {
		return []*thing{like}
	}
	var list []*thing
	for _, t := range s.things {
		if t.kind == like.kind && t.namespace == like.namespace && (selector == "*" || t.group == selector) {
			list = append(list, t)
		}
	}
	return list
}

// build makes the objects of a state.
func (s *state) build(ctx context.Context) error {
	for _, t := range s.things {
		if err := t.create(ctx); err != nil {
			return err
		}
	}
	return nil
}

func (t *thing) create(ctx context.Context) error {
	return cluster.Await(ctx, t.path()+" is there", func(ctx context.Context) (bool, error) {
		got, err := send(ctx, "", http.MethodPost, t.collection(), t.manifest())
		switch {
		case err != nil:
			return false, err
		case got.code == http.StatusNotFound, got.code == http.StatusForbidden:
			return false, nil // its definition is not served yet, or its account not there
		case got.code != http.StatusCreated:
			return false, fmt.Errorf("%s: %d %+v", t.path(), got.code, got)
		}
		t.uid = got.Metadata.UID
		return true, nil
	})
}

// act carries the deletes out, one after the other, while others write.
func (s *state) act(ctx context.Context) error {
	done := make(chan error, 1)
	go func() { done <- s.meddle(ctx) }()
	for _, d := range s.deeds {
		wait(ctx, d.pause)
		do := s.ask
		if s.kubectl && s.without == nil {
			do = s.command
		}
		if err := do(ctx, d); err != nil {
			return err
		}
	}
	return <-done
}

// ask sends the requests that kubectl would.
func (s *state) ask(ctx context.Context, d *deed) error {
	options := object{"apiVersion": "v1", "kind": "DeleteOptions"}
	if d.policy != "" {
		options["propagationPolicy"] = d.policy
	}
	if d.grace != nil {
		options["gracePeriodSeconds"] = *d.grace
	}
	for _, t := range d.targets {
		if s.without[t.number] {
			continue
		}
		got, err := send(ctx, d.user, http.MethodDelete, t.path(), options)
		if err != nil {
			return err
		}
		if d.again && got.code < 300 {
			// It fails where the object, its namespace or its kind has not gone or has.
			if _, err := send(ctx, "", http.MethodPost, t.collection(), t.manifest()); err != nil {
				return err
			}
		}
	}
	return nil
}

// commands is how many commands run at a time.
var commands = make(chan struct{}, 3)

// command has kubectl do it.
func (s *state) command(ctx context.Context, d *deed) error {
	commands <- struct{}{}
	defer func() { <-commands }()
	t := d.targets[0]
	group, _, grouped := strings.Cut(t.kind.apiVersion, "/")
	resource := t.kind.plural
	if grouped {
		resource += "." + group
	}
	args := []string{"delete", resource, "--wait=false", "--ignore-not-found", "--as=" + d.user, "--as-group=system:masters"}
	if t.namespace != "" {
		args = append(args, "--namespace="+t.namespace)
	}
	switch d.selector {
	case "":
		args = append(args, t.name)
	case "*":
		args = append(args, "--all")
	default:
		args = append(args, "--selector=group="+d.selector)
	}
	if d.policy != "" {
		args = append(args, "--cascade="+strings.ToLower(d.policy))
	}
	switch {
	case d.grace == nil:
	case *d.grace == 0:
		args = append(args, "--force", "--grace-period=0")
	default:
		args = append(args, "--now")
	}
	// It fails where the definition of the kind, or the namespace, has gone.
	_, _ = plane.Kubectl(ctx, nil, args...)
	return ctx.Err()
}

func wait(ctx context.Context, milliseconds int) {
	t := time.NewTimer(time.Duration(milliseconds) * time.Millisecond)
	defer t.Stop()
	select {
	case <-ctx.Done():
	case <-t.C:
	}
}

// release takes off what holds the objects of a state, so that nothing is left for the next.
func (s *state) release(ctx context.Context) error {
	for _, t := range s.things {
		if _, err := send(ctx, "", http.MethodPatch, t.path(), object{"metadata": object{"finalizers": nil}}); err != nil {
			return err
		}
		if t.kind.kind != "Pod" && t.namespace != "" {
			continue
		}
		options := object{"apiVersion": "v1", "kind": "DeleteOptions"}
		if t.kind.kind == "Pod" {
			options["gracePeriodSeconds"] = 0
		}
		if _, err := send(ctx, "", http.MethodDelete, t.path(), options); err != nil {
			return err
		}
	}
	return nil
}
