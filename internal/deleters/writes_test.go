package deleters

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-gc/kubectl-gc/internal/object"
)

// during is a transport that calls a function while a request is in progress.
type during func(*http.Request)

func (d during) RoundTrip(r *http.Request) (*http.Response, error) {
	d(r)
	return nil, http.ErrServerClosed
}

// Writes are counted, and named while they are in progress. Reads are not.
func TestTraffic(t *testing.T) {
	traffic := &traffic{}
	var seen []string
	transport := watched{during(func(*http.Request) { seen = append(seen, traffic.unanswered()...) }), traffic}
	for _, method := range []string{http.MethodGet, http.MethodDelete, http.MethodPatch} {
		r, err := http.NewRequestWithContext(t.Context(), method, "https://server/api/v1/a%0Ab", http.NoBody)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := transport.RoundTrip(r); err == nil { //nolint:bodyclose // there is none
			t.Fatal("an answer")
		}
	}
	if want := []string{"no answer yet to DELETE /api/v1/a%0Ab", "no answer yet to PATCH /api/v1/a%0Ab"}; !slices.Equal(seen, want) {
		t.Errorf("under way were %q", seen)
	}
	if begun, underWay := traffic.writes(); begun != 2 || underWay {
		t.Errorf("%d writes, under way %v", begun, underWay)
	}
}

func TestFew(t *testing.T) {
	var list []string
	for i := range 7 {
		list = append(list, fmt.Sprint(i))
	}
	if got := truncate(list); !slices.Equal(got, []string{"0", "1", "2", "3", "4", "and 2 more"}) || list[5] != "5" {
		t.Errorf("%q of %q", got, list)
	}
	if got := truncate(list[:5]); len(got) != 5 {
		t.Errorf("%q", got)
	}
}

func TestPlain(t *testing.T) {
	for text, want := range map[string]string{
		"shop/web is held: a, ü": "shop/web is held: a, ü",
		"a\nb\x1b[31m\u202e":     `a\nb\x1b[31m\u202e`,
		"it's":                   "it's",
	} {
		if got := terminalSafe(text); got != want {
			t.Errorf("%q is %q, want %q", text, got, want)
		}
	}
}

// An object that is recreated after every delete is the reason why nothing settles, and is reported
// first.
func TestRemade(t *testing.T) {
	shop := &object.Object{Ref: object.Namespace.Ref("", "shop")}
	shop.UID = "shop"
	s := start(t, shop)
	times := 0
	again := func() {
		err := s.Change(func() error {
			times++
			made := configMap("again", "nobody")
			made.UID = types.UID(fmt.Sprint("uid-again-", times))
			_, err := s.Sim.Create(t.Context(), made)
			return err
		})
		if err != nil {
			t.Error(err)
		}
	}
	s.deleted.Store(&again)
	again()
	text := s.unsettled("times since: something creates it again")
	s.deleted.Store(nil)
	lines := strings.Split(text, "\n")
	if len(lines) < 2 || !strings.HasPrefix(lines[1], "  left to do: v1 ConfigMap shop/again was deleted ") || strings.Contains(text, "no answer yet") {
		t.Errorf("it is said:\n%s", text)
	}
	s.settled()
}

// Only the deletes since a moment count, by kind and name, and their number is limited.
func TestDeletes(t *testing.T) {
	deleted := func(name, uid string) deletion {
		ref := named(name)
		ref.UID = types.UID(uid)
		return deletion{ref: ref, garbage: true}
	}
	var d deletes
	note := d.add
	note(deleted("a", "1"))
	since := d.count()
	note(deleted("a", "2"))
	note(deleted("a", "3"))
	note(deleted("b", "4"))
	for range recreatedOften { // repeated deletes of one object
		note(deleted("b", "4"))
	}
	if got := d.recreated(since); len(got) > 0 {
		t.Errorf("after two deletes each: %q", got)
	}
	if got := d.recreated(0); len(got) != 1 || got[0] != "v1 ConfigMap shop/a was deleted 3 times since: something creates it again" {
		t.Errorf("from the beginning: %q", got)
	}
	for i := range maxDeletes {
		note(deleted("c", fmt.Sprint("c", i)))
	}
	if got := d.recreated(0); len(d.last) != maxDeletes || len(got) != 1 || !strings.Contains(got[0], "shop/c") {
		t.Errorf("%d are remembered: %q", len(d.last), got)
	}
}
