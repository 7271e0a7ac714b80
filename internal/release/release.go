// Package release holds what releases of Kubernetes do otherwise than each other where
// objects are deleted. Each difference is one row of a table; whoever simulates, judges or
// tells asks for a rule by its name and never for a number.
package release

import (
	"strconv"
	"strings"
)

// Minor is the N of a release 1.N; 0 is one that is not known.
type Minor int

// The releases that were measured on a control plane, the first and the last.
const (
	Oldest Minor = 31
	Newest Minor = 37
)

// MinorOf is 37 for v1.37.2, and for what others make of it, such as 1.37.2+k3s1; 0 for what is
// no version of Kubernetes.
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

// Measured are the releases that were measured, the oldest first.
func Measured() []Minor {
	var all []Minor
	for m := Oldest; m <= Newest; m++ {
		all = append(all, m)
	}
	return all
}

// String is v1.37 for 37; empty for 0.
func (m Minor) String() string {
	if m == 0 {
		return ""
	}
	return "v1." + strconv.Itoa(int(m))
}

// Nearest is the measured release whose rules are followed for this one: itself, or the
// oldest or the newest one. For a release that is not known it is the newest.
func (m Minor) Nearest() Minor {
	if m == 0 {
		return Newest
	}
	return min(max(m, Oldest), Newest)
}

// Rules are those of one release. The zero value is those of the newest one.
type Rules struct {
	// lacks has a bit for each rule that the release does not follow.
	lacks uint32
}

// Of are the rules of a release, also of one that is older than those that were measured, as
// far as the table knows it. What is not known or newer has those of the newest.
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
