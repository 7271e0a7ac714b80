// Package release describes how releases of Kubernetes differ in deleting objects. Each difference
// is one row of a table. Other packages ask whether a release follows a Rule, and never compare
// version numbers.
package release

import (
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
