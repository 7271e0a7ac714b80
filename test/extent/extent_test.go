package extent

import "testing"

func TestOf(t *testing.T) {
	for value, want := range map[string]int{"": 3, "some": 3, Everything: 300} {
		t.Setenv(Variable, value)
		if got := Of(3, 300); got != want {
			t.Errorf("with %s=%q %d are tried, want %d", Variable, value, got, want)
		}
	}
}
