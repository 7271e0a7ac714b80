package evidence

import (
	"slices"
	"strings"

	"github.com/kubectl-gc/kubectl-gc/internal/reason"
	"github.com/kubectl-gc/kubectl-gc/internal/report"
)

// Proofs are what was seen, and what was not, in the order of its weight.
type Proofs []report.Proof

// Add adds what was seen, unless it says nothing or is there already.
func (p *Proofs) Add(code reason.Code, about *report.Ref, message string) {
	if message == "" {
		return
	}
	one := report.Proof{Reason: string(code), Object: about, Message: Clip(message)}
	same := func(q report.Proof) bool { return q.Reason == one.Reason && q.Message == one.Message }
	if !slices.ContainsFunc(*p, same) {
		*p = append(*p, one)
	}
}

// Clip puts foreign text onto one line of at most 400 bytes. It leaves out the middle: the end
// of an error says why.
func Clip(text string) string {
	const most = 400
	text = strings.Join(strings.Fields(text), " ")
	if len(text) <= most {
		return text
	}
	return strings.ToValidUTF8(text[:most/2], "") + " … " + strings.ToValidUTF8(text[len(text)-most/2:], "")
}
