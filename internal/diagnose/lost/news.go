package lost

import (
	"fmt"
	"reflect"

	"github.com/kubectl-gc/kubectl-gc/internal/report"
)

// News is the part of a document that an earlier one does not have: requests that are new or
// explain more, losses without one, and kinds of which less is known. It is nil where there is
// nothing new but what goes in the ordinary course of things. What went until the revision undoAfter
// is not brought back any more.
func News(before, now *report.Lost, undoAfter uint64) *report.Lost {
	known := map[report.Ref]string{}
	for i := range before.Requests {
		r := &before.Requests[i]
		for _, o := range r.Objects {
			known[o] = accountOf(r)
		}
	}
	unasked := map[string]bool{}
	for i := range before.Losses {
		if l := &before.Losses[i]; l.Request == 0 {
			unasked[causesOf(l)] = true
		}
	}
	news := *now
	news.Requests, news.Losses = []report.LostRequest{}, []report.Loss{}
	told := map[int]bool{}
	for i := range now.Requests {
		r := &now.Requests[i]
		if !r.Routine && len(r.ByKind) > 0 && !same(known, r) {
			told[r.N] = true
			news.Requests = append(news.Requests, *r)
		}
	}
	for i := range now.Losses {
		l := &now.Losses[i]
		if told[l.Request] || l.Request == 0 && !l.Routine && !unasked[causesOf(l)] {
			news.Losses = append(news.Losses, *l)
		}
	}
	if len(news.Losses) == 0 && reflect.DeepEqual(before.Limits, now.Limits) && reflect.DeepEqual(before.Gaps, now.Gaps) {
		return nil
	}
	if len(now.Remedies) > 0 {
		news.Remedies = undoOfNews(&news, undoAfter)
	}
	return &news
}

func same(known map[report.Ref]string, r *report.LostRequest) bool {
	for _, o := range r.Objects {
		if known[o] != accountOf(r) {
			return false
		}
	}
	return true
}

// accountOf is all that a request explains, and how.
func accountOf(r *report.LostRequest) string {
	return fmt.Sprint(len(r.Objects), r.Policy, r.At.Revision, r.Certain, r.Took, r.ByKind)
}

// causesOf is an object that went, and why.
func causesOf(l *report.Loss) string {
	codes := []string{l.Code}
	for _, c := range l.Or {
		codes = append(codes, c.Code)
	}
	return fmt.Sprint(l.Object, l.State, codes)
}
