package apply

import "testing"

// TestWithoutTokens: a namespace is finalized with all its content except the tokens.
func TestWithoutTokens(t *testing.T) {
	for _, tt := range []struct{ raw, want string }{
		{`{"kind":"Namespace","metadata":{"resourceVersion":"5","uid":"u"},"spec":{"finalizers":["kubernetes","x/y"]}}`,
			`{"kind":"Namespace","metadata":{"resourceVersion":"5","uid":"u"},"spec":{"finalizers":["x/y"]}}`},
		{`{"metadata":{"generation":9007199254740993},"spec":{"finalizers":["kubernetes"]}}`,
			`{"metadata":{"generation":9007199254740993},"spec":{"finalizers":[]}}`},
	} {
		got, err := withoutTokens([]byte(tt.raw), []string{"kubernetes"})
		if err != nil || string(got) != tt.want {
			t.Errorf("%s %v, want %s", got, err, tt.want)
		}
	}
	for _, raw := range []string{`{`, `[]`, `{"metadata":{}}`} {
		if got, err := withoutTokens([]byte(raw), []string{"kubernetes"}); err == nil {
			t.Errorf("%s is taken for a namespace: %s", raw, got)
		}
	}
}
