package differential

import (
	"fmt"
	"strings"

	"github.com/kubectl-gc/kubectl-gc/test/scenario"
)

// report is a disagreement for people: what a scenario file needs, and what came.
func (t *trial) report() string {
	var b strings.Builder
	fmt.Fprintf(&b, "seed %d, phase %d: %s\n\ncluster\n%s----\n", t.seed, t.phase, t.verdict, text(t.objects))
	for phase, acts := range t.acts {
		for _, a := range acts {
			fmt.Fprintf(&b, "\n%s\n", directive(a))
		}
		if phase < len(t.states) {
			fmt.Fprintf(&b, "\ndrain\n----\nreal server:\n%s", indent(t.states[phase]))
		}
	}
	fmt.Fprintf(&b, "dry run:\n%s", indent(t.expected.state))
	sides, _ := difference(t.now.requests, t.expected.requests)
	fmt.Fprintf(&b, "requests of the garbage collector:\n%s", indent(sides))
	if t.verdict == wrong {
		fmt.Fprintf(&b, "found under no schedule: %s\n", t.want.left())
	}
	return b.String()
}

func directive(a scenario.Act) string {
	target := a.Ref.APIVersion + " " + a.Ref.Kind + " " + strings.TrimPrefix(a.Ref.Namespace+"/"+a.Ref.Name, "/")
	switch {
	case a.Drop != "":
		return "patch merge " + target + " without " + a.Drop
	case a.Policy != "":
		return "delete " + target + " policy=" + string(a.Policy)
	default:
		return "delete " + target
	}
}

func indent(s string) string {
	if s == "" {
		return "  empty\n"
	}
	return "  " + strings.ReplaceAll(strings.TrimSuffix(s, "\n"), "\n", "\n  ") + "\n"
}
