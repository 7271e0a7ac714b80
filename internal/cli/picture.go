package cli

import (
	"bytes"
	"context"
	"io"
	"slices"

	"github.com/spf13/cobra"

	"github.com/kubectl-gc/kubectl-gc/internal/diagnose/explain"
	"github.com/kubectl-gc/kubectl-gc/internal/object"
	"github.com/kubectl-gc/kubectl-gc/internal/render"
	"github.com/kubectl-gc/kubectl-gc/internal/render/mermaid"
	"github.com/kubectl-gc/kubectl-gc/internal/render/page"
	"github.com/kubectl-gc/kubectl-gc/internal/render/picture"
	"github.com/kubectl-gc/kubectl-gc/internal/render/svg"
	"github.com/kubectl-gc/kubectl-gc/internal/report"
	"github.com/kubectl-gc/kubectl-gc/internal/snapshot"
)

// drawnFormats are the formats of pictures.
var drawnFormats = []string{"svg", "mermaid", "html"}

// drawing is a scene with the documents that it was made of.
type drawing struct {
	scene *picture.Scene
	graph *report.Graph
	plan  *report.Plan
	// explanation is nil but in the drawing of one.
	explanation *report.Explanation
}

// drawn are the formats of pictures, all of one drawing, which is made when one of them is
// asked for.
func drawn(draw func(picture.Options) (*drawing, error)) formats {
	still := func(write func(io.Writer, *picture.Scene) error) format {
		return func(out io.Writer, _ render.Style) error {
			d, err := draw(folded)
			if err != nil {
				return err
			}
			return write(out, d.scene)
		}
	}
	moving := func(out io.Writer, _ render.Style) error {
		d, err := draw(picture.Options{})
		if err != nil {
			return err
		}
		return d.page(out)
	}
	return formats{"svg": still(svg.Write), "mermaid": still(mermaid.Write), "html": moving}
}

// page writes a page, with a still picture in it if that is one that a person can read.
func (d *drawing) page(out io.Writer) error {
	var still bytes.Buffer
	if len(d.scene.Boxes) <= page.LargestStill {
		if err := svg.Write(&still, d.scene); err != nil {
			return err
		}
	}
	return page.Write(out, page.Document{Scene: d.scene, Graph: d.graph, Plan: d.plan, Explanation: d.explanation, Still: still.Bytes()})
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
var folded = picture.Options{Fold: true}

func graphScene(doc *report.Graph) func(picture.Options) (*drawing, error) {
	return func(o picture.Options) (*drawing, error) {
		return &drawing{scene: picture.OfGraph(doc, o), graph: doc}, nil
	}
}

func planScene(ctx context.Context, snap *snapshot.Snapshot, p *report.Plan) func(picture.Options) (*drawing, error) {
	return func(o picture.Options) (*drawing, error) {
		g, err := around(ctx, snap, picture.Affected(p))
		if err != nil {
			return nil, err
		}
		return &drawing{scene: picture.OfPlan(p, g, o), graph: g, plan: p}, nil
	}
}

func explanationScene(ctx context.Context, snap *snapshot.Snapshot, e *report.Explanation) func(picture.Options) (*drawing, error) {
	return func(o picture.Options) (*drawing, error) {
		g, err := around(ctx, snap, picture.Concerned(e))
		if err != nil {
			return nil, err
		}
		return &drawing{scene: picture.OfExplanation(e, g, o), graph: g, explanation: e}, nil
	}
}

func exposureScene(ctx context.Context, snap *snapshot.Snapshot, x *report.Exposure) func(picture.Options) (*drawing, error) {
	return func(o picture.Options) (*drawing, error) {
		g, err := around(ctx, snap, picture.Exposed(x))
		if err != nil {
			return nil, err
		}
		return &drawing{scene: picture.OfExposure(x, g, o), graph: g}, nil
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
