package release

import (
	_ "embed"
	"strconv"
	"strings"
)

// Measurement is the result of comparing predictions with a real control plane of one release.
type Measurement struct {
	// Version is the version of the control plane: v1.31.0. Day is the date: 2026-11-26.
	Version, Day string
	// States is the number of random cluster states, Objects that of the results compared in them,
	// and Wrong that of the mispredicted ones.
	States, Objects, Wrong int
	// Each pair is passed and total. Files are scenario files. Shown are tests of this release's
	// peculiarities. Suite are upstream's tests of its collector, run against ours.
	Files, Shown, Suite [2]int
	// Minutes is the duration of the whole measurement.
	Minutes int
}

//go:embed measured.tsv
var measured string

// Measurements returns the latest measurement of each release, the oldest release first.
// `make matrix` writes them.
func Measurements() []Measurement {
	var list []Measurement
	for line := range strings.Lines(measured) {
		f := strings.Fields(line)
		if len(f) != 12 || strings.HasPrefix(line, "#") {
			continue
		}
		var n [10]int
		for i := range n {
			n[i], _ = strconv.Atoi(f[i+2]) // a program writes them, and a test reads them all
		}
		list = append(list, Measurement{
			Version: f[0], Day: f[1], States: n[0], Objects: n[1], Wrong: n[2],
			Files: [2]int{n[3], n[4]}, Shown: [2]int{n[5], n[6]}, Suite: [2]int{n[7], n[8]}, Minutes: n[9],
		})
	}
	return list
}
