package snapshot

import (
	"cmp"
	"slices"
	"strings"

	"github.com/kubectl-gc/kubectl-gc/internal/object"
	"github.com/kubectl-gc/kubectl-gc/internal/reason"
)

// Gap is one resource that a snapshot doesn't cover. Namespace is empty if it is not covered
// anywhere, or only in namespaces that were listed one by one because listing all of them failed.
type Gap struct {
	APIVersion string
	Resource   string
	Namespace  string
	// Why is a code of reason.Gap, a colon and a text for people.
	Why string
}

// Reason returns the code of Why.
func (g Gap) Reason() reason.Code {
	code, _, _ := strings.Cut(g.Why, ":")
	return reason.Code(code)
}

// compareGaps orders gaps like all lists: by apiVersion, resource and namespace.
func compareGaps(a, b Gap) int {
	return cmp.Or(
		strings.Compare(a.APIVersion, b.APIVersion),
		strings.Compare(a.Resource, b.Resource),
		strings.Compare(a.Namespace, b.Namespace),
		strings.Compare(a.Why, b.Why),
	)
}

func why(r reason.Code, text string) string {
	if text == "" {
		return string(r)
	}
	return string(r) + ": " + text
}

// reasonOf distinguishes a refusal from other failures by the API server's words.
func reasonOf(message string) reason.Code {
	for _, word := range []string{"forbidden", "Forbidden", "Unauthorized", "unauthorized"} {
		if strings.Contains(message, word) {
			return reason.Forbidden
		}
	}
	return reason.ListFailed
}

// gapsOf returns the gaps of the coverage. A monitored resource has one gap if it is not covered at
// all. Otherwise it has one for each known namespace that is not covered, or one for all of them if
// listing them at once failed. Resources that the collector doesn't watch have no gaps, but Covers
// still returns false for them.
func (s *Snapshot) gapsOf() []Gap {
	if s.coverage.everything {
		return nil
	}
	known := s.knownNamespaces()
	var gaps []Gap
	for _, r := range s.Resources.All() {
		if !s.Resources.Monitored(r) {
			continue
		}
		gr := r.GroupResource()
		if stored := object.Storage(gr); stored != gr {
			if _, ok := s.Resources.Preferred(stored); ok {
				continue
			}
		}
		if s.coverage.covers(gr, "") {
			continue
		}
		open := Gap{APIVersion: r.APIVersion(), Resource: r.Name}
		if !r.Namespaced || !s.coverage.touched(gr) && !s.coverage.singly(gr) {
			open.Why = s.coverage.why(gr, "")
			gaps = append(gaps, open)
			continue
		}
		alone := s.coverage.alone(gr)
		if alone {
			open.Why = s.coverage.why(gr, "")
			gaps = append(gaps, open)
		}
		for _, ns := range known {
			if !s.coverage.covers(gr, ns) && (!alone || s.coverage.failed(gr, ns)) {
				open.Namespace, open.Why = ns, s.coverage.why(gr, ns)
				gaps = append(gaps, open)
			}
		}
	}
	sortGaps(gaps)
	return gaps
}

func sortGaps(gaps []Gap) { slices.SortFunc(gaps, compareGaps) }

// knownNamespaces returns the namespaces that appear anywhere in the snapshot, sorted.
func (s *Snapshot) knownNamespaces() []string {
	set := map[string]struct{}{}
	for gr := range s.coverage.places {
		for ns := range s.coverage.places[gr].namespaces {
			set[ns] = struct{}{}
		}
		for ns := range s.coverage.places[gr].failures {
			set[ns] = struct{}{}
		}
	}
	last := ""
	for _, o := range s.Objects {
		if o.Is(object.Namespace) {
			set[o.Name] = struct{}{}
		}
		if o.Namespace != last {
			set[o.Namespace] = struct{}{}
			last = o.Namespace
		}
	}
	delete(set, "")
	delete(set, others)
	names := make([]string, 0, len(set))
	for ns := range set {
		names = append(names, ns)
	}
	slices.Sort(names)
	return names
}
