package object

import "testing"

func TestHolderStateOf(t *testing.T) {
	const now = 1_000_000
	for name, c := range map[string]struct {
		holder        string
		renewed, late int64
		want          HolderState
	}{
		"renewed":                         {"m", now - 2, 0, HolderAlive},
		"a clock that is ahead":           {"m", now + 3600, 0, HolderAlive},
		"a clock that is behind":          {"m", now - 74, 0, HolderAlive},
		"just ended":                      {"m", now - 75, 0, HolderUnclear},
		"not renewed any more":            {"m", now - 76, 0, HolderGone},
		"the same, in a dump":             {"m", now - 76, 240, HolderUnclear},
		"not renewed any more, in a dump": {"m", now - 316, 240, HolderGone},
		"given up":                        {"", now - 2, 0, HolderUnclear},
		"given up, for a while":           {"", now - 3600, 0, HolderGone},
		"it does not say when":            {"m", 0, 0, HolderUnclear},
	} {
		if got := HolderStateOf(c.holder, c.renewed, 15, now, c.late); got != c.want {
			t.Errorf("%s: %d, want %d", name, got, c.want)
		}
	}
	if got := HolderStateOf("m", now, 15, 0, 0); got != HolderUnclear {
		t.Errorf("at a time that is not known: %d", got)
	}
}
