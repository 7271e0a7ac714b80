package commands

import (
	"encoding/json"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/kubectl-gc/kubectl-gc/internal/report"
)

// counted are the rows of the table of a prompt, which counts by kind and what becomes of it.
var counted = regexp.MustCompile(`(?m)^(\S+) +(\S+) +(\d+)$`)

// prompt is what a person reads between the plan and the question, as kind and outcome
// with their number.
func (a answer) prompt() map[string]int {
	counts := map[string]int{}
	for _, row := range counted.FindAllStringSubmatch(a.stderr, -1) {
		n, _ := strconv.Atoi(row[3])
		counts[row[1]+" "+row[2]] += n
	}
	return counts
}

// TestPromptIsAboutTheRequest has, beside the namespace of a request, another one with
// which it has nothing to do: with garbage, with an object that a finalizer holds while it
// is being deleted, and with one that is held by its owner. Whoever is asked about the one
// namespace is asked about that one.
func TestPromptIsAboutTheRequest(t *testing.T) {
	for _, x := range []struct {
		name string
		args []string
		want map[string]int
		// seen are the objects that the plan may name.
		seen []string
	}{
		{"collect", []string{"collect"}, map[string]int{"cm deleted": 4}, []string{"a", "below-a", "b", "below-b"}},
		{"delete", []string{"delete", "configmap/alive", "--cascade=foreground"}, map[string]int{"cm deleted": 2}, []string{"alive", "below-alive"}},
		{"delete in the background", []string{"delete", "configmap/alive"}, map[string]int{"cm deleted": 2}, []string{"alive", "below-alive"}},
		{"orphan", []string{"delete", "configmap/alive", "--cascade=orphan"}, map[string]int{"cm changed": 1, "cm deleted": 1}, []string{"alive", "below-alive"}},
	} {
		t.Run(x.name, func(t *testing.T) {
			other := enterAs(t, "other-than-"+strings.ReplaceAll(x.name, " ", "-"))
			other.garbage("strange")
			other.configMap("held", "", "")
			other.kubectl(nil, "patch", "configmap", "held", "-n", other.namespace, "--type=merge", "-p", `{"metadata":{"finalizers":["example.com/hold"]}}`)
			other.kubectl(nil, "delete", "configmap", "held", "-n", other.namespace, "--wait=false")
			t.Cleanup(func() {
				other.kubectl(nil, "patch", "configmap", "held", "-n", other.namespace, "--type=merge", "-p", `{"metadata":{"finalizers":null}}`)
			})
			leaving := enterAs(t, "leaving-beside-"+strings.ReplaceAll(x.name, " ", "-"))
			leaving.configMap("leaves", "", "")
			leaving.kubectl(nil, "delete", "namespace", leaving.namespace, "--wait=false") // no controller empties it
			s := enter(t)
			s.garbage("a", "b")
			args := append(x.args, "-n", s.namespace)

			asked := s.typed(s.ctx, person{strings.NewReader("n\n")}, args...).want(t, 5)
			if diff := cmp.Diff(x.want, asked.prompt()); diff != "" {
				t.Errorf("what is asked about (-want +got):\n%s\n%s", diff, asked.stderr)
			}
			for _, name := range []string{"strange", "held", other.namespace, leaving.namespace} {
				if strings.Contains(asked.stdout+asked.stderr, name) {
					t.Errorf("%s has nothing to do with it:\n%s%s", name, asked.stdout, asked.stderr)
				}
			}

			// The same in the document that a script reads.
			var p report.Plan
			shown := s.gc(s.ctx, append(args, "--dry-run", "-o", "json")...).want(t, 0)
			if err := json.Unmarshal([]byte(shown.stdout), &p); err != nil {
				t.Fatal(err)
			}
			for _, e := range p.Effects {
				if e.Object.Namespace != s.namespace || !e.AlreadyHappening && !slices.Contains(x.seen, e.Object.Name) {
					t.Errorf("%s %s in the plan (already happening: %t)", e.Outcome, e.Object.KubectlName(), e.AlreadyHappening)
				}
			}

			// And in the account of what was done.
			if x.args[0] == "delete" {
				args = append(args, "--wait=false")
			}
			r := s.confirmed(append(args, "-o", "json")...)
			for _, namespace := range []string{other.namespace, leaving.namespace} {
				if strings.Contains(r.stdout, namespace) {
					t.Errorf("the account names namespace %s:\n%s", namespace, r.stdout)
				}
			}
		})
	}
}
