package draw

import (
	"bytes"
	"fmt"
	"regexp"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-gc/kubectl-gc/internal/object"
	"github.com/kubectl-gc/kubectl-gc/internal/report"
)

const startOfLoss = 1_795_528_951 // 2026-11-24T14:02:31Z

func instant(seconds int64) report.Moment {
	return report.Moment{Revision: 1000 + seconds, Time: clockOf(startOfLoss + seconds)}
}

func clockOf(seconds int64) string {
	return fmt.Sprintf("2026-11-24T%02d:%02d:%02dZ", seconds/3600%24, seconds/60%60, seconds%60)
}

// lostWith returns the delete of a namespace with n losses of several kinds over so many seconds.
func lostWith(n int, seconds int64, name func(int) string) *report.Lost {
	ns := object.Ref{APIVersion: "v1", Kind: "Namespace", Name: name(0), UID: "ns"}
	d := &report.Lost{
		Header: report.HeaderOf("Lost"), Source: report.Source{Type: "cluster", Context: name(0)}, From: instant(-300), To: instant(120),
		Summary:  report.LostSummary{Deleted: n + 1},
		Requests: []report.LostRequest{{N: 1, Objects: []object.Ref{ns}, Policy: "Background", At: instant(0), Certain: true, Took: n + 1}},
		Limits:   []report.HistoryLimit{{APIVersion: "v1", Resource: name(0), From: instant(-100), Why: "Expired: " + name(0)}},
		Gaps:     []report.Gap{{APIVersion: "v1", Resource: name(0), Why: "Forbidden: " + name(0)}},
	}
	d.Losses = append(d.Losses, lossAt(ns, 0, "Requested", nil))
	kinds := []string{"Secret", "ConfigMap", "Pod", "Service"}
	for i := range n {
		ref := object.Ref{APIVersion: "v1", Kind: kinds[i%len(kinds)], Namespace: name(0), Name: name(i + 1), UID: types.UID(fmt.Sprint(i))}
		d.Losses = append(d.Losses, lossAt(ref, int64(i)*seconds/int64(n), "NamespaceDeleted", &ns))
	}
	for i, kind := range kinds {
		d.Requests[0].ByKind = append(d.Requests[0].ByKind, report.LostCount{APIVersion: "v1", Kind: kind, State: report.LossDeleted, Count: n/4 + i%2})
	}
	return d
}

func lossAt(ref object.Ref, second int64, code string, by *object.Ref) report.Loss {
	gone := instant(second)
	return report.Loss{Object: ref, State: report.LossDeleted, Began: gone, Gone: &gone, LossCause: report.LossCause{Code: code, By: by, Request: 1}}
}

func written(t *testing.T, d *report.Lost) string {
	t.Helper()
	var b bytes.Buffer
	if err := WriteTimeline(&b, d, nil); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// TestTimelineIsBounded: a page with thousands of losses is small enough to send, and names each of
// them. More losses do not make it larger than that.
func TestTimelineIsBounded(t *testing.T) {
	for _, x := range []struct {
		n       int
		seconds int64
		most    int
	}{{5000, 30, 1 << 20}, {5000, 5000, 4 << 20}, {60_000, 60, 4 << 20}} {
		page := written(t, lostWith(x.n, x.seconds, numbered))
		if len(page) > x.most {
			t.Errorf("%d losses within %d s: %d bytes", x.n, x.seconds, len(page))
		}
		if all := strings.Contains(page, numbered(x.n)+"<"); all != (x.n < maxListed) {
			t.Errorf("%d losses: the last one is named: %t", x.n, all)
		}
		if said := strings.Contains(page, "objects are only counted here"); said != (x.n > maxListed) {
			t.Errorf("%d losses: some are only counted: %t", x.n, said)
		}
	}
}

// TestTimelineOfManyRequests: the requests with the most losses are drawn, others can be opened,
// and the rest is counted.
func TestTimelineOfManyRequests(t *testing.T) {
	d := lostWith(0, 1, numbered)
	for i := range 3000 {
		ref := object.Ref{APIVersion: "v1", Kind: "ConfigMap", Namespace: "shop", Name: numbered(i), UID: types.UID(fmt.Sprint(i))}
		l := lossAt(ref, int64(i)/100, "Requested", nil)
		l.Request = i + 2
		d.Losses = append(d.Losses, l)
		d.Requests = append(d.Requests, report.LostRequest{
			N: i + 2, Objects: []object.Ref{ref}, At: instant(int64(i) / 100), Certain: true, Took: 1, ByKind: []report.LostCount{{APIVersion: "v1", Kind: "ConfigMap", Count: 1}},
		})
	}
	page := written(t, d)
	if len(page) > 1<<20 || !strings.Contains(page, "<summary>1000 more deletes</summary>") || !strings.Contains(page, "1971 objects are only counted here") {
		t.Errorf("%d bytes", len(page))
	}
}

func TestTimelineIsTheSameBytes(t *testing.T) {
	first, second := written(t, lostWith(500, 30, numbered)), written(t, lostWith(500, 30, numbered))
	if first != second {
		t.Error("two pages of the same losses differ")
	}
}

// TestTimelineNamesAreText: no name is markup or changes the text direction, and nothing in the
// page can run or fetch.
func TestTimelineNamesAreText(t *testing.T) {
	page := written(t, lostWith(8, 3, func(int) string { return hostilePage }))
	for text, want := range map[string]int{"<script": 0, "<!--": 0, "\u202e": 0, "\x1b": 0, "\u2028": 0} {
		if got := strings.Count(page, text); got != want {
			t.Errorf("%q is in the page %d times", text, got)
		}
	}
	if !strings.Contains(page, `&lt;/script&gt;`) {
		t.Error("the name is not in the page")
	}
	body := strings.Replace(page, timelineStyle, "", 1)
	if found := regexp.MustCompile(`<[^>]* (style|on[a-z]+|src)=|<(img|iframe|object|embed|link|form|base)\b|href="[^#]|url\(`).FindString(body); found != "" {
		t.Errorf("something that the policy forbids: %s", found)
	}
	if want := "style-src &#39;" + strings.ReplaceAll(hash(timelineStyle), "+", "&#43;") + "&#39;"; !strings.Contains(page, want) {
		t.Errorf("the page lacks %s", want)
	}
}

// TestTimelineWithoutTimes: moments without a known time are placed by revision.
func TestTimelineWithoutTimes(t *testing.T) {
	d := lostWith(4, 3, numbered)
	d.From.Time, d.To.Time, d.Requests[0].At.Time = "", "", ""
	for i := range d.Losses {
		d.Losses[i].Began.Time = ""
		d.Losses[i].Gone = &d.Losses[i].Began
	}
	page := written(t, d)
	for _, want := range []string{"revision 700", "revision 1120", "revision 1000", `cx="72.57%"`} {
		if !strings.Contains(page, want) {
			t.Errorf("the page lacks %q", want)
		}
	}
}

// TestTimelineOfWhatIsNotCertain: alternative causes are named, losses without a request are below
// their cause, and routine losses are behind a switch.
func TestTimelineOfWhatIsNotCertain(t *testing.T) {
	d := lostWith(4, 3, numbered)
	owner := object.Ref{APIVersion: "apps/v1", Kind: "ReplicaSet", Namespace: "shop", Name: "web"}
	pod := object.Ref{APIVersion: "v1", Kind: "Pod", Namespace: "shop", Name: "web-a"}
	doubtful := lossAt(pod, 5, "OwnerGone", &owner)
	doubtful.Request, doubtful.Or = 0, []report.LossCause{{Code: "Requested"}}
	usual := lossAt(pod, 6, "ControllerChanged", &owner)
	usual.Request, usual.Routine = 0, true
	unknown := lossAt(pod, 7, "SomethingElse", nil)
	unknown.Request = 0
	d.Losses = append(d.Losses, doubtful, usual, unknown)
	page := written(t, d)
	for _, want := range []string{
		"went with its owner rs/web, or deleted on request", `id="collector"`, `class="lane-list routine" id="controllers-usual"`,
		"ordinary course of things (1)", `id="unexplained"`, "known since 14:00:51", "not known",
	} {
		if !strings.Contains(page, want) {
			t.Errorf("the page lacks %q", want)
		}
	}
}

// TestTimelineOfNothing: a page without losses says so.
func TestTimelineOfNothing(t *testing.T) {
	page := written(t, &report.Lost{Source: report.Source{Type: "cluster"}, From: instant(0), To: instant(300), Complete: true})
	if !strings.Contains(page, "<h1>Nothing was deleted since 14:02:31 UTC.") || strings.Contains(page, "overview\"") {
		_, body, _ := strings.Cut(page, "<main>")
		t.Error(body)
	}
}
