package differential

import (
	"maps"
	"slices"
	"strings"
)

// sought is an end that a schedule is looked for, and what was found of it so far.
//
// One schedule that leads to all of it is found soon in a small world. In a large
// one much goes on side by side that has nothing to do with each other, and each of
// it can go in several ways: no random schedule hits all of them at once. There it
// is enough that some schedule leads to the state of the world, and that for every
// object some schedule ends with it as it is, by the requests about it that were
// sent. Where even that is not found, attempts at one object stalled in the midst of
// each other: then each single request about it has to be one that some schedule
// sends (pieces).
type sought struct {
	end
	state   bool              // found
	objects map[string]string // not found yet: what is said of each
	lines   map[string]bool   // not found yet: every single request
	// silent: requests do not count.
	silent bool
}

func newSought(e end) *sought {
	s := &sought{end: e, objects: objectsIn(e), lines: map[string]bool{}}
	for line := range strings.Lines(e.requests) {
		s.lines[line] = true
	}
	return s
}

// pieces reports whether some schedule leads to the state, and each request was sent
// under some schedule.
func (s *sought) pieces() bool { return s.state && len(s.lines) == 0 }

// found takes the end of a schedule into account. It returns whether nothing is
// left to look for.
func (s *sought) found(e end) bool {
	if s.silent {
		e.requests = ""
	}
	if e == s.end {
		return true
	}
	s.state = s.state || e.state == s.end.state
	for line := range strings.Lines(e.requests) {
		delete(s.lines, line)
	}
	if len(s.objects) > 0 {
		for object, said := range objectsIn(e) {
			if s.objects[object] == said {
				delete(s.objects, object)
			}
		}
	}
	return s.state && len(s.objects) == 0
}

// left names what was not found.
func (s *sought) left() string {
	left := slices.Sorted(maps.Keys(s.objects))
	if !s.state {
		left = append([]string{"the state as a whole"}, left...)
	}
	return strings.Join(left, ", ")
}

// objectsIn sorts the lines of an end by the objects that they are about.
func objectsIn(e end) map[string]string {
	said := map[string]string{}
	for line := range strings.Lines(e.state) {
		object, _, _ := strings.Cut(line, " uid=")
		said[object] += line
	}
	for line := range strings.Lines(e.requests) {
		words := strings.Fields(line)
		if words[1] == "strategic" || words[1] == "merge" {
			words = words[1:]
		}
		said[strings.Join(words[1:4], " ")] += line
	}
	return said
}
