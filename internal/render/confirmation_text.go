package render

import (
	"bufio"
	"io"
	"slices"
	"strconv"

	"github.com/kubectl-gc/kubectl-gc/internal/report"
)

// manyData is how many objects of the block of data are named.
const manyData = 20

// ConfirmationText is what a person reads before saying yes: the cluster and the
// user, what becomes of how many objects, and the data among them.
func ConfirmationText(out io.Writer, s Style, c *report.Confirmation) error {
	w := &writer{Writer: bufio.NewWriter(out), style: s}
	w.prose(s.text(c.Verb)+" in "+s.paint(bold, s.text(c.Name())), 2)
	if c.Context != "" {
		w.prose("server:  "+s.text(c.Server), 2)
	}
	w.prose("cluster: "+orUntold(s.text(string(c.ClusterUID))), 2)
	w.prose("user:    "+orUntold(s.text(c.User)), 2)
	if len(c.Counts) > 0 {
		w.line()
		w.table(confirmationCounts(s, c.Counts))
	}
	if len(c.Data) > 0 {
		w.line()
		w.prose(s.paint(red, "Data")+" is among what is deleted:", 2)
		for i, r := range c.Data {
			if i == manyData {
				w.prose("and "+strconv.Itoa(len(c.Data)-i)+" more", 2)
				break
			}
			w.prose("  "+s.place(r), 4)
		}
	}
	for _, note := range c.Notes {
		w.line()
		w.prose(s.text(note), 2)
	}
	return w.done()
}

func orUntold(text string) string {
	if text == "" {
		return "the server does not tell"
	}
	return text
}

// confirmationCounts counts by kind and outcome over all namespaces.
func confirmationCounts(s Style, counts []report.Count) *table {
	var sums []report.Count
	for _, c := range counts {
		c.Namespace = ""
		same := func(x report.Count) bool {
			return x.APIVersion == c.APIVersion && x.Kind == c.Kind && x.Outcome == c.Outcome
		}
		if i := slices.IndexFunc(sums, same); i >= 0 {
			sums[i].Count += c.Count
		} else {
			sums = append(sums, c)
		}
	}
	t := &table{headers: []string{"KIND", "OUTCOME", "COUNT"}}
	for _, c := range sums {
		t.add(outcomeColour(c.Outcome), s.text(report.KubectlKind(c.APIVersion, c.Kind)),
			s.text(lower(string(c.Outcome))), strconv.Itoa(c.Count))
	}
	return t
}
