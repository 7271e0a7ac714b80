package draw

import (
	"crypto/sha256"
	_ "embed"
	"encoding/base64"
	"fmt"
	"html/template"
	"io"
	"strings"

	"github.com/kubectl-gc/kubectl-gc/internal/render"
	"github.com/kubectl-gc/kubectl-gc/internal/report"
)

var (
	//go:embed web/dist/app.js
	script string
	//go:embed web/dist/app.css
	style string
	//go:embed page.html
	frame string
)

var pageTemplate = template.Must(template.New("page").Parse(frame))

// Document is the content of a page.
type Document struct {
	// Scene places each object in a box of its own.
	Scene *Scene
	// Graph adds finalizers, and the state of objects before a plan. It may be nil.
	Graph *report.Graph
	// Plan adds its steps and effects; nil for a graph.
	Plan *report.Plan
	// Explanation adds more about one object, and its remedies; nil for a graph and a plan.
	Explanation *report.Explanation
	// Still is the drawing as SVG, for readers without scripts; empty for none.
	Still []byte
}

// LargestStill is the maximum number of boxes of a drawing for readers without scripts.
const LargestStill = 500

// WriteHTML writes a page.
func WriteHTML(w io.Writer, d Document) error {
	data, err := payloadOf(d)
	if err != nil {
		return err
	}
	plain, packed, err := encode(data)
	if err != nil {
		return err
	}
	counts := make([]string, len(d.Scene.Legend))
	for i, e := range d.Scene.Legend {
		counts[i] = fmt.Sprintf("%s: %d", e.Look, e.Count)
	}
	values := struct {
		Policy, Title, Source, Counts string
		Style                         template.CSS
		Script, Data, Packed          template.JS
		Still                         template.URL
	}{
		// Only the embedded script and style are allowed.
		Policy: fmt.Sprintf("default-src 'none'; script-src '%s'; style-src '%s'; img-src data:; base-uri 'none'; form-action 'none'", hash(script), hash(style)),
		Title:  render.Escape(d.Scene.Title), Source: render.Escape(data.Source), Counts: strings.Join(counts, ", "),
		Style: template.CSS(style), Script: template.JS(script), Data: plain, Packed: packed,
	}
	if len(d.Scene.Boxes) <= LargestStill && len(d.Still) > 0 {
		values.Still = template.URL("data:image/svg+xml;base64," + base64.StdEncoding.EncodeToString(d.Still))
	}
	return pageTemplate.Execute(w, values)
}

func hash(text string) string {
	sum := sha256.Sum256([]byte(text))
	return "sha256-" + base64.StdEncoding.EncodeToString(sum[:])
}
