package render

import (
	"strings"

	"github.com/kubectl-gc/kubectl-gc/internal/reason"
	"github.com/kubectl-gc/kubectl-gc/internal/release"
	"github.com/kubectl-gc/kubectl-gc/internal/report"
)

// releaseNotes returns relevant differences between the release of the cluster and the newest one,
// a warning if that release was not tested, and in wide output the rules that were applied.
func releaseNotes(s Style, src report.Source) []string {
	var notes []string
	known := make([]string, len(src.VersionDifferences))
	for i, d := range src.VersionDifferences {
		known[i] = differenceText(s, d)
	}
	other := unmeasured(s, src)
	cluster := "This cluster is " + releaseText(s, src, minorOf)
	switch {
	case len(known) > 0:
		notes = append(notes, cluster+": "+strings.Join(known, "; ")+"."+other)
	case other != "":
		notes = append(notes, cluster+"."+other)
	}
	if s.all() && src.Rules != "" {
		notes = append(notes, clusterText(s, src)+"; rules of "+s.text(src.Rules)+".")
	}
	return notes
}

// differenceText returns a difference of a release. If it is not certain that the cluster has it,
// the release that ended it is named.
func differenceText(s Style, d report.VersionDifference) string {
	text := s.text(d.Reason)
	if m := reason.Release.Of(reason.Code(d.Reason)); m != nil {
		text = m.Short
	}
	if d.Simulated {
		return text
	}
	return "before " + s.text(d.Before) + " " + text
}

// unmeasured returns a warning if the release was not tested; empty if it was, or is unknown.
func unmeasured(s Style, src report.Source) string {
	if src.KubernetesVersion == "" || src.Rules == "" || minorOf(src.KubernetesVersion) == src.Rules {
		return ""
	}
	end := "newest"
	if src.Rules == release.Oldest.String() {
		end = "oldest"
	}
	return " Answers follow the rules of " + s.text(src.Rules) + ", the " + end + " release this program is tested with; what else differs is not known."
}

// clusterText returns "Cluster v1.27.1 (from a file of the dump)".
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

// releaseText returns the known version of a cluster: v1.27, or v1.27 to v1.30; empty if nothing is
// known.
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

// minorOf returns v1.27 for v1.27.1+k3s1.
func minorOf(version string) string {
	major, rest, _ := strings.Cut(version, ".")
	minor, _, found := strings.Cut(rest, ".")
	if !found {
		return version
	}
	return major + "." + minor
}
