package cli

import (
	"bytes"
	"context"
	"io"
	"slices"

	"github.com/spf13/cobra"

	"github.com/kubectl-gc/kubectl-gc/internal/diagnose/explain"
	"github.com/kubectl-gc/kubectl-gc/internal/draw"
	"github.com/kubectl-gc/kubectl-gc/internal/object"
	"github.com/kubectl-gc/kubectl-gc/internal/render"

	"github.com/kubectl-gc/kubectl-gc/internal/report"
	"github.com/kubectl-gc/kubectl-gc/internal/snapshot"
)

// drawnFormats are the formats of pictures.
var drawnFormats = []string{"svg", "mermaid", "html"}

// drawing makes what a document looks like, when a picture is asked for.
type drawing func(draw.Options) (*draw.Document, error)

// drawn are the formats of pictures, all of one drawing.
func drawn(make drawing) formats {
	still := func(write func(io.Writer, *draw.Scene) error) format {
		return func(out io.Writer, _ render.Style) error {
			d, err := make(draw.Options{Fold: true})
			if err != nil {
				return err
			}
			return write(out, d.Scene)
		}
	}
	return formats{"svg": still(draw.WriteSVG), "mermaid": still(draw.WriteMermaid), "html": make.page}
}

// page writes a page, with a still picture in it if that is one that a person can read.
func (make drawing) page(out io.Writer, _ render.Style) error {
	d, err := make(draw.Options{})
	if err != nil {
		return err
	}
	var still bytes.Buffer
	if len(d.Scene.Boxes) <= draw.LargestStill {
		if err := draw.WriteSVG(&still, d.Scene); err != nil {
			return err
		}
	}
	d.Still = still.Bytes()
	return draw.WriteHTML(out, *d)
}

// graphDrawing shows a graph.
func graphDrawing(doc *report.Graph) drawing {
	return func(o draw.Options) (*draw.Document, error) {
		return &draw.Document{Scene: draw.OfGraph(doc, o), Graph: doc}, nil
	}
}

// planDrawing shows what a plan affects.
func planDrawing(ctx context.Context, snap *snapshot.Snapshot, p *report.Plan) drawing {
	return drawingOf(ctx, snap, draw.Document{Plan: p}, p, draw.Affected, draw.OfPlan)
}

// explanationDrawing shows whom an explanation is about.
func explanationDrawing(ctx context.Context, snap *snapshot.Snapshot, e *report.Explanation) drawing {
	return drawingOf(ctx, snap, draw.Document{Explanation: e}, e, draw.Concerned, draw.OfExplanation)
}

// exposureDrawing shows who is exposed.
func exposureDrawing(ctx context.Context, snap *snapshot.Snapshot, x *report.Exposure) drawing {
	return drawingOf(ctx, snap, draw.Document{}, x, draw.Exposed, draw.OfExposure)
}

// drawingOf shows a report among the objects that it is about, and their owners.
func drawingOf[T any](ctx context.Context, snap *snapshot.Snapshot, d draw.Document, doc T, about func(T) []report.Ref, scene func(T, *report.Graph, draw.Options) *draw.Scene) drawing {
	return func(o draw.Options) (*draw.Document, error) {
		var among []object.Ref
		for _, r := range about(doc) {
			among = append(among, object.Ref(r))
		}
		var err error
		if d.Graph, err = explain.Graph(ctx, snap, explain.GraphOptions{Among: among}); err != nil {
			return nil, err
		}
		d.Scene = scene(doc, d.Graph, o)
		return &d, nil
	}
}

// as writes a document in one way.
func as[T any](write func(io.Writer, render.Style, T) error, document T) format {
	return func(out io.Writer, s render.Style) error { return write(out, s, document) }
}

// markdown is the format that one pastes into a pull request.
func markdown[T any](write func(io.Writer, render.Style, T) error, document T) formats {
	return formats{"markdown": as(write, document)}
}

// planFormats are the formats of a plan, markdownFormat that of a list of findings.
var (
	planFormats    = append(slices.Clip(drawnFormats), "markdown")
	markdownFormat = []string{"markdown"}
)

// showPlan prints a plan, or its steps, in the format that was asked for.
func (o *output) showPlan(c *cobra.Command, out io.Writer, snap *snapshot.Snapshot, p *report.Plan, steps bool) error {
	text := as(render.PlanTable, p)
	if steps {
		text = as(render.PlanSteps, p)
	}
	return o.show(c, out, p, text, drawn(planDrawing(c.Context(), snap, p)), markdown(render.PlanMarkdown, p))
}

// showsPlan refuses a format that shows what is planned where it is going to be done: what
// came of it has no such format.
func (o *output) showsPlan(c *cobra.Command, writes bool) error {
	if writes && slices.Contains(planFormats, o.format) {
		return usageErrorf(c, "--output=%s shows a plan and what is done is none: give --dry-run, or another format", o.format)
	}
	return nil
}
