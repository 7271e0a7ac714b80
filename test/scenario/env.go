package scenario

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-gc/kubectl-gc/internal/apisim"
	"github.com/kubectl-gc/kubectl-gc/internal/engine"
	"github.com/kubectl-gc/kubectl-gc/internal/object"
	"github.com/kubectl-gc/kubectl-gc/internal/release"
)

// Handler carries out a directive and returns what it prints. An error says that
// the scenario itself is wrong and fails the test; an error that the server
// answers is output like any other.
type Handler func(e *Env, d *datadriven.TestData) (string, error)

// Env is the state of one scenario: a server and what is known of its objects.
// Whoever runs more than a server registers directives of his own and keeps
// their state beside the Env.
type Env struct {
	Server    *apisim.Server
	Resources *object.Resources
	Names     Names
	// Release is the one whose rules are followed; 0 for the newest.
	Release release.Minor

	// seen is what the scenario says was seen of its world; nil for all.
	seen     *coverage
	faults   *faults
	denials  *ruleSet
	unseen   []object.Event
	handlers map[string]Handler
	after    []func(e *Env) error
}

// New returns an environment with the directives of the server, and an empty
// world.
func New() *Env {
	e := &Env{handlers: map[string]Handler{}}
	e.reset(nil, Resources(), nil)
	for name, h := range serverDirectives {
		e.Handle(name, h)
	}
	return e
}

// Handle registers a directive.
func (e *Env) Handle(name string, h Handler) { e.handlers[name] = h }

// After registers a check that is made after every directive.
func (e *Env) After(check func(e *Env) error) { e.after = append(e.after, check) }

// Run carries out one directive; it is what datadriven.RunTest calls.
func (e *Env) Run(t *testing.T, d *datadriven.TestData) string {
	t.Helper()
	h, ok := e.handlers[d.Cmd]
	if !ok {
		d.Fatalf(t, "there is no directive %q", d.Cmd)
	}
	out, err := h(e, d)
	if err != nil {
		d.Fatalf(t, "%s: %v", d.Cmd, err)
	}
	for _, check := range e.after {
		if err := check(e); err != nil {
			d.Fatalf(t, "after %s: %v", d.Cmd, err)
		}
	}
	if out != "" && !strings.HasSuffix(out, "\n") {
		out += "\n"
	}
	return out
}

// reset starts over with a new world.
func (e *Env) reset(objects []*object.Object, resources *object.Resources, names Names, opts ...apisim.Option) {
	if names == nil {
		names = Names{}
	}
	e.denials = &ruleSet{}
	opts = append([]apisim.Option{
		apisim.WithClock(Start), apisim.WithGivenUIDs(), apisim.WithAdmission(e.denials.check),
		apisim.WithRules(release.Of(e.Release)),
	}, opts...)
	e.Resources, e.Names, e.unseen, e.seen = resources, names, nil, nil
	e.Server = apisim.New(objects, resources, opts...)
	e.faults = &faults{API: e.Server}
}

// API is the server behind the rules of the fault directive: what a machine
// under test is given. Users, that is the server's own directives, ask the
// server directly.
func (e *Env) API() engine.API { return e.faults }

// Drain collects what the server reports since the last call, one canonical
// line an event, and keeps the events for Unseen.
func (e *Env) Drain() string {
	var b strings.Builder
	for _, event := range e.Server.Events() {
		if event.Type == object.Added {
			e.Names.Learn(event.Object)
		}
		b.WriteString(FormatEvent(event, e.Names))
		b.WriteByte('\n')
		e.unseen = append(e.unseen, event)
	}
	return b.String()
}

// Unseen hands over the events that were drained since the last call. The
// server's directives drain what they cause, so a machine under test gets its
// watch events here and not from the server.
func (e *Env) Unseen() []object.Event {
	events := e.unseen
	e.unseen = nil
	return events
}

// Target reads the object that a directive is about from the first words: a
// UID, or apiVersion, kind and [namespace/]name. It returns the other words.
func (e *Env) Target(words []string) (object.Ref, []string, error) {
	if len(words) > 0 {
		if ref, ok := e.Names[uid(words[0])]; ok {
			return ref, words[1:], nil
		}
	}
	o, rest, err := parseHead(words)
	if err != nil {
		return object.Ref{}, nil, fmt.Errorf("%w, or the UID of an object", err)
	}
	return o.Ref, rest, nil
}

// Words are the arguments of a directive as they were written.
func Words(d *datadriven.TestData) []string {
	words := make([]string, 0, len(d.CmdArgs))
	for _, arg := range d.CmdArgs {
		word := arg.Key
		if len(arg.Vals) > 0 {
			word += "=" + strings.Join(arg.Vals, ",")
		}
		words = append(words, word)
	}
	return words
}

// args reads the arguments of a directive, each once; what is left over or
// malformed is an error.
type args struct {
	d    *datadriven.TestData
	used map[string]bool
	err  error
}

func readArgs(d *datadriven.TestData) *args { return &args{d: d, used: map[string]bool{}} }

func (a *args) words(key string) []string {
	a.used[key] = true
	for _, arg := range a.d.CmdArgs {
		if arg.Key == key {
			var words []string
			for _, v := range arg.Vals {
				words = append(words, strings.Split(v, ",")...)
			}
			return words
		}
	}
	return nil
}

func (a *args) word(key string) string { return strings.Join(a.words(key), ",") }

func (a *args) has(key string) bool {
	a.used[key] = true
	return a.d.HasArg(key)
}

func (a *args) number(key string, otherwise int) int {
	w := a.word(key)
	if w == "" {
		return otherwise
	}
	n, err := strconv.Atoi(w)
	if err != nil || n < 0 {
		a.err = fmt.Errorf("%s=%s is not a number", key, w)
	}
	return n
}

func (a *args) done() error {
	for _, arg := range a.d.CmdArgs {
		if !a.used[arg.Key] {
			return fmt.Errorf("%s takes no argument %q", a.d.Cmd, arg.Key)
		}
	}
	return a.err
}

// Answer is what a request got, on one line: `ok`, or code, reason and message.
func Answer(err error) string {
	var status apierrors.APIStatus
	var unknown *object.UnknownKindError
	var uncovered *object.UncoveredError
	var scope *object.NamespaceRequiredError
	switch {
	case err == nil:
		return "ok"
	case errors.As(err, &status):
		s := status.Status()
		text := fmt.Sprintf("%d %s: %s", s.Code, s.Reason, s.Message)
		if s.Details != nil && len(s.Details.Causes) == 1 && s.Details.Causes[0].Type == "NamespaceTerminating" {
			text += " (cause NamespaceTerminating)"
		}
		return text
	case errors.As(err, &unknown):
		return "unknown kind: " + err.Error()
	case errors.As(err, &uncovered):
		return "not covered: " + err.Error()
	case errors.As(err, &scope):
		return "namespace required: " + err.Error()
	default:
		return "error: " + err.Error()
	}
}

func uid(s string) types.UID { return types.UID(s) }
