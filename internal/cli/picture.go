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

// drawing is a scene with the documents that it was made of.
type drawing struct {
	scene *draw.Scene
	graph *report.Graph
	plan  *report.Plan
	// explanation is nil but in the drawing of one.
	explanation *report.Explanation
}

// drawn are the formats of pictures, all of one drawing, which is made when one of them is
// asked for.
func drawn(scene func(draw.Options) (*drawing, error)) formats {
	still := func(write func(io.Writer, *draw.Scene) error) format {
		return func(out io.Writer, _ render.Style) error {
			d, err := scene(folded)
			if err != nil {
				return err
			}
			return write(out, d.scene)
		}
	}
	moving := func(out io.Writer, _ render.Style) error {
		d, err := scene(draw.Options{})
		if err != nil {
			return err
		}
		return d.page(out)
	}
	return formats{"svg": still(draw.WriteSVG), "mermaid": still(draw.WriteMermaid), "html": moving}
}

// page writes a page, with a still picture in it if that is one that a person can read.
func (d *drawing) page(out io.Writer) error {
	var still bytes.Buffer
	if len(d.scene.Boxes) <= draw.LargestStill {
		if err := draw.WriteSVG(&still, d.scene); err != nil {
			return err
		}
	}
	return draw.WriteHTML(out, draw.Document{Scene: d.scene, Graph: d.graph, Plan: d.plan, Explanation: d.explanation, Still: still.Bytes()})
}

// around is the graph of the objects that a picture shows, and of their owners.
func around(ctx context.Context, snap *snapshot.Snapshot, refs []report.Ref) (*report.Graph, error) {
	among := make([]object.Ref, len(refs))
	for i, r := range refs {
		among[i] = object.Ref(r)
	}
	return explain.Graph(ctx, snap, explain.GraphOptions{Among: among})
}

// folded is how pictures are drawn that do not move.
var folded = draw.Options{Fold: true}

func graphScene(doc *report.Graph) func(draw.Options) (*drawing, error) {
	return func(o draw.Options) (*drawing, error) {
		return &drawing{scene: draw.OfGraph(doc, o), graph: doc}, nil
	}
}

func planScene(ctx context.Context, snap *snapshot.Snapshot, p *report.Plan) func(draw.Options) (*drawing, error) {
	return func(o draw.Options) (*drawing, error) {
		g, err := around(ctx, snap, draw.Affected(p))
		if err != nil {
			return nil, err
		}
		return &drawing{scene: draw.OfPlan(p, g, o), graph: g, plan: p}, nil
	}
}

func explanationScene(ctx context.Context, snap *snapshot.Snapshot, e *report.Explanation) func(draw.Options) (*drawing, error) {
	return func(o draw.Options) (*drawing, error) {
		g, err := around(ctx, snap, draw.Concerned(e))
		if err != nil {
			return nil, err
		}
		return &drawing{scene: draw.OfExplanation(e, g, o), graph: g, explanation: e}, nil
	}
}

func exposureScene(ctx context.Context, snap *snapshot.Snapshot, x *report.Exposure) func(draw.Options) (*drawing, error) {
	return func(o draw.Options) (*drawing, error) {
		g, err := around(ctx, snap, draw.Exposed(x))
		if err != nil {
			return nil, err
		}
		return &drawing{scene: draw.OfExposure(x, g, o), graph: g}, nil
	}
}

// markdown is the format that one pastes into a pull request.
func markdown[T any](write func(io.Writer, render.Style, T) error, document T) formats {
	return formats{"markdown": func(out io.Writer, s render.Style) error { return write(out, s, document) }}
}

// planFormats are the formats of a plan, markdownFormat that of a list of findings.
var (
	planFormats    = append(slices.Clip(drawnFormats), "markdown")
	markdownFormat = []string{"markdown"}
)

// showsPlan refuses a format that shows what is planned where it is going to be done: what
// came of it has no such format.
func (o *output) showsPlan(c *cobra.Command, writes bool) error {
	if writes && slices.Contains(planFormats, o.format) {
		return usageErrorf(c, "--output=%s shows a plan and what is done is none: give --dry-run, or another format", o.format)
	}
	return nil
}
