package command

import (
	"bytes"
	"context"
	"io"
	"slices"

	"github.com/spf13/cobra"

	"github.com/kubectl-gc/kubectl-gc/internal/diagnose"
	"github.com/kubectl-gc/kubectl-gc/internal/draw"
	"github.com/kubectl-gc/kubectl-gc/internal/object"
	"github.com/kubectl-gc/kubectl-gc/internal/render"
	"github.com/kubectl-gc/kubectl-gc/internal/report"
	"github.com/kubectl-gc/kubectl-gc/internal/snapshot"
)

// DrawnFormats are the picture formats.
var DrawnFormats = []string{"svg", "mermaid", "html"}

// Drawing builds the picture of a document.
type Drawing func(draw.Options) (*draw.Document, error)

// Drawn returns the picture formats of a drawing.
func Drawn(drawing Drawing) Formats {
	still := func(write func(io.Writer, *draw.Scene) error) Writer {
		return func(out io.Writer, _ render.Style) error {
			d, err := drawing(draw.Options{Fold: true, Most: draw.MaxUngrouped})
			if err != nil {
				return err
			}
			return write(out, d.Scene)
		}
	}
	return Formats{"svg": still(draw.WriteSVG), "mermaid": still(draw.WriteMermaid), "html": drawing.page}
}

// page writes an HTML page. It includes a still picture if that is small enough to be readable.
func (d Drawing) page(out io.Writer, _ render.Style) error {
	document, err := d(draw.Options{Page: true})
	if err != nil {
		return err
	}
	var still bytes.Buffer
	if len(document.Scene.Boxes) <= draw.LargestStill {
		if err := draw.WriteSVG(&still, document.Scene); err != nil {
			return err
		}
	}
	document.Still = still.Bytes()
	return draw.WriteHTML(out, *document)
}

// GraphDrawing draws a graph.
func GraphDrawing(doc *report.Graph) Drawing {
	return func(o draw.Options) (*draw.Document, error) {
		return &draw.Document{Scene: draw.OfGraph(doc, o), Graph: doc}, nil
	}
}

// planDrawing draws the objects that a plan affects.
func planDrawing(ctx context.Context, snap *snapshot.Snapshot, p *report.Plan) Drawing {
	return drawingOf(ctx, snap, draw.Document{Plan: p}, p, draw.Affected, draw.OfPlan)
}

// ExplanationDrawing draws the objects of an explanation.
func ExplanationDrawing(ctx context.Context, snap *snapshot.Snapshot, e *report.Explanation) Drawing {
	return drawingOf(ctx, snap, draw.Document{Explanation: e}, e, draw.Concerned, draw.OfExplanation)
}

// drawingOf draws a report with the objects that it mentions and their owners.
func drawingOf[T any](ctx context.Context, snap *snapshot.Snapshot, d draw.Document, doc T, about func(T) []object.Ref, scene func(T, *report.Graph, draw.Options) *draw.Scene) Drawing {
	return func(o draw.Options) (*draw.Document, error) {
		var err error
		if d.Graph, err = diagnose.Graph(ctx, snap, diagnose.GraphOptions{Among: about(doc)}); err != nil {
			return nil, err
		}
		d.Scene = scene(doc, d.Graph, o)
		return &d, nil
	}
}

// Timeline returns the HTML format of a list of losses.
func Timeline(d *report.Lost) Formats {
	return Formats{"html": func(out io.Writer, s render.Style) error { return draw.WriteTimeline(out, d, s.Connection) }}
}

// As binds a write function to its document.
func As[T any](write func(io.Writer, render.Style, T) error, document T) Writer {
	return func(out io.Writer, s render.Style) error { return write(out, s, document) }
}

// Markdown returns the Markdown format.
func Markdown[T any](write func(io.Writer, render.Style, T) error, document T) Formats {
	return Formats{"markdown": As(write, document)}
}

// PlanFormats are the formats of a plan, MarkdownFormat that of a list of findings.
var (
	PlanFormats    = append(slices.Clip(DrawnFormats), "markdown")
	MarkdownFormat = []string{"markdown"}
)

// ShowPlan prints a plan or its steps in the selected format.
func (o *Output) ShowPlan(c *cobra.Command, out io.Writer, snap *snapshot.Snapshot, p *report.Plan, steps bool) error {
	text := As(render.PlanTable, p)
	if steps {
		text = As(render.PlanSteps, p)
	}
	return o.Show(c, out, p, text, Drawn(planDrawing(c.Context(), snap, p)), Markdown(render.PlanMarkdown, p))
}

// CheckWrites refuses a plan format for a command that executes its plan: the report of a run has
// no such format.
func (o *Output) CheckWrites(c *cobra.Command, writes bool) error {
	if writes && slices.Contains(PlanFormats, o.Format) {
		return Errorf(c, "--output=%s shows a plan and what is done is none: give --dry-run, or another format", o.Format)
	}
	return nil
}
