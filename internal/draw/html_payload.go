package draw

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-gc/kubectl-gc/internal/object"
	"github.com/kubectl-gc/kubectl-gc/internal/reason"
	"github.com/kubectl-gc/kubectl-gc/internal/render"
	"github.com/kubectl-gc/kubectl-gc/internal/report"
)

// payload is the data for the script; web/src/document.ts has the same fields. Objects are stored
// as columns, since 50,000 repeated keys would make the file too large to send.
type payload struct {
	Title      string   `json:"title"`
	Source     string   `json:"source"`
	From       []string `json:"from,omitempty"`
	Width      int      `json:"width"`
	Height     int      `json:"height"`
	Kinds      []kind   `json:"kinds"`
	Namespaces []string `json:"namespaces"`
	Looks      []string `json:"looks"`
	Classes    []string `json:"classes"`
	Areas      []area   `json:"areas"`
	Boxes      boxes    `json:"boxes"`
	Arrows     arrows   `json:"arrows"`
	Legend     []entry  `json:"legend"`
	// Elsewhere are the groups of objects in several namespaces.
	Elsewhere []int `json:"elsewhere,omitempty"`
	// Counted are the objects that represent others which are not in the page: their numbers, and
	// the texts below their names. Left describes that in words.
	Counted   sparse[counted]   `json:"counted,omitempty"`
	Left      string            `json:"left,omitempty"`
	Plan      *report.Plan      `json:"plan,omitempty"`
	Explained *explained        `json:"explained,omitempty"`
	Sentences map[string]string `json:"sentences"`
}

type kind struct {
	APIVersion string `json:"apiVersion"`
	Kind       string `json:"kind"`
	Type       string `json:"type"`
}

type area struct {
	Namespace int    `json:"namespace"`
	Rect      [4]int `json:"rect"`
}

type boxes struct {
	Rects     []int       `json:"rects"`
	Kind      []int       `json:"kind"`
	Namespace []int       `json:"namespace"`
	Look      []int       `json:"look"`
	State     []int       `json:"state"`
	Name      []string    `json:"name"`
	UID       []types.UID `json:"uid"`
	Targets   []int       `json:"targets,omitempty"`
	// Pile is the group that hides an object until it is opened, or -1; absent if nothing is
	// hidden.
	Pile []int `json:"pile,omitempty"`
	// Data are the objects that are listed first, Quiet those hidden at first.
	Data  []int `json:"data,omitempty"`
	Quiet []int `json:"quiet,omitempty"`
	// Note and Why are the texts of an object, by its number.
	Note       sparse[string]   `json:"note,omitempty"`
	Why        sparse[string]   `json:"why,omitempty"`
	Finalizers sparse[[]string] `json:"finalizers,omitempty"`
}

type arrows struct {
	Owner     []int `json:"owner"`
	Dependent []int `json:"dependent"`
	Flags     []int `json:"flags"`
	Class     []int `json:"class"`
	Paths     []int `json:"paths"`
	Bends     []int `json:"bends"`
}

type entry struct {
	Look  int    `json:"look"`
	Words string `json:"words"`
	Count int    `json:"count"`
}

// counted is a group that is not in the page, with the number of objects below it.
type counted struct {
	Objects int    `json:"objects"`
	Below   int    `json:"below,omitempty"`
	Words   string `json:"words,omitempty"`
}

// The flags of an arrow.
const (
	controllerFlag = 1
	blocksFlag     = 2
	removedFlag    = 4
)

// numbers assigns a number to each distinct value, in the order of first use.
type numbers[T comparable] struct {
	list []T
	of   map[T]int
}

func (n *numbers[T]) number(v T) int {
	i, ok := n.of[v]
	if !ok {
		if n.of == nil {
			n.of = map[T]int{}
		}
		i = len(n.list)
		n.of[v] = i
		n.list = append(n.list, v)
	}
	return i
}

// payloadBuilder builds a payload.
type payloadBuilder struct {
	payload

	kinds      numbers[kind]
	namespaces numbers[string]
	looks      numbers[string]
	classes    numbers[string]
	nodes      map[types.UID]*report.Node
}

func payloadOf(d Document) (*payload, error) {
	s := &payloadBuilder{nodes: nodesOf(d.Graph)}
	s.Title, s.Width, s.Height = d.Scene.Title, d.Scene.Width, d.Scene.Height
	s.Plan, s.Sentences = d.Plan, sentences(d.Plan)
	s.Source, s.From = sourceOf(d)
	s.Explained = explainedBy(d)
	s.Areas, s.Legend = []area{}, []entry{}
	s.Elsewhere, s.Left = d.Scene.Elsewhere, d.Scene.Grouped
	s.Boxes = boxes{Rects: []int{}, Kind: []int{}, Namespace: []int{}, Look: []int{}, State: []int{}, Name: []string{}, UID: []types.UID{}, Pile: slices.Clone(d.Scene.Piles)}
	s.Arrows = arrows{Owner: []int{}, Dependent: []int{}, Flags: []int{}, Class: []int{}, Paths: []int{}, Bends: []int{}}
	for _, e := range d.Scene.Legend {
		s.Legend = append(s.Legend, entry{Look: s.looks.number(string(e.Look)), Words: e.Words, Count: e.Count})
	}
	for i := range d.Scene.Areas {
		a := &d.Scene.Areas[i]
		s.Areas = append(s.Areas, area{s.namespaces.number(a.Namespace), [4]int{a.X, a.Y, a.W, a.H}})
	}
	for i := range d.Scene.Boxes {
		if err := s.addBox(&d.Scene.Boxes[i]); err != nil {
			return nil, fmt.Errorf("box %d: %w", i, err)
		}
	}
	for i := range d.Scene.Arrows {
		s.addArrow(&d.Scene.Arrows[i])
	}
	asked := -1
	if s.Explained != nil {
		asked = s.Explained.Object
	}
	s.Boxes.Data, s.Boxes.Quiet = dataBoxes(d.Scene.Boxes, d.Plan), quietBoxes(d.Scene, asked)
	s.Kinds, s.Namespaces, s.Looks, s.Classes = s.kinds.list, s.namespaces.list, s.looks.list, s.classes.list
	return &s.payload, nil
}

func nodesOf(g *report.Graph) map[types.UID]*report.Node {
	if g == nil {
		return nil
	}
	nodes := make(map[types.UID]*report.Node, len(g.Nodes))
	for i := range g.Nodes {
		nodes[g.Nodes[i].Ref.UID] = &g.Nodes[i]
	}
	return nodes
}

func (s *payloadBuilder) addBox(b *Box) error {
	ref, n := b.Refs[0], len(s.Boxes.Name)
	switch {
	case b.Group:
		s.Counted.add(n, counted{len(b.Refs), b.Below, b.Note})
	case len(b.Refs) != 1:
		return fmt.Errorf("it stands for %d objects: an HTML page has a box for each", len(b.Refs))
	}
	node := s.nodes[ref.UID]
	s.Boxes.Rects = append(s.Boxes.Rects, b.X, b.Y, b.W, b.H)
	s.Boxes.Kind = append(s.Boxes.Kind, s.kinds.number(kind{ref.APIVersion, ref.Kind, object.ShortKindName(ref.APIVersion, ref.Kind)}))
	s.Boxes.Namespace = append(s.Boxes.Namespace, s.namespaces.number(ref.Namespace))
	s.Boxes.Look = append(s.Boxes.Look, s.looks.number(string(b.Look)))
	s.Boxes.State = append(s.Boxes.State, s.looks.number(string(lookBefore(b.Look, node))))
	s.Boxes.Name = append(s.Boxes.Name, ref.Name)
	s.Boxes.UID = append(s.Boxes.UID, ref.UID)
	if b.Target {
		s.Boxes.Targets = append(s.Boxes.Targets, n)
	}
	if b.Note != "" {
		s.Boxes.Note.add(n, b.Note)
	}
	if b.Why != "" {
		s.Boxes.Why.add(n, b.Why)
	}
	if node != nil && len(node.Finalizers) > 0 {
		s.Boxes.Finalizers.add(n, node.Finalizers)
	}
	return nil
}

// lookBefore returns the look of an object before the plan.
func lookBefore(look Look, n *report.Node) Look {
	switch {
	case !slices.Contains(report.Outcomes(), report.Outcome(look)):
		return look
	case n != nil && n.WaitingForDependents:
		return Waiting
	case n != nil && n.BeingDeleted:
		return BeingDeleted
	default:
		return Plain
	}
}

func (s *payloadBuilder) addArrow(a *Arrow) {
	flags := 0
	if a.Controller {
		flags |= controllerFlag
	}
	if a.Blocks {
		flags |= blocksFlag
	}
	if a.Removed {
		flags |= removedFlag
	}
	s.Arrows.Owner = append(s.Arrows.Owner, a.Owner)
	s.Arrows.Dependent = append(s.Arrows.Dependent, a.Dependent)
	s.Arrows.Flags = append(s.Arrows.Flags, flags)
	s.Arrows.Class = append(s.Arrows.Class, s.classes.number(string(a.Class)))
	s.Arrows.Bends = append(s.Arrows.Bends, len(a.Path))
	for _, p := range a.Path {
		s.Arrows.Paths = append(s.Arrows.Paths, p.X, p.Y)
	}
}

// sentences returns the texts of the reasons in a plan.
func sentences(p *report.Plan) map[string]string {
	words := map[string]string{}
	if p == nil {
		return words
	}
	var seen numbers[string]
	add := func(code string) {
		if n := len(seen.list); seen.number(code) < n {
			return
		}
		if s := reason.Short(code); s != code {
			words[code] = s
		}
	}
	for i := range p.Effects {
		add(p.Effects[i].Reason)
	}
	for i := range p.Steps {
		add(p.Steps[i].Reason)
	}
	return words
}

// sourceParts describes a source as of a time.
func sourceParts(source report.Source, asOf string) []string {
	var parts []string
	for _, p := range [...]struct{ before, what string }{
		{"From ", strings.Join(source.Files, ", ")}, {"Context ", source.Context}, {"", source.Server},
		{"Kubernetes ", source.KubernetesVersion}, {"as of ", asOf},
	} {
		if p.what != "" {
			parts = append(parts, p.before+p.what)
		}
	}
	return parts
}

// sourceOf describes the source of the drawing, and returns the files for a command that reads the
// same.
func sourceOf(d Document) (words string, files []string) {
	var source report.Source
	complete := true
	switch {
	case d.Plan != nil:
		source, complete = d.Plan.Source, d.Plan.Complete
	case d.Graph != nil:
		source, complete = d.Graph.Source, d.Graph.Complete
	}
	parts := sourceParts(source, source.TakenAt)
	if !complete {
		parts = append(parts, "Incomplete: some of this depends on what could not be read")
	}
	return strings.Join(parts, " · "), source.Files
}

// explained is the content of an explanation in addition to its drawing.
type explained struct {
	// Object is the number of the explained object's box.
	Object int `json:"object"`
	// WaitsFor and TakenBy are sentences; TakersUntried counts the deletes that were not tried.
	WaitsFor      []string `json:"waitsFor"`
	TakenBy       []string `json:"takenBy"`
	TakersUntried int      `json:"takersUntried,omitempty"`
	Remedies      []remedy `json:"remedies"`
}

type remedy struct {
	Command string `json:"command"`
	Effect  string `json:"effect"`
}

// explainedBy returns nil without an explanation, or if its object has no box.
func explainedBy(d Document) *explained {
	e := d.Explanation
	if e == nil {
		return nil
	}
	box := slices.IndexFunc(d.Scene.Boxes, func(b Box) bool { return slices.Contains(b.Refs, e.Object) })
	if box < 0 {
		return nil
	}
	x := &explained{Object: box, WaitsFor: []string{}, TakenBy: render.DeletesThatTake(e), TakersUntried: e.TakersUntried, Remedies: []remedy{}}
	x.WaitsFor = append(x.WaitsFor, object.Mapped(e.WaitsFor, func(f report.Finding) string { return f.Message })...)
	for _, r := range e.Remedies {
		x.Remedies = append(x.Remedies, remedy{r.Command, render.RemedyEffect(r)})
	}
	return x
}

// dataBoxes returns the boxes with data that is or may be deleted: volumes, then custom resources,
// then Secrets.
func dataBoxes(boxes []Box, p *report.Plan) []int {
	if p == nil {
		return nil
	}
	type kindOf struct{ apiVersion, kind string }
	holds, goes := map[kindOf]report.Data{}, map[object.Ref]bool{}
	for _, c := range p.Summary.ByKind {
		holds[kindOf{c.APIVersion, c.Kind}] = c.Data
	}
	order := []report.Data{report.VolumeData, report.CustomData, report.SecretData}
	held := func(r *object.Ref) report.Data { return holds[kindOf{r.APIVersion, r.Kind}] }
	for i := range p.Effects {
		if e := &p.Effects[i]; slices.Contains(order, held(&e.Object)) {
			goes[e.Object] = e.MayBeDeleted()
		}
	}
	var data []int
	for i := range boxes {
		if r := &boxes[i].Refs[0]; slices.Contains(order, held(r)) && goes[*r] {
			data = append(data, i)
		}
	}
	slices.SortStableFunc(data, func(a, b int) int {
		return cmp.Compare(slices.Index(order, held(&boxes[a].Refs[0])), slices.Index(order, held(&boxes[b].Refs[0])))
	})
	return data
}

// quietBoxes returns the boxes that a page hides at first: generated objects with an unremarkable
// outcome. Targets, the asked object and owners are excluded. If all boxes would be hidden,
// none is.
func quietBoxes(s *Scene, asked int) []int {
	owns := make([]bool, len(s.Boxes))
	for i := range s.Arrows {
		owns[s.Arrows[i].Owner] = true
	}
	var quiet []int
	for i := range s.Boxes {
		if b := &s.Boxes[i]; !b.Target && i != asked && !owns[i] && (b.Refs[0].IsEvent() || b.Refs[0].Generated()) && isUnremarkable(b.Look) {
			quiet = append(quiet, i)
		}
	}
	if len(quiet) == len(s.Boxes) {
		return nil
	}
	return quiet
}

func isUnremarkable(l Look) bool {
	return l == Look(report.Deleted) || l == Look(report.Kept) || l == Plain
}
