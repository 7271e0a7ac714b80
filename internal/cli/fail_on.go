package cli

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/kubectl-gc/kubectl-gc/internal/apply"
	"github.com/kubectl-gc/kubectl-gc/internal/cli/command"
	"github.com/kubectl-gc/kubectl-gc/internal/object"
	"github.com/kubectl-gc/kubectl-gc/internal/report"
)

// failOn are the conditions of --fail-on.
type failOn struct {
	conditions []string
	outcomes   []report.Outcome
	kinds      []string
	contested  bool
	// broken are the times of breakages that count.
	broken   []report.BreakageTime
	data     bool
	count    int
	hasCount bool
}

const failOnUsage = "Exit with 3 when the plan has one of these: an outcome (blocked, unknown, orphaned, …; unknown includes what may hang), depends-on-timing, data (of volumes or outside of the cluster, which is deleted or may be), kind=KIND among what is deleted, count=N or more deleted objects, breaks or breaks:now for objects that stay and stop working."

// parse parses the conditions.
func (f *failOn) parse() error {
	for _, c := range f.conditions {
		key, value, hasValue := strings.Cut(c, "=")
		switch {
		case key == "kind" && value != "":
			f.kinds = append(f.kinds, strings.ToLower(value))
		case key == "count":
			n, err := strconv.Atoi(value)
			if err != nil || n < 1 {
				return fmt.Errorf("--fail-on=%s: count needs a number of 1 or more", c)
			}
			f.count, f.hasCount = n, true
		case key == "breaks" && !hasValue:
			f.broken = report.BreakageTimes()
		case strings.HasPrefix(key, "breaks:") && !hasValue && slices.Contains(report.BreakageTimes(), report.BreakageTime(key[len("breaks:"):])):
			f.broken = append(f.broken, report.BreakageTime(key[len("breaks:"):]))
		case key == "depends-on-timing" && !hasValue:
			f.contested = true
		case key == "data" && !hasValue:
			f.data = true
		default:
			all := report.Outcomes()
			i := slices.IndexFunc(all, func(o report.Outcome) bool { return strings.EqualFold(string(o), key) })
			if i < 0 || hasValue {
				return fmt.Errorf("--fail-on=%s: must be an outcome, depends-on-timing, data, kind=KIND, count=N, breaks or breaks:now", c)
			}
			f.outcomes = append(f.outcomes, all[i])
		}
	}
	return nil
}

// verdict returns an error if a plan meets a condition.
func (f *failOn) verdict(p *report.Plan) error {
	if met := f.match(p); len(met) > 0 {
		return &command.Exit{Code: command.Findings, Message: "--fail-on: " + strings.Join(met, ", ")}
	}
	return nil
}

// match returns the conditions that a plan meets. Kinds and counts include all consequences:
// deletions at once and those after finalizers are removed.
func (f *failOn) match(p *report.Plan) []string {
	var met []string
	counts := map[report.Outcome]int{}
	kinds := map[string]int{}
	contested, mayHang := 0, p.MayHang()
	for i := range p.Effects {
		e := &p.Effects[i]
		if p.IsUnrelated(e) {
			continue
		}
		counts[e.Outcome]++
		if mayHang[e.Object] != nil { // blocked, unless the unknown controller runs
			counts[report.Unknown]++
		}
		if e.DependsOnTiming {
			contested++
		}
	}
	deletes := 0
	for r := range apply.DeletedObjects(p) {
		deletes++
		kinds[r.Kind]++
	}
	for _, o := range f.outcomes {
		if counts[o] > 0 {
			met = append(met, fmt.Sprintf("%d %s", counts[o], strings.ToLower(string(o))))
		}
	}
	for _, k := range f.kinds {
		n := 0
		for kind, of := range kinds {
			if strings.EqualFold(kind, k) {
				n += of
			}
		}
		if n > 0 {
			met = append(met, fmt.Sprintf("%d of kind %s deleted", n, k))
		}
	}
	breaks := object.Count(p.Broken, func(b report.Breakage) bool { return slices.Contains(f.broken, b.When) })
	if breaks > 0 {
		met = append(met, fmt.Sprintf("%d break", breaks))
	}
	if f.contested && contested > 0 {
		met = append(met, fmt.Sprintf("%d depend on timing", contested))
	}
	if n := lostData(p); f.data && n > 0 {
		met = append(met, fmt.Sprintf("%d with data that is or may be deleted", n))
	}
	if f.hasCount && deletes >= f.count {
		met = append(met, fmt.Sprintf("%d deleted, the limit is %d", deletes, f.count))
	}
	return met
}

// lostData returns the number of objects with data in volumes, or outside of the cluster, that is
// deleted or may be.
func lostData(p *report.Plan) int {
	n := object.Count(p.Storage, func(s report.Storage) bool { return s.Outcome != report.Kept })
	n += object.Count(p.Outside, func(o report.Outside) bool { return o.LosesData() })
	return n
}
