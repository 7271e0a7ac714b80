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

	"github.com/google/go-cmp/cmp"

	"github.com/kubectl-gc/kubectl-gc/internal/report"
)

var update = flag.Bool("update", false, "write docs/stuck-situations.md and testdata/answers.md")

const (
	// page is what readers see of the answers, answers has all of them.
	page    = "../../../docs/stuck-situations.md"
	answers = "testdata/answers.md"
)

// head is the beginning of the page.
const head = `# Situations that are stuck

What ` + "`kubectl gc stuck`" + ` finds in situations that a test builds on a real control plane. The codes are
explained in [reasons.md](reasons.md), the verdicts in [stuck.md](stuck.md#the-verdict); the whole
[answers](../test/controlplane/stuck/testdata/answers.md), with evidence and commands, are what the
test compares. Written by ` + "`go test ./stuck -update`" + ` in test/controlplane.
`

// tell logs the table of all situations, and compares the page and the answers with
// what was answered.
func (s *stage) tell(all []*situation) {
	s.Helper()
	var log, summary, details strings.Builder
	table := tabwriter.NewWriter(&log, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, "SITUATION\tCODE\tVERDICT\tEVIDENCE\tTIME")
	details.WriteString("# What stuck answers\n")
	about := ""
	for _, one := range all {
		if one.About != about {
			about = one.About
			title := strings.ToUpper(about[:1]) + about[1:]
			fmt.Fprintf(&summary, "\n## %s\n\n| situation | code | verdict |\n|---|---|---|\n", title)
			fmt.Fprintf(&details, "\n## %s\n", title)
		}
		tells := one.Tells
		if one.Young {
			tells += " It has only just begun."
		}
		fmt.Fprintf(&details, "\n### %s\n\n%s\n", one.Name, tells)
		if one.answer == nil {
			fmt.Fprintln(table, one.Name+"\tnothing is stuck\t\t\t")
			fmt.Fprintf(&summary, "| %s | nothing is stuck | |\n", tells)
			fmt.Fprintln(&details, "\nNothing is stuck.")
			continue
		}
		var codes, verdicts []string
		for i := range one.answer.Findings {
			f := &one.answer.Findings[i]
			var proof []string
			for _, p := range f.Proof {
				proof = append(proof, p.Reason)
			}
			fmt.Fprintf(table, "%s\t%s\t%s\t%s\t%s\n", one.Name, f.Code, f.Verdict, strings.Join(slices.Compact(proof), " "), one.answer.took.Round(time.Millisecond))
			codes, verdicts = append(codes, "`"+f.Code+"`"), append(verdicts, string(f.Verdict))
			one.describe(&details, f)
		}
		fmt.Fprintf(&summary, "| %s | %s | %s |\n", tells, strings.Join(slices.Compact(codes), ", "), strings.Join(slices.Compact(verdicts), ", "))
	}
	if err := table.Flush(); err != nil {
		s.Fatal(err)
	}
	s.Logf("%d situations\n%s", len(all), log.String())
	if *only != "" {
		return
	}
	s.written(page, head+summary.String())
	s.written(answers, details.String())
}

// written compares a file with what was answered, or writes it.
func (s *stage) written(file, text string) {
	s.Helper()
	if *update {
		if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
			s.Fatal(err)
		}
		return
	}
	have, err := os.ReadFile(file)
	if err != nil {
		s.Fatal(err)
	}
	if d := cmp.Diff(strings.Split(string(have), "\n"), strings.Split(text, "\n")); d != "" {
		s.Errorf("%s is not what was answered; write it with -update:\n%s", file, d)
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
