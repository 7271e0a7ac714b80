package render

import (
	"strings"

	"github.com/kubectl-gc/kubectl-gc/internal/reason"
	"github.com/kubectl-gc/kubectl-gc/internal/report"
)

// releaseNotes say what the release of the cluster does otherwise than the rules, where this
// answer has to do with it, and in a wide text which releases the two are.
func releaseNotes(s Style, src report.Source) []string {
	var notes []string
	if len(src.VersionDifferences) > 0 {
		known := make([]string, len(src.VersionDifferences))
		for i, d := range src.VersionDifferences {
			known[i] = "before " + s.text(d.Before) + " "
			if m := reason.Release.Of(reason.Code(d.Reason)); m != nil {
				known[i] += m.Short
			} else {
				known[i] += s.text(d.Reason)
			}
		}
		notes = append(notes, "This cluster is "+releaseText(s, src, minorOf)+": "+strings.Join(known, "; ")+".")
	}
	if s.all() {
		notes = append(notes, clusterText(s, src)+"; rules of "+minorOf(report.RulesVersion)+".")
	}
	return notes
}

// clusterText is "Cluster v1.27.1 (from a file of the dump)".
func clusterText(s Style, src report.Source) string {
	version := releaseText(s, src, func(exact string) string { return exact })
	if version == "" {
		return "Version of the cluster not known"
	}
	var from []string
	for _, f := range src.VersionFrom {
		switch f {
		case "File":
			from = append(from, "from a file of the dump")
		case "Kubelets":
			from = append(from, "by its kubelets")
		case "APIs":
			from = append(from, "by the APIs that it serves")
		}
	}
	text := "Cluster " + version
	if len(from) > 0 {
		text += " (" + strings.Join(from, ", ") + ")"
	}
	return text
}

// releaseText is what is known of the version of a cluster: v1.27, or v1.27 to v1.30; empty for
// nothing.
func releaseText(s Style, src report.Source, shorten func(string) string) string {
	least, most := s.text(src.VersionAtLeast), s.text(src.VersionAtMost)
	switch {
	case src.KubernetesVersion != "":
		return s.text(shorten(src.KubernetesVersion))
	case least == most:
		return least
	case most == "":
		return least + " or newer"
	case least == "":
		return most + " or older"
	default:
		return least + " to " + most
	}
}

// minorOf is v1.27 for v1.27.1+k3s1.
func minorOf(version string) string {
	major, rest, _ := strings.Cut(version, ".")
	minor, _, found := strings.Cut(rest, ".")
	if !found {
		return version
	}
	return major + "." + minor
}
