package render

import (
	"bufio"
	"bytes"
	"io"
	"regexp"
	"strconv"
	"strings"
	"unicode/utf8"
)

// markdown writes text for a pull request, in the dialect of GitHub and GitLab. Untrusted text must
// pass Style.text or Style.name before.
type markdown struct{ writer }

func newMarkdown(out io.Writer, s Style) *markdown {
	return &markdown{writer{Writer: bufio.NewWriter(out), style: Style{Wide: s.Wide, ASCII: s.ASCII, Connection: s.Connection, format: markdownText}}}
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
	if err := write(&b, Style{Wide: m.style.Wide, ASCII: m.style.ASCII, Connection: m.style.Connection}); err != nil {
		m.err = err
	}
	m.details(summary, func() {
		fence := fenceFor(b.String())
		m.WriteString("\n" + fence + "text\n" + b.String() + fence + "\n")
	})
}

// fenceFor returns a fence longer than any row of backticks in the text, which therefore can't end
// it.
func fenceFor(text string) string {
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

// inertWords makes escaped text safe for Markdown: words that could mean something to Markdown or
// the code host become code. Code contains no mark-up, links, mentions or issue numbers.
func inertWords(shown string) string {
	if arePlainWords(shown) {
		return shown
	}
	words := strings.Split(shown, " ")
	for i, word := range words {
		if word != "" && !isPlainWord(word) {
			words[i] = inertName(word)
		}
	}
	// Blanks at the ends and repeated blanks are not shown; losing them has no effect.
	return strings.Join(strings.Fields(strings.Join(words, " ")), " ")
}

func arePlainWords(shown string) bool {
	if strings.HasPrefix(shown, " ") || strings.HasSuffix(shown, " ") || strings.Contains(shown, "  ") {
		return false
	}
	for word := range strings.SplitSeq(shown, " ") {
		if word != "" && !isPlainWord(word) {
			return false
		}
	}
	return true
}

// isPlainWord reports whether a word has no special meaning: it has only letters, digits and
// punctuation, and does not look like an address, a list number, an emoji, a commit or an issue
// key.
func isPlainWord(word string) bool {
	for _, r := range word {
		if r < utf8.RuneSelf && !isLetter(r) && !isDigit(r) && !strings.ContainsRune(`.,;:'"()/-?=`, r) {
			return false
		}
	}
	low := strings.ToLower(word)
	if strings.Contains(low, "://") || strings.Contains(low, "www.") || strings.Contains(low, "mailto:") || strings.Count(word, ":") > 1 {
		return false
	}
	bare := strings.Trim(word, `.,;:'"()/-?=`)
	return bare != "" && !linkedWord.MatchString(bare) && !listNumber.MatchString(word)
}

func isLetter(r rune) bool { return 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' }
func isDigit(r rune) bool  { return '0' <= r && r <= '9' }

var (
	// linkedWord matches the hash of a commit, and the key of an issue such as GH-12.
	linkedWord = regexp.MustCompile(`^[0-9a-fA-F]{7,}$|^[A-Zgh]*-[0-9]`)
	// listNumber matches a word that would start a list at the beginning of a line.
	listNumber = regexp.MustCompile(`^[0-9]+[.)]$`)
)

// inertName returns an escaped name as code. If it contains signs that end code or a table cell,
// all signs become entities.
func inertName(shown string) string {
	if shown == "" {
		return ""
	}
	if !strings.ContainsAny(shown, "`|\\") && shown == strings.Trim(shown, " ") {
		return "`" + shown + "`"
	}
	var b strings.Builder
	b.WriteString("<code>")
	for _, r := range shown {
		if r >= utf8.RuneSelf || isLetter(r) || isDigit(r) {
			b.WriteRune(r)
		} else {
			b.WriteString("&#" + strconv.Itoa(int(r)) + ";")
		}
	}
	b.WriteString("</code>")
	return b.String()
}
