package render

import (
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-gc/kubectl-gc/internal/report"
)

// LostPage are the words of a page about what was lost: those of its text, but that no time is
// counted to now, since a page is looked at later.
type LostPage struct{ look *lostLook }

// page is the style of a page.
var page = Style{Wide: true, manner: paged}

// NewLostPage has the words for a document.
func NewLostPage(document *report.Lost) *LostPage { return &LostPage{lookAt(document)} }

// LabelledText is a text below a label.
type LabelledText struct{ Label, Text string }

// Answer is the answer in a sentence: the request that took most, or what went without one.
func (p *LostPage) Answer() string {
	found := p.look.Summary
	switch requests := requestsByToll(p.look); {
	case found.Deleted+found.BeingDeleted+found.Orphaned == 0:
		return nothingLost(page, p.look)
	case len(requests) == 0:
		return unaskedHeadline(page, p.look) + ", and no request explains it."
	default:
		return requestHeadline(page, p.look, requests[0])
	}
}

// Parts are what the request of the answer took by kind.
func (p *LostPage) Parts() []LabelledText {
	var list []LabelledText
	if requests := requestsByToll(p.look); len(requests) > 0 {
		for _, x := range tollParts(page, p.look, requests[0]) {
			if len(x.items) > 0 {
				list = append(list, LabelledText{x.label, strings.Join(x.items, "")})
			}
		}
	}
	return list
}

// More counts the other requests; empty for none.
func (p *LostPage) More() string {
	if requests := requestsByToll(p.look); len(requests) > 1 {
		return "And " + moreRequests(requests[1:]) + "."
	}
	return ""
}

// Request says of a request what it was for and how much it took, and what else may have done it.
func (p *LostPage) Request(r *report.LostRequest) (text, doubt string) {
	if !r.Certain {
		doubt = strings.TrimSpace(uncertain(page, p.look, r))
	}
	return requestHeadline(page, p.look, r), doubt
}

// Targets are what a request was for, in a few words.
func (p *LostPage) Targets(r *report.LostRequest) string { return page.crowd(r.Objects, fewColumns) }

// fewColumns is the room for the name of a lane.
const fewColumns = 40

// Why is who took an object, and who else may have.
func (p *LostPage) Why(x *report.Loss) string { return lossWhy(page, x) }

// Causes are the same without the names of what it went with.
func (p *LostPage) Causes(x *report.Loss) string {
	nameless := *x
	nameless.By, nameless.Or = nil, nil
	for _, c := range x.Or {
		c.By = nil
		nameless.Or = append(nameless.Or, c)
	}
	return lossWhy(page, &nameless)
}

// Kinds is a number of objects of a kind.
func (p *LostPage) Kinds(n int, apiVersion, kind string) string {
	return countOf(page, n, apiVersion, kind)
}

// Objects is a number of objects.
func (p *LostPage) Objects(n int) string { return plural(n, "object") }

// Name is the short name of an object.
func (p *LostPage) Name(r report.Ref) string { return page.name(r) }

// Text is foreign text as it may be shown.
func (p *LostPage) Text(raw string) string { return page.text(raw) }

// Clock is a moment as a time of the day, or as a revision.
func (p *LostPage) Clock(m report.Moment) string { return clockText(page, p.look, m) }

// Seconds are those since 1970 at a moment, if that is known.
func (p *LostPage) Seconds(m report.Moment) (seconds int64, known bool) {
	at, known := timeOf(m)
	return at.Unix(), known
}

// ClockAt is the time of the day so many seconds after 1970 began.
func (p *LostPage) ClockAt(seconds int64) string {
	return metav1.Unix(seconds, 0).UTC().Format("15:04:05")
}

// Notes say how far back the answer goes, and of what less is known.
func (p *LostPage) Notes() []string { return lostNotes(page, p.look) }

// Remedies are commands, each with what it does.
func (p *LostPage) Remedies() []LabelledText {
	var list []LabelledText
	for _, r := range p.look.Remedies {
		list = append(list, LabelledText{r.Command, effectText(page, r)})
	}
	return list
}
