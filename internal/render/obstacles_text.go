package render

import (
	"strconv"
	"strings"

	"github.com/kubectl-gc/kubectl-gc/internal/reason"
	"github.com/kubectl-gc/kubectl-gc/internal/report"
)

// ObstaclesText returns why a plan is refused: the end of a sentence, or one line for each of
// several obstacles. Names are not escaped, since it is part of an error message.
func ObstaclesText(obstacles []report.Obstacle) string {
	lines := make([]string, len(obstacles))
	for i := range obstacles {
		o := &obstacles[i]
		lines[i] = obstacleText(o)
		if o.Unlock != "" {
			lines[i] += " (--unlock=" + o.Unlock + ")"
		}
	}
	if len(lines) > 1 {
		return "\n  " + strings.Join(lines, "\n  ")
	}
	return " " + lines[0]
}

func obstacleText(o *report.Obstacle) string {
	if o.Limit < o.Planned {
		return "the plan deletes " + plural(o.Planned, "object") + ", at most " + strconv.Itoa(o.Limit) + " are allowed"
	}
	const most = 3
	var names []string
	for i, r := range o.Objects {
		if i == most {
			break
		}
		names = append(names, unescaped(r))
	}
	who, is, its := enumerate(names, len(o.Objects)), " is ", " its "
	if len(o.Objects) > 1 {
		is, its = " are ", " their "
	}
	if o.Finalizer != "" {
		return "finalizer " + o.Finalizer + " of " + who + ": " + o.Message
	}
	if o.Message != "" {
		return "of what goes with " + who + " some was not seen, so that it may be protected, and has no copy: " + o.Message
	}
	switch reason.Code(o.Reason) {
	case reason.ProtectedNamespace:
		return who + is + "protected: a namespace that the cluster lives by, which nothing unlocks"
	case reason.ProtectedByAnnotation:
		return who + is + "protected by" + its + "annotation kubectl-gc.io/protect, which nothing unlocks: remove the annotation first"
	case reason.ProtectedByHelm:
		return who + is + "protected by" + its + "annotation helm.sh/resource-policy: keep"
	case reason.ProtectedKind:
		return who + is + "protected by" + its + "kind"
	default:
		return who + " could not be read: whether an annotation protects it is not known"
	}
}

// unescaped returns an object with its namespace, in kubectl's syntax.
func unescaped(r report.Ref) string {
	if r.Namespace == "" {
		return r.ShortName()
	}
	return r.ShortName() + " -n " + r.Namespace
}

// AnswersText returns the answers of the API server to dry-run requests. Names are not escaped.
func AnswersText(answers []report.Answer) string {
	var refused, whys []string
	untried := map[string][]string{} // by reason
	accepted := 0
	for i := range answers {
		a := &answers[i]
		what := a.Verb + " " + unescaped(a.Object)
		switch {
		case a.Refused != "":
			refused = append(refused, "\n  "+what+" would be refused: "+a.Refused)
		case a.Untried != "":
			if untried[a.Untried] == nil {
				whys = append(whys, a.Untried)
			}
			untried[a.Untried] = append(untried[a.Untried], what)
		default:
			accepted++
		}
	}
	head := "The API server tried nothing."
	if tried := accepted + len(refused); tried > 0 {
		head = "The API server tried " + plural(tried, "request") + " and would accept " + strconv.Itoa(accepted) + "."
	}
	var text strings.Builder
	text.WriteString(head)
	const most = 10
	if more := len(refused) - most; more > 0 {
		refused = append(refused[:most], "\n  and "+strconv.Itoa(more)+" more would be refused")
	}
	text.WriteString(strings.Join(refused, ""))
	for _, why := range whys {
		list := untried[why]
		text.WriteString("\n  not tried: " + enumerate(list[:min(3, len(list))], len(list)) + ": " + why)
	}
	return text.String()
}
