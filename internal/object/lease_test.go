package object

import "testing"

func TestPulseOf(t *testing.T) {
	const now = 1_000_000
	for name, c := range map[string]struct {
		holder        string
		renewed, late int64
		want          Pulse
	}{
		"renewed":                         {"m", now - 2, 0, PulseBeats},
		"a clock that is ahead":           {"m", now + 3600, 0, PulseBeats},
		"a clock that is behind":          {"m", now - 74, 0, PulseBeats},
		"just ended":                      {"m", now - 75, 0, PulseUnclear},
		"not renewed any more":            {"m", now - 76, 0, PulseStopped},
		"the same, in a dump":             {"m", now - 76, 240, PulseUnclear},
		"not renewed any more, in a dump": {"m", now - 316, 240, PulseStopped},
		"given up":                        {"", now - 2, 0, PulseUnclear},
		"given up, for a while":           {"", now - 3600, 0, PulseStopped},
		"it does not say when":            {"m", 0, 0, PulseUnclear},
	} {
		if got := PulseOf(c.holder, c.renewed, 15, now, c.late); got != c.want {
			t.Errorf("%s: %d, want %d", name, got, c.want)
		}
	}
	if got := PulseOf("m", now, 15, 0, 0); got != PulseUnclear {
		t.Errorf("at a time that is not known: %d", got)
	}
}
