package lost

import (
	"context"
	"flag"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/kubectl-gc/kubectl-gc/internal/history"
	"github.com/kubectl-gc/kubectl-gc/internal/kube"
	"github.com/kubectl-gc/kubectl-gc/test/extent"
)

var (
	states = flag.Int("states", extent.Of(40, 1000), "the number of random states")
	batch  = flag.Int("batch", 40, "the number of states at a time")
	seed   = flag.Uint64("seed", uint64(time.Now().UnixNano()), "the seed of the states")
)

// TestRequests: of random states of a real cluster, with one to three deletes by a plain client
// in each, the requests that are found are those that were made. None that was not made is
// certain; one is missing only where the object would have gone without it.
func TestRequests(t *testing.T) {
	t.Logf("seed %d", *seed)
	if err := plane.Controllers(deleters...); err != nil {
		t.Fatal(err)
	}
	total := tally{}
	for first := 0; first < *states; first += *batch {
		var list []*state
		for i := first; i < min(first+*batch, *states); i++ {
			list = append(list, draw(*seed, i))
		}
		n, err := judge(t, list)
		if err != nil {
			t.Fatal(err)
		}
		t.Logf("%d states: %+v", first+len(list), n)
		total.add(n)
		if t.Failed() {
			break
		}
	}
	t.Logf("all: %+v", total)
	if total.wrong > 0 || total.equal+total.redundant == 0 {
		t.Errorf("%d wrong, %d right", total.wrong, total.equal+total.redundant)
	}
}

// judge has a batch of states happen and compares what is found with what was done.
func judge(t *testing.T, list []*state) (tally, error) {
	ctx := t.Context()
	if err := each(list, func(s *state) error { return s.build(ctx) }); err != nil {
		return tally{}, err
	}
	if err := calm(ctx); err != nil {
		return tally{}, err
	}
	client, err := connect(ctx)
	if err != nil {
		return tally{}, err
	}
	defer client.Close()
	from, err := now(ctx)
	if err != nil {
		return tally{}, err
	}
	if err := each(list, func(s *state) error { return s.act(ctx) }); err != nil {
		return tally{}, err
	}
	if err := calm(ctx); err != nil {
		return tally{}, err
	}
	past, err := client.Past(ctx, kube.PastOptions{SinceRevision: from})
	if err != nil {
		return tally{}, err
	}
	began, err := beginners()
	if err != nil {
		return tally{}, err
	}
	a := history.Trace(past)
	var n tally
	for _, s := range list {
		n.compare(t, s, a, began)
	}
	n.foreign(t, list, a)
	return n, each(list, func(s *state) error { return s.release(ctx) })
}

func each(list []*state, do func(*state) error) error {
	var wg sync.WaitGroup
	errs := make([]error, len(list))
	for i, s := range list {
		wg.Go(func() { errs[i] = do(s) })
	}
	wg.Wait()
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}

// now is the revision of the cluster.
func now(ctx context.Context) (uint64, error) {
	list, err := send(ctx, "", http.MethodGet, "/api/v1/namespaces/default/configmaps", nil)
	if err != nil {
		return 0, err
	}
	return strconv.ParseUint(list.Metadata.ResourceVersion, 10, 64)
}

// tally counts states by how the requests that were found compare with those that were made:
// the same and all certain; the same but for what went in a cascade that had begun; some not
// certain, listed or only among the alternatives. Extra are requests that nobody has made and
// that are not said to be certain.
type tally struct {
	states, equal, redundant, ambiguous, wrong    int
	requests, certain, listed, alternative, taken int
	contested, extra, unserved                    int
}

func (n *tally) add(m tally) {
	n.states += m.states
	n.equal += m.equal
	n.redundant += m.redundant
	n.ambiguous += m.ambiguous
	n.wrong += m.wrong
	n.requests += m.requests
	n.certain += m.certain
	n.listed += m.listed
	n.alternative += m.alternative
	n.taken += m.taken
	n.contested += m.contested
	n.extra += m.extra
	n.unserved += m.unserved
}

// beginners are the deletes of the audit log by what they asked for.
func beginners() (map[string][]*record, error) {
	list, err := deletes()
	by := map[string][]*record{}
	for _, r := range list {
		key := r.ObjectRef.Resource + "." + r.ObjectRef.APIGroup + " " + r.ObjectRef.Namespace + "/" + r.ObjectRef.Name
		by[key] = append(by[key], r)
	}
	return by, err
}

// whose says whether a delete by hand began the deletion: it was the first that was done. It is
// open where another one was under way at the same time.
func whose(d *deed, began map[string][]*record) (mine, open bool) {
	group, _, grouped := strings.Cut(d.target.kind.apiVersion, "/")
	if !grouped {
		group = ""
	}
	resource := d.target.kind.plural + "." + group
	all := append([]*record{}, began[resource+" "+d.target.namespace+"/"+d.target.name]...)
	if d.target.namespace != "" {
		all = append(all, began[resource+" "+d.target.namespace+"/"]...)
	}
	var own *record
	for _, r := range all {
		if r.AuditID == d.id {
			own = r
		}
	}
	if own == nil {
		return false, false // it was refused
	}
	for _, r := range all {
		switch {
		case r == own:
		case r.Answered.Before(own.RequestReceived):
			return false, false
		case r.RequestReceived.Before(own.Answered):
			open = true
		}
	}
	return true, open
}

// compare judges the deletes of one state.
func (n *tally) compare(t *testing.T, s *state, a *history.Account, began map[string][]*record) {
	n.states++
	maybe, fewer := false, false
	for _, d := range s.deeds {
		mine, open := whose(d, began)
		if !mine {
			continue
		}
		if open {
			n.contested++
		}
		n.requests++
		l := lossOf(a, d.target.uid)
		if l == nil && unserved(a, d.target.kind) {
			fewer = true
			n.unserved++
			continue
		}
		if l == nil {
			t.Errorf("state %d: the loss of %s was not noticed", s.number, d.target.path())
			n.wrong++
			continue
		}
		switch q := l.Cause.Request; {
		case l.Cause.Code == history.Requested && a.Requests[q].Certain:
			n.certain++
			if want := policyOf(d); want != "" && want != policies[l.Policy] {
				t.Errorf("state %d: %s was deleted with %s, not with %s", s.number, d.target.path(), want, policies[l.Policy])
				n.wrong++
			}
		case len(l.Or) > 0:
			maybe = true
			if q >= 0 && slices.ContainsFunc(a.Requests[q].Losses, func(i int) bool { return &a.Losses[i] == l }) {
				n.listed++
			} else {
				n.alternative++
			}
			t.Logf("state %d: %s %s", s.number, d.target.path(), tell(l))
		default:
			fewer = true
			n.taken++
			t.Logf("state %d: %s (open: %v) %s", s.number, d.target.path(), open, tell(l))
		}
	}
	switch {
	case maybe:
		n.ambiguous++
	case fewer:
		n.redundant++
	default:
		n.equal++
	}
}

// foreign looks for requests that nobody has made.
func (n *tally) foreign(t *testing.T, list []*state, a *history.Account) {
	made := map[string]bool{}
	for _, s := range list {
		for _, d := range s.deeds {
			if d.got.code < 300 {
				made[d.target.uid] = true
			}
		}
	}
	for _, q := range a.Requests {
		for _, i := range q.Losses {
			o := a.Losses[i].Object
			if made[string(o.UID)] || !strings.HasPrefix(o.Name+o.Namespace, "s") && o.Namespace == "" {
				continue
			}
			if q.Certain {
				n.wrong++
				t.Errorf("nobody has asked for %s: %s", o.Ref, tell(&a.Losses[i]))
			} else {
				n.extra++
				t.Logf("nobody has asked for %s: %s", o.Ref, tell(&a.Losses[i]))
			}
		}
	}
}

var policies = []string{history.Background: "Background", history.Foreground: "Foreground", history.Orphan: "Orphan"}

// policyOf is the policy that a delete leaves a trace of; empty where it leaves what was there.
func policyOf(d *deed) string {
	if d.target.kind.kind == "CustomResourceDefinition" {
		return ""
	}
	return d.policy
}

func lossOf(a *history.Account, uid string) *history.Loss {
	for i := range a.Losses {
		if l := &a.Losses[i]; string(l.Object.UID) == uid && !l.Orphaned {
			return l
		}
	}
	return nil
}

// unserved reports whether the definition of a kind has gone: no server shows its instances then.
func unserved(a *history.Account, k kind) bool {
	return slices.ContainsFunc(a.Losses, func(l history.Loss) bool {
		crd := l.Object.Definition()
		return crd != nil && l.Gone != 0 && strings.HasPrefix(k.apiVersion, crd.Group+"/") && crd.Kind == k.kind
	})
}

func tell(l *history.Loss) string {
	text := fmt.Sprintf("%s(%s)", l.Cause.Code, l.Cause.By.Name)
	for _, c := range l.Or {
		text += fmt.Sprintf(" or %s(%s)", c.Code, c.By.Name)
	}
	return fmt.Sprintf("%s asked=%d gone=%d", text, l.Asked, l.Gone)
}
