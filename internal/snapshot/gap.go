package snapshot

import (
	"cmp"
	"slices"
	"strings"

	"github.com/kubectl-gc/kubectl-gc/internal/object"
	"github.com/kubectl-gc/kubectl-gc/internal/reason"
)

// Gap is one thing that a snapshot does not cover. Namespace is empty when it is
// not covered anywhere, or only in namespaces that were listed one by one, since all of
// them could not be listed at once.
type Gap struct {
	APIVersion string
	Resource   string
	Namespace  string
	// Why is a code of reason.Gap, a colon and a text for people.
	Why string
}

// Reason is the enumerated part of Why.
func (g Gap) Reason() reason.Code {
	code, _, _ := strings.Cut(g.Why, ":")
	return reason.Code(code)
}

// compareGaps orders gaps as all lists are ordered: apiVersion, resource,
// namespace.
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

// reasonOf tells a refusal from other failures by the words of the API server.
func reasonOf(message string) reason.Code {
	for _, word := range []string{"forbidden", "Forbidden", "Unauthorized", "unauthorized"} {
		if strings.Contains(message, word) {
			return reason.Forbidden
		}
	}
	return reason.ListFailed
}

// gapsOf lists what the coverage leaves open: for each monitored resource one
// gap if nothing of it is covered, else one for each known namespace in which it
// is not, or one for all of them if they could not be listed at once. Resources that the collector does not watch are no gaps; a question
// about one of them still answers "not covered".
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

// knownNamespaces are the namespaces that the snapshot shows in any way, sorted.
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
