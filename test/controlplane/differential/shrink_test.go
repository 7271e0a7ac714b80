package differential

import "testing"

func TestAlways(t *testing.T) {
	m := &misjudged{phase: 1, states: []string{"a", "b"}}
	for name, c := range map[string]struct {
		told [][]string
		want bool
	}{
		"alike":                    {[][]string{{"a", "b", "c"}, {"a", "b"}}, true},
		"now one, now the other":   {[][]string{{"a", "b"}, {"a", "c"}}, false},
		"after another beginning":  {[][]string{{"a", "b"}, {"d", "b"}}, false},
		"a repetition that failed": {[][]string{{"a", "b"}, {"a"}}, false},
	} {
		if got := m.always(c.told); got != c.want {
			t.Errorf("%s: %t", name, got)
		}
	}
}
