package stuck

import (
	"flag"
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/kubectl-gc/kubectl-gc/internal/report"
)

var update = flag.Bool("update", false, "write docs/stuck-situations.md")

// page is the document about what is answered.
const page = "../../../docs/stuck-situations.md"

// head is the beginning of the page.
const head = `# Situations that are stuck

Each of these is built on a real control plane (etcd, kube-apiserver, kube-controller-manager),
and ` + "`kubectl gc stuck`" + ` is asked about it; the answers below are checked by
` + "`go test ./stuck`" + ` in test/controlplane, and written by it with ` + "`-update`" + `.
Everything has been being deleted for an hour, unless it is said to have only just begun.
`

// tell logs the table of all situations, and compares the page with what was answered.
func (s *stage) tell(all []*situation) {
	s.Helper()
	var log, summary, details strings.Builder
	table := tabwriter.NewWriter(&log, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, "SITUATION\tCODE\tVERDICT\tEVIDENCE\tTIME")
	summary.WriteString("\n| situation | code | verdict | evidence |\n|---|---|---|---|\n")
	about := ""
	for _, one := range all {
		if one.About != about {
			about = one.About
			fmt.Fprintf(&details, "\n## %s\n", strings.ToUpper(about[:1])+about[1:])
		}
		young := ""
		if one.Young {
			young = " It has only just begun."
		}
		fmt.Fprintf(&details, "\n### %s\n\n%s%s\n", one.Name, one.Tells, young)
		if one.answer == nil {
			fmt.Fprintln(table, one.Name+"\tnothing is stuck\t\t\t")
			fmt.Fprintf(&summary, "| [%[1]s](#%[1]s) | nothing is stuck | | |\n", one.Name)
			fmt.Fprintln(&details, "\nNothing is stuck.")
			continue
		}
		for i := range one.answer.Findings {
			f := &one.answer.Findings[i]
			var proof []string
			for _, p := range f.Proof {
				proof = append(proof, p.Reason)
			}
			proof = slices.Compact(proof)
			fmt.Fprintf(table, "%s\t%s\t%s\t%s\t%s\n", one.Name, f.Code, f.Verdict, strings.Join(proof, " "), one.answer.took.Round(time.Millisecond))
			fmt.Fprintf(&summary, "| [%[1]s](#%[1]s) | %s | %s | %s |\n", one.Name, f.Code, f.Verdict, strings.Join(proof, ", "))
			one.describe(&details, f)
		}
	}
	doc := head + summary.String() + details.String()
	if err := table.Flush(); err != nil {
		s.Fatal(err)
	}
	s.Logf("%d situations\n%s", len(all), log.String())
	if *only != "" {
		return
	}
	if *update {
		if err := os.WriteFile(page, []byte(doc), 0o644); err != nil {
			s.Fatal(err)
		}
		return
	}
	have, err := os.ReadFile(page)
	if err != nil || string(have) != doc {
		s.Errorf("docs/stuck-situations.md is not what was answered (%v); write it with -update", err)
	}
}

// describe writes what one finding says.
func (one *situation) describe(doc *strings.Builder, f *report.Finding) {
	var chain []string
	for _, l := range f.Chain {
		chain = append(chain, short(l.Ref))
	}
	fmt.Fprintf(doc, "\n* **%s** (%s)", f.Code, f.Severity)
	if f.Verdict != "" {
		fmt.Fprintf(doc, ", verdict **%s**", f.Verdict)
	}
	fmt.Fprintf(doc, ": %s\n", strings.Join(chain, " → "))
	fmt.Fprintf(doc, "  * %s\n", code(f.Message))
	for _, p := range f.Proof {
		fmt.Fprintf(doc, "  * %s: %s\n", p.Reason, code(p.Message))
	}
	for _, r := range f.Remedies {
		cost := ""
		if r.Cost != "" {
			cost = ", at the cost of: " + code(r.Cost)
		}
		fmt.Fprintf(doc, "  * `%s` %s%s\n", r.Command, code(r.Effect), cost)
	}
}

// stamps are times, which differ from run to run.
// unreached is what the network of this machine says of a service without endpoints.
var unreached = regexp.MustCompile(`(failed to call webhook: Post "[^"]*"): .*`)

var stamps = regexp.MustCompile(`\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ`)

// code keeps text of others from being taken for Markdown, and leaves times out.
func code(text string) string {
	text = stamps.ReplaceAllString(text, "TIME")
	text = unreached.ReplaceAllString(text, "$1: …")
	return strings.NewReplacer("\n", " ", "<", "&lt;", "*", "\\*").Replace(text)
}
