package render

import (
	"bytes"
	"io"
	"regexp"
	"strings"
	"testing"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/extension"
	"github.com/yuin/goldmark/renderer/html"
)

// hostileWords have a meaning in Markdown or for a code host.
var hostileWords = []string{
	"@admins", "#123", "org/repo#7", "GH-12", "!45", "~label", "$9", "%3", "deadbeefcafe1234",
	"[x](javascript:alert(1))", "![x](//h/i.png)", "<https://h>", "https://h/p", "www.h.example", "a@h.example",
	"`code`", "``", "a|b", `a\|b`, `a\`, "|", "**bold**", "_it_", "~~s~~", "<script>alert(1)</script>", "</summary>", "</details>",
	"1. one", "- point", "# head", "> quote", "```", "---", "===", "[^1]", ":smile:", "[ ] todo", "&lt;b&gt;", "&#64;me", "mailto:a", "\\@x",
	"http:", "word, (another)", "apps/v1", "--flag=x", "  two  blanks ",
}

// tag matches any HTML tag with its attributes.
var tag = regexp.MustCompile(`<(/?)([a-zA-Z0-9]+)([^>]*)>`)

// ours are the tags that our own Markdown generates, with their attributes.
var ours = map[string]string{
	"h3": "", "p": "", "ul": "", "li": "", "strong": "", "code": "", "pre": "", "table": "", "thead": "", "tbody": "",
	"tr": "", "th": "", "td": "", "details": "", "summary": "",
}

// FuzzMarkdown: whatever the names and texts are, a host renders headings, lists, tables and code
// only. Each row has as many cells as the first, and outside of code there is no text that a host
// would link.
func FuzzMarkdown(f *testing.F) {
	for i, s := range hostileWords {
		f.Add(s, hostileWords[(i+7)%len(hostileWords)])
	}
	for i, s := range hostileNames {
		f.Add(s, hostileWords[i%len(hostileWords)])
	}
	host := goldmark.New(goldmark.WithExtensions(extension.GFM), goldmark.WithRendererOptions(html.WithUnsafe()))
	f.Fuzz(func(t *testing.T, a, b string) {
		h := hostileDocuments(a, b)
		for name, write := range map[string]func(io.Writer, Style) error{
			"plan":        func(w io.Writer, s Style) error { return PlanMarkdown(w, s, h.plan) },
			"namespace":   func(w io.Writer, s Style) error { return PlanMarkdown(w, s, h.namespace) },
			"explanation": func(w io.Writer, s Style) error { return ExplanationMarkdown(w, s, h.explanation) },
			"check":       func(w io.Writer, s Style) error { return DiagnosisMarkdown(w, s, h.diagnosis) },
			"stuck":       func(w io.Writer, s Style) error { return StuckMarkdown(w, s, h.diagnosis) },
			"risk":        func(w io.Writer, s Style) error { return RiskMarkdown(w, s, h.risk) },
		} {
			for _, s := range []Style{{}, {Wide: true, ASCII: true}} {
				var source, page bytes.Buffer
				if err := write(&source, s); err != nil {
					t.Fatal(err)
				}
				if err := host.Convert(source.Bytes(), &page); err != nil {
					t.Fatal(err)
				}
				if why := notInert(page.String()); why != "" {
					t.Errorf("%s: %s in:\n%s\nof:\n%s", name, why, page.String(), source.String())
				}
			}
		}
	})
}

// code matches what hosts do not interpret.
var code = regexp.MustCompile(`(?s)<code[^>]*>.*?</code>`)

// linked matches text that hosts turn into links.
var linked = regexp.MustCompile(`@[\w-]|#\d|[!%$~]\w|(?i)\bgh-\d|://|www\.|:\w+:|\b[0-9a-fA-F]{7,}\b`)

func notInert(page string) string {
	for _, m := range tag.FindAllStringSubmatch(page, -1) {
		attributes, known := ours[m[2]]
		if m[2] == "code" && m[3] == ` class="language-text"` {
			continue
		}
		if !known || strings.TrimSpace(m[3]) != attributes {
			return "the tag " + m[0]
		}
	}
	for _, once := range []string{"<h3>", "<details>", "<summary>"} {
		if strings.Count(page, once) != strings.Count(page, strings.Replace(once, "<", "</", 1)) {
			return once + " that does not end"
		}
	}
	if strings.Count(page, "<h3>") != 1 {
		return "not one heading"
	}
	text := tag.ReplaceAllString(code.ReplaceAllString(page, ""), " ")
	if found := linked.FindString(text); found != "" {
		return "outside of code " + found
	}
	return unevenRow(page)
}

// unevenRow finds a table with a row that has fewer cells than its header. Hosts drop additional
// cells; TestInertCells checks that there are none.
func unevenRow(page string) string {
	for _, table := range regexp.MustCompile(`(?s)<table>.*?</table>`).FindAllString(page, -1) {
		columns := strings.Count(table, "<th>")
		for _, row := range strings.Split(table, "<tr>")[2:] {
			if strings.Count(row, "<td>") != columns {
				return "a row with other cells than its header: " + row
			}
		}
	}
	return ""
}

// TestInertCells: a name in a table cell is shown unchanged.
func TestInertCells(t *testing.T) {
	host := goldmark.New(goldmark.WithExtensions(extension.GFM), goldmark.WithRendererOptions(html.WithUnsafe()))
	for _, raw := range append(hostileWords, hostileNames...) {
		if raw == "" {
			continue
		}
		var b, page bytes.Buffer
		m := newMarkdown(&b, Style{})
		m.table(&table{headers: []string{"A", "B", "C"}, rows: []row{{cells: []string{m.style.objectName(raw), m.style.text(raw), "after"}}}})
		if err := m.done(); err != nil {
			t.Fatal(err)
		}
		if err := host.Convert(b.Bytes(), &page); err != nil {
			t.Fatal(err)
		}
		want := strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;", `"`, "&quot;").Replace(Escape(raw))
		got := strings.NewReplacer("&#39;", "'").Replace(page.String())
		if !strings.Contains(got, "<td><code>"+want+"</code></td>") || !strings.Contains(got, "<td>after</td>") {
			t.Errorf("%q: %s\nwant %s\nin %s", raw, b.String(), want, got)
		}
		cells := strings.Split(got, "<td>")
		words := strings.Join(strings.Fields(tag.ReplaceAllString(cells[len(cells)-2], "")), " ")
		if words != strings.Join(strings.Fields(want), " ") {
			t.Errorf("%q: the words %q, want %q", raw, words, want)
		}
	}
}
