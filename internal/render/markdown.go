package render

import (
	"bufio"
	"bytes"
	"io"
	"strings"
)

// markdown writes text for a pull request, in the dialect of GitHub and GitLab. Untrusted text must
// pass Style.text or Style.name before.
type markdown struct {
	*bufio.Writer
	style Style
	err   error
}

func newMarkdown(out io.Writer, s Style) *markdown {
	return &markdown{Writer: bufio.NewWriter(out), style: Style{Wide: s.Wide, ASCII: s.ASCII, manner: marked}}
}

func (m *markdown) done() error {
	if m.err != nil {
		return m.err
	}
	return m.Flush()
}

// heading begins the document.
func (m *markdown) heading(text string) { m.WriteString("### " + text + "\n") }

// paragraph writes a paragraph of one line.
func (m *markdown) paragraph(text string) { m.WriteString("\n" + text + "\n") }

// list writes one point for each line.
func (m *markdown) list(points []string) {
	if len(points) > 0 {
		m.WriteString("\n")
	}
	for _, p := range points {
		m.WriteString("- " + p + "\n")
	}
}

// table writes a table of escaped cells.
func (m *markdown) table(t *table) {
	if len(t.rows) == 0 {
		return
	}
	m.WriteString("\n|")
	for _, h := range t.headers {
		m.WriteString(" " + sentenceCase(strings.ToLower(h)) + " |")
	}
	m.WriteString("\n|" + strings.Repeat(" --- |", len(t.headers)) + "\n")
	for _, r := range t.rows {
		m.WriteString("|")
		for _, cell := range r.cells {
			m.WriteString(" " + cell + " |")
		}
		m.WriteString("\n")
	}
}

// details writes folded content below a summary.
func (m *markdown) details(summary string, write func()) {
	m.WriteString("\n<details>\n<summary>" + summary + "</summary>\n")
	write()
	m.WriteString("\n</details>\n")
}

// text writes the terminal output of a document, folded.
func (m *markdown) text(summary string, write func(io.Writer, Style) error) {
	var b bytes.Buffer
	if err := write(&b, Style{Wide: m.style.Wide, ASCII: m.style.ASCII}); err != nil {
		m.err = err
	}
	m.details(summary, func() {
		fence := fenceOf(b.String())
		m.WriteString("\n" + fence + "text\n" + b.String() + fence + "\n")
	})
}

// fenceOf returns a fence longer than any row of backticks in the text, which therefore can't end
// it.
func fenceOf(text string) string {
	longest, run := 2, 0
	for _, c := range []byte(text) {
		if c != '`' {
			run = 0
			continue
		}
		run++
		longest = max(longest, run)
	}
	return strings.Repeat("`", longest+1)
}
