package render

import (
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-gc/kubectl-gc/internal/object"
	"github.com/kubectl-gc/kubectl-gc/internal/report"
)

// LostPage provides the texts of a page about losses. They equal those of the text output, but
// without relative times, since a page may be read later.
type LostPage struct {
	losses *lossIndex
	style  Style
}

// NewLostPage returns the texts for a document, and commands for the cluster and user of a connection.
func NewLostPage(document *report.Lost, connection report.Connection) *LostPage {
	return &LostPage{indexLosses(document), Style{Wide: true, format: htmlText, Connection: connection}}
}

// LabelledText is a text with a label.
type LabelledText struct{ Label, Text string }

// Answer returns the answer in a sentence: the largest request, or the number of losses without
// one.
func (p *LostPage) Answer() string {
	found := p.losses.Summary
	switch requests := requestsByImpact(p.losses); {
	case found.Deleted+found.BeingDeleted+found.Orphaned == 0:
		return nothingLost(p.style, p.losses)
	case len(requests) == 0:
		return withoutRequestHeadline(p.style, p.losses) + ", and no request explains it."
	default:
		return requestHeadline(p.style, p.losses, requests[0])
	}
}

// Parts returns the counts by kind of the request in the answer.
func (p *LostPage) Parts() []LabelledText {
	var list []LabelledText
	if requests := requestsByImpact(p.losses); len(requests) > 0 {
		for _, x := range lossParts(p.style, p.losses, requests[0]) {
			if len(x.items) > 0 {
				list = append(list, LabelledText{x.label, strings.Join(x.items, "")})
			}
		}
	}
	return list
}

// More counts the other requests; empty without any.
func (p *LostPage) More() string {
	if requests := requestsByImpact(p.losses); len(requests) > 1 {
		return "And " + moreRequests(requests[1:]) + "."
	}
	return ""
}

// Request returns the headline of a request, and possible other causes.
func (p *LostPage) Request(r *report.LostRequest) (text, doubt string) {
	if !r.Certain {
		doubt = strings.TrimSpace(uncertaintyText(p.style, p.losses, r))
	}
	return requestHeadline(p.style, p.losses, r), doubt
}

// Targets summarizes the targets of a request.
func (p *LostPage) Targets(r *report.LostRequest) string {
	return p.style.summarizeRefs(r.Objects, laneNameWidth)
}

// laneNameWidth is the width for the name of a lane.
const laneNameWidth = 40

// Cause returns the cause of a loss, with alternatives.
func (p *LostPage) Cause(x *report.Loss) string { return lossWhy(p.style, x) }

// CauseWithoutNames is Cause without the names of other objects.
func (p *LostPage) CauseWithoutNames(x *report.Loss) string {
	nameless := *x
	nameless.By, nameless.Or = nil, nil
	for _, c := range x.Or {
		c.By = nil
		nameless.Or = append(nameless.Or, c)
	}
	return lossWhy(p.style, &nameless)
}

// Kinds returns a count of objects of a kind.
func (p *LostPage) Kinds(n int, apiVersion, kind string) string {
	return countOf(p.style, n, apiVersion, kind)
}

// Name returns the short name of an object.
func (p *LostPage) Name(r object.Ref) string { return p.style.name(r) }

// Text returns untrusted text, escaped.
func (p *LostPage) Text(raw string) string { return p.style.text(raw) }

// Clock returns a moment as time of day, or as a revision.
func (p *LostPage) Clock(m report.Moment) string { return clockText(p.style, p.losses, m) }

// Seconds returns a moment in seconds since 1970, if its time is known.
func (p *LostPage) Seconds(m report.Moment) (seconds int64, known bool) {
	at, known := timeOf(m)
	return at.Unix(), known
}

// ClockAt returns the time of day of seconds since 1970.
func (p *LostPage) ClockAt(seconds int64) string {
	return metav1.Unix(seconds, 0).UTC().Format("15:04:05")
}

// Notes returns the notes about the time span of the answer and its gaps.
func (p *LostPage) Notes() []string { return lostNotes(p.style, p.losses) }

// Remedies returns commands with their effects.
func (p *LostPage) Remedies() []LabelledText {
	return object.Mapped(p.losses.Remedies, func(r report.Remedy) LabelledText {
		return LabelledText{r.Command, remedyEffect(p.style, r)}
	})
}
