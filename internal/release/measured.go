package release

import (
	_ "embed"
	"strconv"
	"strings"
)

// Measurement is what was seen when predictions were compared with a control plane of a
// release.
type Measurement struct {
	// Version is that of the control plane, as v1.31.0, and Day when it was, as 2026-11-26.
	Version, Day string
	// States are the worlds that were compared, Objects what was compared of them, and Wrong
	// what was not as predicted.
	States, Objects, Wrong int
	// Files are the scenario files that hold, Shown the tests of what this release does in its
	// own way, and Suite those of upstream's own for its collector that ours passes, of how many.
	Files, Shown, Suite [2]int
	// Minutes is how long all of that took.
	Minutes int
}

//go:embed measured.tsv
var measured string

// Measurements are the last of each release, the oldest release first. `make matrix` writes
// them.
func Measurements() []Measurement {
	var list []Measurement
	for line := range strings.Lines(measured) {
		f := strings.Fields(line)
		if len(f) != 12 || strings.HasPrefix(line, "#") {
			continue
		}
		var n [10]int
		for i := range n {
			n[i], _ = strconv.Atoi(f[i+2]) // written by a program, and a test reads them
		}
		list = append(list, Measurement{
			Version: f[0], Day: f[1], States: n[0], Objects: n[1], Wrong: n[2],
			Files: [2]int{n[3], n[4]}, Shown: [2]int{n[5], n[6]}, Suite: [2]int{n[7], n[8]}, Minutes: n[9],
		})
	}
	return list
}
