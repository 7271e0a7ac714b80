package snapshot

import (
	"errors"
	"fmt"
	"strings"

	"github.com/kubectl-gc/kubectl-gc/internal/manifest"
)

// passed are the skipped documents, which are no objects, and the inputs with nothing else. They
// prove nothing and don't stop the reading.
type passed struct {
	// documents is their number. first is the place of the first one, by file name, and why it was
	// skipped.
	documents int
	first     string
	// inputs are those without any object, list or discovery document.
	inputs []unread
}

// unread is an input without any content.
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

// nothing records an input without any content.
func (p *passed) nothing(in *input) {
	why := "it holds no Kubernetes objects"
	if in.files > 0 {
		why = fmt.Sprintf("none of its %d files is one of Kubernetes objects", in.files)
	}
	p.inputs = append(p.inputs, unread{in.name, why})
}

// refusal returns an error if all inputs are without content.
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

// remarks returns the problems for skipped documents and inputs.
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

// isNoObject reports whether the error says that a text isn't objects at all, and not that it is
// cut off or too large.
func isNoObject(err error) bool {
	_, ok := errors.AsType[*manifest.Problem](err)
	return ok && !errors.Is(err, manifest.ErrTruncated) && !errors.Is(err, ErrLimit)
}

// amount returns the amount of content read so far, without lists.
func (r *reader) amount() int {
	n := len(r.objects) + len(r.stored) + len(r.failed) + len(r.documents.groups) + len(r.documents.lists)
	if r.source.KubernetesVersion != "" {
		n++
	}
	return n
}
