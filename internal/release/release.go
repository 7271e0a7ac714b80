// Package release describes how releases of Kubernetes differ in deleting objects. Each difference
// is one row of a table. Other packages ask whether a release follows a Rule, and never compare
// version numbers.
package release

import (
	_ "embed"
	"strconv"
	"strings"
)

// Minor is the N of a release 1.N; 0 for an unknown release.
type Minor int

// The first and the last release that were measured on a control plane.
const (
	Oldest Minor = 31
	Newest Minor = 37
)

// MinorOf returns the release of a version: 37 for v1.37.2, and for a vendor's 1.37.2+k3s1. It
// returns 0 if the text is no version of Kubernetes.
func MinorOf(version string) Minor {
	rest, ok := strings.CutPrefix(strings.TrimPrefix(version, "v"), "1.")
	if i := strings.IndexFunc(rest, func(r rune) bool { return r < '0' || r > '9' }); i >= 0 {
		rest = rest[:i]
	}
	minor, err := strconv.Atoi(rest)
	if !ok || err != nil || minor <= 0 || minor >= 1000 {
		return 0
	}
	return Minor(minor)
}

// Measured returns the measured releases, the oldest first.
func Measured() []Minor {
	var all []Minor
	for m := Oldest; m <= Newest; m++ {
		all = append(all, m)
	}
	return all
}

// String returns v1.37 for 37; empty for 0.
func (m Minor) String() string {
	if m == 0 {
		return ""
	}
	return "v1." + strconv.Itoa(int(m))
}

// Nearest returns the nearest measured release: m itself, Oldest or Newest. For an unknown release
// it is Newest.
func (m Minor) Nearest() Minor {
	if m == 0 {
		return Newest
	}
	return min(max(m, Oldest), Newest)
}

// Rules are the rules that one release follows. The zero value follows all, like the newest one.
type Rules struct {
	// lacks has the bit 1<<r set for each Rule r that the release does not follow.
	lacks uint32
}

// Of returns the rules of a release, as far as the table knows it; the release need not be a
// measured one. An unknown or newer release has the rules of the newest.
func Of(m Minor) Rules {
	var r Rules
	for _, d := range Differences {
		if m != 0 && m < d.Since {
			r.lacks |= 1 << d.Rule
		}
	}
	return r
}

// Follow reports whether the release follows a rule.
func (r Rules) Follow(rule Rule) bool { return r.lacks&(1<<rule) == 0 }

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
