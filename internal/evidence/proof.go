package evidence

import (
	"slices"
	"strings"

	"github.com/kubectl-gc/kubectl-gc/internal/reason"
	"github.com/kubectl-gc/kubectl-gc/internal/report"
)

// Proofs lists observations and missing observations, the most important first.
type Proofs []report.Proof

// Add appends an observation, unless its message is empty or it is a duplicate.
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

// Clip puts external text onto one line of at most about 400 bytes. It cuts the middle, because the
// end of an error says why.
func Clip(text string) string {
	const most = 400
	text = strings.Join(strings.Fields(text), " ")
	if len(text) <= most {
		return text
	}
	return strings.ToValidUTF8(text[:most/2], "") + " … " + strings.ToValidUTF8(text[len(text)-most/2:], "")
}
