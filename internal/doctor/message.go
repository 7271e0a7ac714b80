package doctor

import (
	"strconv"
	"strings"

	"github.com/kubectl-gc/kubectl-gc/internal/object"
	"github.com/kubectl-gc/kubectl-gc/internal/report"
)

// name returns the name of an object as kubectl prints it.
func name(r object.Ref) string { return report.RefOf(r).ShortName() }

// ownerless returns a text that names the owners as absent.
func ownerless(o *object.Object) string {
	const most = 2
	names := make([]string, 0, most)
	for i, ref := range o.Owners {
		if i == most {
			return strings.Join(names, ", ") + " and " + strconv.Itoa(len(o.Owners)-most) + " more owners are absent"
		}
		names = append(names, name(ref.In("")))
	}
	if len(names) == 1 {
		return "its owner " + names[0] + " is absent"
	}
	return "its owners " + strings.Join(names, " and ") + " are absent"
}

// created returns a text with the age of an object, which is the longest that it can be garbage.
func (e *examiner) created(o *object.Object) string {
	most, known := e.age(o.Created)
	if !known {
		return ""
	}
	return "created " + span(most) + " ago"
}

// span formats seconds in their largest unit.
func span(seconds int64) string {
	for _, u := range []struct {
		seconds int64
		name    string
	}{{24 * 60 * 60, "day"}, {60 * 60, "hour"}, {60, "minute"}} {
		if seconds >= 2*u.seconds {
			return strconv.FormatInt(seconds/u.seconds, 10) + " " + u.name + "s"
		}
	}
	if seconds == 1 {
		return "1 second"
	}
	return strconv.FormatInt(seconds, 10) + " seconds"
}

func plural(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return strconv.Itoa(n) + " " + noun + "s"
}
