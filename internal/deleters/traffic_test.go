package deleters

import (
	"fmt"
	"net/http"
	"slices"
	"testing"
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
	transport := traffic.wrap(during(func(*http.Request) { seen = append(seen, traffic.unanswered()...) }))
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
	if got := few(list); !slices.Equal(got, []string{"0", "1", "2", "3", "4", "and 2 more"}) || list[5] != "5" {
		t.Errorf("%q of %q", got, list)
	}
	if got := few(list[:5]); len(got) != 5 {
		t.Errorf("%q", got)
	}
}

func TestPlain(t *testing.T) {
	for text, want := range map[string]string{
		"shop/web is held: a, ü": "shop/web is held: a, ü",
		"a\nb\x1b[31m\u202e":     `a\nb\x1b[31m\u202e`,
		"it's":                   "it's",
	} {
		if got := plain(text); got != want {
			t.Errorf("%q is %q, want %q", text, got, want)
		}
	}
}
