package main

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

func TestRun(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/index/db.json" {
			http.NotFound(w, r)
		}
	}))
	t.Cleanup(server.Close)
	gone := httptest.NewServer(http.NotFoundHandler())
	gone.Close()
	found := errors.New("found one")
	for _, c := range []struct {
		name, database string
		required       bool
		check          error
		asked          bool
		want, printed  string
	}{
		{"nothing is found", server.URL + "/", true, nil, true, "", ""},
		{"something is found", server.URL, false, found, true, "found one", ""},
		{"not reached", gone.URL, false, nil, false, "", "NOT CHECKED"},
		{"not reached, and required", gone.URL, true, nil, false, "cannot be checked", ""},
		{"another answer", server.URL + "/other", false, nil, false, "", "404 Not Found"},
		{"no address", "://", true, nil, false, "cannot be checked", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			asked := false
			var out strings.Builder
			err := run(t.Context(), c.database, c.required, &out, func(context.Context) error {
				asked = true
				return c.check
			})
			if asked != c.asked {
				t.Errorf("checked: %t, want %t", asked, c.asked)
			}
			message := ""
			if err != nil {
				message = err.Error()
			}
			if !strings.Contains(message, c.want) || c.want == "" && err != nil {
				t.Errorf("error %q, want %q in it", message, c.want)
			}
			if !strings.Contains(out.String(), c.printed) || c.printed == "" && out.Len() > 0 {
				t.Errorf("printed %q, want %q in it", out.String(), c.printed)
			}
		})
	}
}
