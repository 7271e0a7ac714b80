package scenario

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/cockroachdb/datadriven"

	"github.com/kubectl-gc/kubectl-gc/internal/apisim"
	"github.com/kubectl-gc/kubectl-gc/internal/apisim/controllers"
	"github.com/kubectl-gc/kubectl-gc/internal/engine"
	"github.com/kubectl-gc/kubectl-gc/internal/object"
	"github.com/kubectl-gc/kubectl-gc/internal/release"
)

// Control gives the environment a collector with its directives, as Collect
// does, and beside it the other deleters of a cluster. They know of the world
// what the server covers.
//
//	controllers [only=NAME,…] [steps=N]
//	            the collector settles, then the first controller that can
//	            change something makes a pass, and so on until nobody can, or
//	            for N passes. Prints the writes in order, with the controller's
//	            name in front, none for the collector, and then the events.
//	            Writes of controllers without effect are left out.
//	waiting     what the controllers could not bring to an end
func Control(e *Env) {
	m := &machine{env: e}
	o := &office{machine: m}
	directives := m.directives()
	directives["controllers"], directives["waiting"] = o.run, o.waiting
	m.serve(directives)
}

// office is where the controllers of a scenario work.
type office struct {
	machine *machine
	// all are the controllers of the world at, list those that worked last.
	at   *apisim.Server
	all  []controllers.Controller
	list []controllers.Controller
}

// run lets the collector and the controllers act in turns.
func (o *office) run(ctx context.Context, d *datadriven.TestData) (string, error) {
	a := readArgs(d)
	only, steps := a.words("only"), a.number("steps", -1)
	if err := a.done(); err != nil {
		return "", err
	}
	m := o.machine
	if err := o.appoint(only); err != nil {
		return "", err
	}
	desk := newDesk(m)
	var failed error
	idle := func() bool {
		if steps == 0 || failed != nil {
			return false
		}
		steps--
		var acted controllers.Controller
		acted, failed = controllers.Step(ctx, m.server, desk.send, o.list, desk.under)
		return acted != nil
	}
	w := &world{wire: m.wire, machine: m, happened: func() []object.Event {
		m.env.Drain()
		return m.env.Unseen()
	}}
	if err := engine.Drain(ctx, m.collector, w, engine.Follow{Idle: idle}); err != nil {
		return "", err
	}
	m.quiescent()
	var b strings.Builder
	for _, c := range m.wire.take() {
		if c.write {
			fmt.Fprintln(&b, c.text)
		}
	}
	for _, e := range w.seen {
		fmt.Fprintln(&b, FormatEvent(e, m.env.Names))
	}
	return orNone(b.String()), failed
}

// appoint picks the controllers that work. They remember what they have seen of this
// world.
func (o *office) appoint(only []string) error {
	if o.at != o.machine.server {
		var coverage controllers.Coverage = o.machine.server
		if seen := o.machine.env.seen; seen != nil {
			coverage = *seen
		}
		o.at, o.all = o.machine.server, controllers.All(coverage, controllers.Healthy{}, release.Of(o.machine.env.Release))
		for _, c := range o.all {
			if l, ok := c.(controllers.Looker); ok {
				l.Look(o.machine.server)
			}
		}
	}
	o.list = nil
	for _, c := range o.all {
		if len(only) == 0 || slices.Contains(only, c.Name()) {
			o.list = append(o.list, c)
		}
	}
	if len(only) > 0 && len(o.list) != len(only) {
		return fmt.Errorf("only=%s: not all of them are controllers", strings.Join(only, ","))
	}
	return nil
}

// waiting prints what the last run of the controllers left to wait for.
func (o *office) waiting(_ context.Context, d *datadriven.TestData) (string, error) {
	var b strings.Builder
	for _, w := range controllers.Waiting(o.list) {
		fmt.Fprintln(&b, w)
	}
	return orNone(b.String()), readArgs(d).done()
}

// desk makes the writes of controllers. It writes down who asked for what, among the requests of the
// collector, so that their order shows.
type desk struct {
	server *apisim.Server
	wire   *wire
	actor  string
	// refused are the requests that were refused and written down.
	refused map[string]bool
}

func newDesk(m *machine) *desk {
	return &desk{server: m.server, wire: m.wire, refused: map[string]bool{}}
}

// under puts the name of the controller that makes a pass on the desk.
func (d *desk) under(c controllers.Controller, pass func()) {
	d.actor = c.Name()
	pass()
}

// send makes a write. A refusal is written down once, a success when something changed.
func (d *desk) send(ctx context.Context, i controllers.Intent) (*object.Object, error) {
	before := d.server.Writes()
	stored, err := controllers.To(d.server)(ctx, i)
	text := d.actor + " " + intentText(i)
	switch {
	case err == nil && d.server.Writes() != before:
		d.wire.note(true, text, "200", nil)
	case err != nil && !d.refused[text]:
		d.refused[text] = true
		d.wire.note(true, text, "", err)
	}
	return stored, err
}

func intentText(i controllers.Intent) string {
	switch i.Verb {
	case controllers.Delete:
		return "DELETE " + i.Ref.String() + optionsText(i.Options)
	case controllers.DeleteCollection:
		return fmt.Sprintf("DELETECOLLECTION %s %s %s%s", i.Resource.APIVersion(), i.Resource.Name, i.Namespace, optionsText(i.Options))
	case controllers.DeleteStored:
		return strings.TrimRight("DELETESTORED "+i.Resource.GroupResource().String()+" "+i.Namespace, " ")
	case controllers.Patch:
		return patchText(i.Ref, i.Patch)
	case controllers.Finalize:
		return "FINALIZE " + i.Ref.String()
	default:
		return "UPDATE " + i.Ref.String()
	}
}
