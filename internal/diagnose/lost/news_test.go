package lost

import (
	"testing"

	"github.com/kubectl-gc/kubectl-gc/internal/history"
	"github.com/kubectl-gc/kubectl-gc/internal/object"
)

// TestNews: what became known is told once, with all that a request has taken by then; what goes
// in the ordinary course is none.
func TestNews(t *testing.T) {
	past := &history.Past{From: history.Moment{Revision: 1}, To: history.Moment{Revision: 100}}
	a := &history.Account{Past: past}
	ask := func() int {
		a.Requests = append(a.Requests, history.Request{Losses: []int{len(a.Losses)}, At: history.Moment{Revision: 50}, Certain: true})
		return len(a.Requests) - 1
	}
	lose := func(ref object.Ref, code history.Code, request int) {
		a.Losses = append(a.Losses, history.Loss{Object: &object.Object{Ref: ref}, Asked: 50, Gone: 50, Cause: history.Cause{Code: code, Request: request}})
		if request >= 0 {
			a.Requests[request].Took++
		}
	}
	shop, pod, other := object.Namespace.Ref("", "shop"), object.Pod.Ref("shop", "web"), object.Pod.Ref("jobs", "import")
	before := Document(a, Question{})
	for _, step := range []struct {
		what             string
		happens          func()
		requests, losses int
	}{
		{"nothing", func() {}, 0, 0},
		{"a pod is replaced", func() { lose(object.Pod.Ref("shop", "old"), history.ControllerChanged, -1) }, 0, 0},
		{"a request", func() { lose(shop, history.Requested, ask()) }, 1, 1},
		{"nothing again", func() {}, 0, 0},
		{"it takes more", func() { lose(pod, history.NamespaceDeleted, 0) }, 1, 2},
		{"a loss without a request", func() { lose(other, history.OwnerGone, -1) }, 0, 1},
		{"a request that is not the first", func() { lose(other, history.Requested, ask()) }, 1, 1},
		{"less is known", func() {
			past.Limits = []history.Limit{{Resource: object.Pod.Resource(), From: history.Moment{Revision: 60}, Why: "too old"}}
		}, 0, 0},
	} {
		step.happens()
		now := Document(a, Question{})
		news := News(before, now, 0)
		if quiet := step.requests+step.losses == 0 && len(now.Limits) == len(before.Limits); (news == nil) != quiet {
			t.Errorf("%s: news %+v", step.what, news)
		}
		if news != nil && (len(news.Requests) != step.requests || len(news.Losses) != step.losses) {
			t.Errorf("%s: %d requests, %d losses", step.what, len(news.Requests), len(news.Losses))
		}
		before = now
	}
}

// TestUndoOfNewsOfCRD: what went in a namespace with a CRD comes back with that, and nothing of
// other namespaces does.
func TestUndoOfNewsOfCRD(t *testing.T) {
	a := lives(true, lamps("1", true, "v1"))
	a.Past.Clock = history.NewClock([]history.Moment{{Revision: 10, Time: 1000}, {Revision: 1000, Time: 1100}})
	a.Past.From, a.Past.To = a.Past.Clock.First(), a.Past.Clock.Last()
	before := Document(a, Question{Namespace: "park", Undo: true})
	below := object.ConfigMap.Ref("park", "below")
	lamp := object.Ref{APIVersion: "example.com/v1", Kind: "Lamp", Namespace: "park", Name: "l"}
	a.Losses = append(a.Losses, history.Loss{Object: &object.Object{Ref: below}, Asked: 151, Gone: 151, Cause: history.Cause{Code: history.OwnerGone, By: lamp}})
	a.Requests[0].Took++
	news := News(before, Document(a, Question{Namespace: "park", Undo: true}), 0)
	if news == nil || len(news.Remedies) != 1 || news.Remedies[0].Command != "kubectl gc undo --since=5m -n park" {
		t.Errorf("%+v", news)
	}
}
