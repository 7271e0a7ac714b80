package draw

import (
	"bufio"
	"cmp"
	"io"
	"strconv"
	"strings"

	"github.com/kubectl-gc/kubectl-gc/internal/object"
	"github.com/kubectl-gc/kubectl-gc/internal/render"
	"github.com/kubectl-gc/kubectl-gc/internal/report"
)

// WriteMermaid writes the scene as a flowchart.
func WriteMermaid(out io.Writer, s *Scene) error {
	w := bufio.NewWriter(out)
	w.WriteString("%% " + escapeMermaid(s.Title) + "\nflowchart LR\n")
	next := 0
	for i := range s.Areas {
		w.WriteString("  subgraph n" + strconv.Itoa(i) + `["` + cmp.Or(s.Areas[i].words(), "namespace "+escapeMermaid(s.Areas[i].Namespace)) + "\"]\n")
		for ; next < len(s.Boxes) && s.Boxes[next].Area == i; next++ {
			w.WriteString("    " + vertex(next, &s.Boxes[next]) + "\n")
		}
		w.WriteString("  end\n")
	}
	for i := range s.Arrows {
		w.WriteString("  " + edge(&s.Arrows[i]) + "\n")
	}
	notes := make([]string, 0, 1+len(s.Notes))
	if s.Grouped != "" {
		notes = append(notes, escapeMermaid(s.Grouped))
	}
	notes = append(notes, object.Mapped(s.Notes, escapeMermaid)...)
	if len(notes) > 0 {
		w.WriteString("  notes[\"" + strings.Join(notes, "<br>") + "\"]:::notes\n  classDef notes fill:none,stroke:none\n")
	}
	for _, e := range s.Legend {
		w.WriteString("  " + classDef(e.Look) + "\n")
	}
	return w.Flush()
}

// vertex returns a box, doubly framed if it is a target.
func vertex(i int, b *Box) string {
	lines := []string{escapeMermaid(b.Kind), "<b>" + escapeMermaid(b.Name) + "</b>"}
	if word := appearanceOf(b.Look).Word; word != "" {
		lines = append(lines, word)
	}
	if b.Note != "" {
		lines = append(lines, escapeMermaid(b.Note))
	}
	label := `"` + strings.Join(lines, "<br>") + `"`
	if b.Target {
		label = "[" + label + "]"
	}
	return "b" + strconv.Itoa(i) + "[" + label + "]:::" + class(b.Look)
}

// edge returns an arrow: thick if it blocks, dotted for owners that are no controllers, with a word
// if it is unusual.
func edge(a *Arrow) string {
	line := "-.->"
	switch {
	case a.Blocks:
		line = "==>"
	case a.Controller:
		line = "-->"
	}
	if word := wordOf(a); word != "" {
		line += "|" + word + "|"
	}
	return "b" + strconv.Itoa(a.Owner) + " " + line + " b" + strconv.Itoa(a.Dependent)
}

func wordOf(a *Arrow) string {
	switch {
	case a.Removed:
		return "removed"
	case a.Class == report.Dangling:
		return "dangling"
	case a.Class == report.Waiting:
		return "waiting"
	case a.Class == report.UnknownClass:
		return "unknown"
	case a.Use != "":
		return escapeMermaid(a.Use)
	}
	return ""
}

// dark is the colour of text: boxes are light in every theme.
const dark = "#1f2328"

func classDef(l Look) string {
	a := appearanceOf(l)
	text := "classDef " + string(a.Look) + " fill:" + a.Fill.Light + ",stroke:" + a.Ink.Light + ",color:" + dark
	if a.Dash != "" {
		text += ",stroke-dasharray:" + a.Dash
	}
	return text
}

// escapeMermaid makes untrusted text safe for Mermaid. All but letters, digits and a few signs
// become entities, which Mermaid writes as #35;.
func escapeMermaid(raw string) string {
	var b strings.Builder
	for _, r := range render.Escape(raw) {
		if r >= 0x80 || strings.ContainsRune(harmless, r) {
			b.WriteRune(r)
		} else {
			b.WriteString("#" + strconv.Itoa(int(r)) + ";")
		}
	}
	return b.String()
}

// harmless are the ASCII characters without a meaning in the language.
const harmless = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789 .,-/"
