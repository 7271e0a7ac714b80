package controllers_test

import (
	"slices"
	"testing"

	"github.com/kubectl-gc/kubectl-gc/internal/apisim"
	"github.com/kubectl-gc/kubectl-gc/internal/apisim/controllers"
	"github.com/kubectl-gc/kubectl-gc/test/scenario"
)

// TestTokenOfAnAccountThatWasNotSeen: a token names another UID than the account of that name has.
// If the account is younger than the token, the named one is gone and the token is deleted. If it
// is older, the two were read at different times, and nothing follows.
func TestTokenOfAnAccountThatWasNotSeen(t *testing.T) {
	for _, test := range []struct {
		name           string
		account, token int64
		want           []string
	}{
		{"younger", 20, 10, []string{"v1 ServiceAccount s/ci"}},
		{"older", 10, 20, []string{"v1 Secret s/t", "v1 ServiceAccount s/ci"}},
		{"not known when", 0, 20, []string{"v1 ServiceAccount s/ci"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			objects, err := scenario.ParseWorld("v1 ServiceAccount s/ci uid=second\nv1 Secret s/t token=ci:first", scenario.Names{})
			if err != nil {
				t.Fatal(err)
			}
			objects[0].Created, objects[1].Created = test.account, test.token
			w, c := apisim.New(objects, scenario.Resources()), controllers.Tokens(whole)
			settle(t, c, w)
			if got := remains(w); !slices.Equal(got, test.want) {
				t.Errorf("%q remain, want %q", got, test.want)
			}
			if waits := waits(c); (len(waits) > 0) != (len(test.want) == 2) {
				t.Errorf("waits %q", waits)
			}
		})
	}
}
