package snapshot

import (
	"errors"
	"fmt"
	"strings"

	"github.com/kubectl-gc/kubectl-gc/internal/manifest"
)

// passed are the documents that are no objects, and the inputs in which there was nothing
// else. They prove nothing, and keep nobody from reading the rest.
type passed struct {
	// documents counts them; first is the place and the reason of the first one, by the
	// names of files.
	documents int
	first     string
	// inputs are those without any object, list or answer of discovery.
	inputs []unread
}

// unread is an input of which nothing was read.
type unread struct{ name, why string }

func (p *passed) add(what string) {
	p.documents++
	if p.documents == 1 || what < p.first {
		p.first = what
	}
}

// merge adds those of another file.
func (p *passed) merge(one *passed) {
	if one.documents > 0 && (p.documents == 0 || one.first < p.first) {
		p.first = one.first
	}
	p.documents += one.documents
}

// nothing notes an input of which nothing was read.
func (p *passed) nothing(in *input) {
	why := "it holds no Kubernetes objects"
	if in.files > 0 {
		why = fmt.Sprintf("none of its %d files is one of Kubernetes objects", in.files)
	}
	p.inputs = append(p.inputs, unread{in.name, why})
}

// refusal is the error of so many inputs if nothing was read of any.
func (p *passed) refusal(inputs int) error {
	if len(p.inputs) < inputs {
		return nil
	}
	first := p.inputs[0]
	if p.documents == 0 {
		return fmt.Errorf("%s: %s", first.name, first.why)
	}
	return fmt.Errorf("%s: %s (%s)", first.name, first.why, strings.TrimPrefix(p.first, first.name+": "))
}

// remarks are what is to be said of them.
func (p *passed) remarks() []Problem {
	var problems []Problem
	for _, in := range p.inputs {
		problems = append(problems, Problem{Kind: NoObject, File: in.name, Message: in.name + ": " + in.why})
	}
	switch {
	case p.documents == 1:
		problems = append(problems, Problem{Kind: NoObject, Message: "passed over, for it is no Kubernetes object: " + p.first})
	case p.documents > 1:
		problems = append(problems, Problem{Kind: NoObject,
			Message: fmt.Sprintf("passed over %d documents that are no Kubernetes objects, first %s", p.documents, p.first)})
	}
	return problems
}

// isNoObject reports whether an error says that a text is something else than objects, and
// not that it is cut off or too large.
func isNoObject(err error) bool {
	_, ok := errors.AsType[*manifest.Problem](err)
	return ok && !errors.Is(err, manifest.ErrTruncated) && !errors.Is(err, ErrLimit)
}

// amount counts what was read so far, beside lists.
func (r *reader) amount() int {
	n := len(r.objects) + len(r.stored) + len(r.failed) + len(r.documents.groups) + len(r.documents.lists)
	if r.source.KubernetesVersion != "" {
		n++
	}
	return n
}
