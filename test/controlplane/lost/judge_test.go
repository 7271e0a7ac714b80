package lost

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-gc/kubectl-gc/internal/past"
)

// class is how the requests that were found in a state compare with those that were made.
type class int

const (
	// equal: the same ones, and all are certain.
	equal class = iota
	// ambiguous: the same ones, and of some it is said that it may have been otherwise.
	ambiguous
	// redundant: some are not among them that changed nothing.
	redundant
	// missed: some are not among them without which something would have stayed.
	missed
	// extra: some are among them that nobody has made, and they are not said to be certain.
	extra
	// wrong: one that nobody has made is certain, or was made with another policy, or what went
	// was not noticed.
	wrong
	classes
)

func (c class) String() string {
	return [...]string{"equal and certain", "equal and said to be ambiguous", "equal but for redundant ones", "missed", "extra", "wrong"}[c]
}

// verdict is what is said of one state.
type verdict struct {
	*state
	class class
	// absent are the deletes that were made and not found.
	absent []*request
	// fates are what became of the objects, where something is absent.
	fates map[int]string
	notes []string
	// requests, certain and open count the deletes that began a deletion.
	requests, certain, open int
}

// request is a delete by hand.
type request struct {
	at         place
	policy     string
	mine, open bool
}

func (v *verdict) fall(c class, format string, args ...any) {
	v.class = max(v.class, c)
	v.notes = append(v.notes, fmt.Sprintf(format, args...))
}

// requestsOf are the deletes by hand of a state that were done.
func (s *state) requestsOf(written writes) map[place][]*request {
	by := map[place][]*request{}
	for at, list := range written {
		for _, r := range list {
			deed, ok := strings.CutPrefix(r.ImpersonatedUser.Username, s.label+"-by")
			if !ok || r.Verb != "delete" {
				continue
			}
			i, _ := strconv.Atoi(deed)
			q := &request{at: at, policy: s.deeds[i].policy}
			if q.policy == "" && s.kubectl {
				q.policy = "Background"
			}
			q.mine, q.open = written.began(r)
			by[at] = append(by[at], q)
		}
	}
	return by
}

// has reports whether an object is one of the state.
func (s *state) has(o *past.Loss) bool {
	r := o.Object.Ref
	return strings.HasPrefix(r.Namespace, s.label+"-") || strings.HasPrefix(r.Name, s.label+"-") || strings.HasSuffix(r.Name, "."+s.label+".example.com")
}

func placeOf(l *past.Loss) place {
	return place{strings.ToLower(l.Object.Kind) + "s", l.Object.Namespace, l.Object.Name}
}

// compare judges the requests of one state.
func compare(t *testing.T, s *state, a *past.Account, written writes) *verdict {
	t.Helper()
	v := &verdict{state: s}
	made := s.requestsOf(written)
	found, certain := map[place]int{}, map[place]int{}
	for k := range a.Requests {
		q := &a.Requests[k]
		for _, i := range q.Losses {
			l := &a.Losses[i]
			if !s.has(l) {
				continue
			}
			at := placeOf(l)
			found[at]++
			fits := slices.ContainsFunc(made[at], func(r *request) bool { return r.leaves(q.Policy) })
			switch {
			case !q.Certain && len(made[at]) < found[at]:
				v.fall(extra, "nobody has asked for %v: %s", at, tell(l))
			case !q.Certain:
				v.fall(ambiguous, "%v: %s", at, tell(l))
			case len(made[at]) < found[at] || !fits:
				v.fall(wrong, "nobody has asked for %v in this way: %s %s", at, q.Policy, tell(l))
			default:
				certain[at]++
			}
		}
	}
	for at, list := range made {
		v.certain += min(certain[at], v.seek(a, at, list, found[at]))
	}
	return v
}

// seek looks for the requests for one object that were made and not found, and says how many
// began a deletion.
func (v *verdict) seek(a *past.Account, at place, list []*request, found int) int {
	list = slices.DeleteFunc(slices.Clone(list), func(r *request) bool { return !r.mine })
	v.requests += len(list)
	var losses []string
	for i := range a.Losses {
		if l := &a.Losses[i]; placeOf(l) == at && !l.Orphaned {
			losses = append(losses, tell(l))
		}
	}
	if len(losses) < len(list) && !v.unserved(a, at) {
		v.fall(wrong, "the loss of %v was not noticed", at)
	}
	for _, r := range list {
		if r.open {
			v.open++
		}
	}
	if found < len(list) {
		v.absent = append(v.absent, list[0])
		v.notes = append(v.notes, fmt.Sprintf("%v (open: %v) was not found: %s", at, list[0].open, strings.Join(losses, ", ")))
	}
	return len(list)
}

// unserved reports whether the definition of a kind has gone: no server shows its instances then.
func (v *verdict) unserved(a *past.Account, at place) bool {
	return at.resource == "widgets" && slices.ContainsFunc(a.Losses, func(l past.Loss) bool {
		return l.Object.Name == "widgets."+v.label+".example.com" && l.Gone != 0
	})
}

// leaves reports whether a delete may leave a trace of a policy: one that names none keeps what
// was there, and the first one of a definition always does.
func (r *request) leaves(found metav1.DeletionPropagation) bool {
	return r.policy == "" || r.at.resource == "customresourcedefinitions" || r.policy == string(found)
}

func tell(l *past.Loss) string {
	text := fmt.Sprintf("%s(%s)", l.Cause.Code, l.Cause.By.Name)
	for _, c := range l.Or {
		text += fmt.Sprintf(" or %s(%s)", c.Code, c.By.Name)
	}
	return fmt.Sprintf("%s asked=%d gone=%d", text, l.Began, l.Gone)
}

// tally counts states by class.
type tally struct {
	of                      [classes]int
	requests, certain, open int
}

func count(list []*verdict) tally {
	var n tally
	for _, v := range list {
		n.of[v.class]++
		n.requests += v.requests
		n.certain += v.certain
		n.open += v.open
	}
	return n
}

// found are the states whose requests were found, but for those that changed nothing.
func (n *tally) found() float64 { return float64(n.of[equal] + n.of[ambiguous] + n.of[redundant]) }

func (n tally) String() string {
	text := fmt.Sprintf("%d deletes began a deletion, %d are certain, of %d it is open; states:", n.requests, n.certain, n.open)
	for c, k := range n.of {
		text += fmt.Sprintf(" %d %s,", k, class(c))
	}
	return strings.TrimSuffix(text, ",")
}
