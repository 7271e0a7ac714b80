package oracle

import (
	"fmt"
	"slices"
	"strings"
)

// story is one run of the program: the world that it meets, what it is asked, by whom,
// and what others do meanwhile. It is drawn from a seed and can be made smaller.
type story struct {
	seed        uint64
	controllers controllers
	things      []thing
	command     command
	rights      rights
	answer      answer
	steps       []step
	fault       fault
	// released: in the end somebody takes off every finalizer that holds something.
	released bool
	// undo is what is done with the backup.
	undo bool
}

// controllers are those that run beside the program.
type controllers string

const (
	everybody   controllers = "everybody"
	noCollector controllers = "no collector"
	nobody      controllers = "nobody"
)

var running = map[controllers][]string{
	everybody: append([]string{"garbage-collector-controller"}, others...), noCollector: others, nobody: nil,
}

var others = []string{
	"namespace-controller", "persistentvolumeclaim-protection-controller", "persistentvolume-protection-controller", "pod-garbage-collector-controller",
	"serviceaccount-controller", "serviceaccount-token-controller", "root-ca-certificate-publisher-controller",
	"deployment-controller", "replicaset-controller", "statefulset-controller",
}

// thing is an object of a drawn world. Its name stands for itself in all worlds.
type thing struct {
	kind        string
	namespace   string // without the place; empty for none
	name        string
	owners      []owner
	finalizers  []string
	labels      map[string]string
	annotations map[string]string
	deleting    bool
	// with is the name of what the object is about: the volume of a claim, the account of
	// a token, the claim of a pod or a volume.
	with string
}

// owner is a reference to another thing, or to one that never was.
type owner struct {
	name       string
	controller bool
	blocks     bool
	ghost      bool
	kind       string // of a ghost
}

// command is what the program is asked.
type command struct {
	verb       string // delete, collect, remove-finalizer
	targets    []string
	finalizers []string
	namespace  string
	selector   string // of a kind, instead of targets
	flags      []string
}

func (c command) has(flag string) bool {
	return slices.ContainsFunc(c.flags, func(f string) bool { return f == flag || strings.HasPrefix(f, flag+"=") })
}

// value is what a flag says; empty when it is not given.
func (c command) value(flag string) string {
	for _, f := range c.flags {
		if v, ok := strings.CutPrefix(f, flag+"="); ok {
			return v
		}
	}
	return ""
}

type rights string

const (
	everything   rights = "everything"
	ownNamespace rights = "own namespaces"
	readOnly     rights = "read only"
	someKinds    rights = "some kinds"
	impersonated rights = "impersonated"
)

type answer string

const (
	rightDigest answer = "right digest"
	wrongDigest answer = "wrong digest"
	nobodyThere answer = "nobody there"
	saidYes     answer = "yes at the terminal"
	saidNo      answer = "no at the terminal"
	saidWrong   answer = "another word at the terminal"
	hungUp      answer = "nothing at the terminal"
)

// typed are the answers of somebody at a terminal.
func (a answer) typed() bool { return a == saidYes || a == saidNo || a == saidWrong || a == hungUp }

// agreed reports whether the answer is a yes to the plan that was shown.
func (a answer) agreed() bool { return a == rightDigest || a == saidYes }

type fault string

const (
	noFault     fault = "none"
	interrupted fault = "interrupted at the first write"
	killed      fault = "killed at the first write"
	answerLost  fault = "the answer to the first write is lost"
	serverLost  fault = "the server is lost at the first write"
	unserved    fault = "a kind is no longer served from the first write on"
)

// ofLink reports whether it is the way to the server that fails.
func (f fault) ofLink() bool { return f == answerLost || f == serverLost }

// moment is when somebody else does something.
type moment string

const (
	beforeRun   moment = "before the run"
	atQuestion  moment = "at the question"
	atRehearsal moment = "at the rehearsal"
	atWrite     moment = "at the first write"
	afterRun    moment = "after the run"
	atUndo      moment = "before the undo"
)

// step is what somebody else does.
type step struct {
	when   moment
	do     deed
	object string
}

type deed string

const (
	protects  deed = "protects"
	annotates deed = "annotates"
	holds     deed = "adds a finalizer"
	releases  deed = "takes a finalizer off"
	deletes   deed = "deletes"
	adds      deed = "creates a dependent"
	replaces  deed = "makes another one of its name"
	// renews is what an operator does: what has gone is there again at once.
	renews deed = "makes it again when it has gone"
)

// cascades reports whether more than the object itself may be changed by it.
func (d deed) cascades() bool { return d != protects && d != annotates && d != renews }

// unserved is the kind that is no longer served in a story with that fault, the first custom
// one of its world; nil for none.
func (s *story) unserved() *kind {
	if s.fault != unserved {
		return nil
	}
	for _, t := range s.things {
		if k := kindNamed(t.kind); k.resource().Group == group {
			return &k
		}
	}
	return nil
}

func (s *story) thing(name string) *thing {
	for i := range s.things {
		if s.things[i].name == name {
			return &s.things[i]
		}
	}
	return nil
}

// String tells the story, so that somebody can follow it by hand.
func (s *story) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "seed %d; controllers: %s; permissions: %s; answer: %s; fault: %s\n", s.seed, s.controllers, s.rights, s.answer, s.fault)
	for _, t := range s.things {
		b.WriteString("  " + t.String() + "\n")
	}
	fmt.Fprintf(&b, "  $ kubectl gc %s\n", strings.Join(s.command.args("", s), " "))
	for _, t := range s.steps {
		fmt.Fprintf(&b, "  %s somebody %s: %s\n", t.when, t.do, t.object)
	}
	if s.released {
		b.WriteString("  in the end somebody takes off what holds them\n")
	}
	return b.String()
}

func (t *thing) String() string {
	text := t.kind + " " + strings.TrimPrefix(t.namespace+"/"+t.name, "/")
	for _, o := range t.owners {
		text += " owner=" + o.name
		if o.ghost {
			text += "(" + o.kind + ", never was)"
		}
		if o.blocks {
			text += "(blocks)"
		}
	}
	if len(t.finalizers) > 0 {
		text += " finalizers=" + strings.Join(t.finalizers, ",")
	}
	for _, m := range []map[string]string{t.annotations, t.labels} {
		for _, k := range sorted(m) {
			text += " " + k + "=" + m[k]
		}
	}
	if t.with != "" {
		text += " with=" + t.with
	}
	if t.deleting {
		text += " deleting"
	}
	return text
}

// args is the command line in the world at a place.
func (c command) args(at place, s *story) []string {
	args := []string{c.verb}
	if c.selector != "" {
		args = append(args, kindNamed(c.selector).argument(), "-l", "oracle/pick=yes")
	}
	for _, name := range c.targets {
		if t := s.thing(name); t != nil {
			args = append(args, kindNamed(t.kind).argument()+"/"+at.name(name))
		}
	}
	args = append(args, c.finalizers...)
	if c.namespace != "" {
		args = append(args, "-n", at.name(c.namespace))
	}
	return append(args, c.flags...)
}
