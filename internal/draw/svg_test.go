package draw

import (
	"encoding/xml"
	"errors"
	"io"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-gc/kubectl-gc/internal/object"
	"github.com/kubectl-gc/kubectl-gc/internal/report"
)

// scenes returns pictures with two untrusted texts in every possible place.
func scenes(a, b string) []*Scene {
	refs := []object.Ref{
		{APIVersion: a, Kind: b, Namespace: a, Name: b, UID: types.UID(a)},
		{APIVersion: b, Kind: a, Namespace: b, Name: a, UID: types.UID(b)},
		{APIVersion: "v1", Kind: "Pod", Namespace: a, Name: a + b, UID: "3"},
	}
	g := &report.Graph{Source: report.Source{Type: a}, Roots: refs[:1]}
	for i, r := range refs {
		g.Nodes = append(g.Nodes, report.Node{Ref: r, Observed: i != 1, Virtual: i == 1, BeingDeleted: true, Finalizers: []string{a, b}})
	}
	for i := range 5 {
		r := object.Ref{APIVersion: a, Kind: b, Namespace: a, Name: b + strconv.Itoa(i), UID: types.UID("leaf" + strconv.Itoa(i))}
		g.Nodes = append(g.Nodes, report.Node{Ref: r, Observed: true})
		g.Edges = append(g.Edges, report.Edge{Owner: "3", Dependent: r.UID, Class: report.Class(b), BlockOwnerDeletion: true})
	}
	g.Edges = append(g.Edges, report.Edge{Owner: refs[0].UID, Dependent: "3", Class: report.Dangling}, report.Edge{Owner: types.UID(a + "?"), Dependent: refs[1].UID})
	p := &report.Plan{
		Seed: report.Seed{Verb: a, Policy: b, Finalizers: []string{a}, Targets: refs[:1]},
		Effects: []report.Effect{
			{Object: refs[0], Outcome: report.Outcome(a), Reason: b, Message: a},
			{Object: refs[1], Outcome: report.Blocked, BlockedBy: &report.BlockedBy{Finalizers: []string{b}, Node: a}},
			{Object: refs[2], Outcome: report.Pruned, RemovedReferences: refs[:1], Because: refs[:2], Recreator: b},
		},
	}
	e := &report.Explanation{Object: refs[0], Verdict: report.Verdict(b), Reason: a, Message: b, Owners: []report.OwnerFinding{{Ref: refs[1], Evidence: a}}}
	fold := Options{Fold: true}
	scenes := []*Scene{
		OfGraph(g, fold), OfPlan(p, g, fold), OfExplanation(e, g, Options{}),
	}
	scenes[0].Notes = []string{a, b + " " + a}
	return scenes
}

// hostile are texts that try to become markup, or that XML can't contain.
var hostile = []string{
	"", "web-1", "</title><script>alert(1)</script>", `"/><a href="javascript:alert(1)">`, "&lt;&#8238;", "]]>", "<!--", "a\x00b", "\x1b[2J",
	"\u202egnp.exe", "\ufffe\uffff", "\xff\xfe", "\xed\xa0\x80", "数据库-主节点", "\n\t", "{}url(//h/x)", `--><style>*{}`, strings.Repeat("long-", 80),
	"data:text/html,x", "' onload='x", "a]]>b", "\U000e0001",
}

// allowed are the elements in the output, each with its attributes.
var allowed = map[string][]string{
	"svg":   {"xmlns", "class", "viewBox", "width", "height", "role", "aria-labelledby"},
	"title": {"id"}, "style": {}, "g": {"id", "class", "transform"}, "a": {"href"}, "tspan": {"class"},
	"rect": {"class", "x", "y", "width", "height", "rx"}, "path": {"class", "d", "transform"}, "text": {"class", "x", "y"},
}

// FuzzSVG: whatever the names are, a document is XML with only our own elements and attributes, its
// links lead to its own boxes, and no attribute contains untrusted text.
func FuzzSVG(f *testing.F) {
	for i, s := range hostile {
		f.Add(s, hostile[(i+3)%len(hostile)])
	}
	f.Fuzz(func(t *testing.T, a, b string) {
		for _, s := range scenes(a, b) {
			var out strings.Builder
			if err := WriteSVG(&out, s); err != nil {
				t.Fatal(err)
			}
			assertInert(t, out.String())
		}
	})
}

// ownValue matches any value of an attribute: numbers, our own words, paths.
var ownValue = regexp.MustCompile(`^[A-Za-z0-9 .,()#:/%\-]*$`)

func assertInert(t *testing.T, document string) {
	t.Helper()
	ids, links := map[string]bool{}, []string{}
	d := xml.NewDecoder(strings.NewReader(document))
	for {
		token, err := d.Token()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatalf("%v in:\n%s", err, document)
		}
		switch token := token.(type) {
		case xml.StartElement:
			attributes, known := allowed[token.Name.Local]
			if !known {
				t.Errorf("element %s", token.Name.Local)
			}
			for _, x := range token.Attr {
				if !slices.Contains(attributes, x.Name.Local) || !ownValue.MatchString(x.Value) {
					t.Errorf("attribute %s=%q of %s", x.Name.Local, x.Value, token.Name.Local)
				}
				switch x.Name.Local {
				case "id":
					ids["#"+x.Value] = true
				case "href":
					links = append(links, x.Value)
				}
			}
		case xml.Comment, xml.Directive, xml.ProcInst:
			t.Errorf("%T in a document", token)
		}
	}
	for _, l := range links {
		if !ids[l] {
			t.Errorf("a link to %q, which is nowhere", l)
		}
	}
}

// TestColourIsNotAlone: each look has a unique combination of border, mark and word, so colours may
// be left out.
func TestColourIsNotAlone(t *testing.T) {
	words, marks := map[string]Look{}, map[string]Look{}
	for _, o := range report.Outcomes() {
		if appearanceOf(Look(o)).Look != Look(o) {
			t.Errorf("%s has no appearance of its own", o)
		}
	}
	for _, a := range appearances {
		if other, ok := words[a.Word]; ok {
			t.Errorf("%s and %s have the same word", a.Look, other)
		}
		if other, ok := marks[a.Mark]; ok {
			t.Errorf("%s and %s have the same mark", a.Look, other)
		}
		words[a.Word], marks[a.Mark] = a.Look, a.Look
	}
}

// TestContrast: text has a contrast of 4.5 to its ground and lines one of 3, in both themes (WCAG
// 2.2, 1.4.3 and 1.4.11).
func TestContrast(t *testing.T) {
	type pair struct {
		name     string
		on, that shading
		least    float64
	}
	pairs := []pair{
		{"title", paper, ink, 4.5}, {"legend", paper, faint, 4.5}, {"namespace", ground, ink, 4.5}, {"its label", ground, faint, 4.5},
		{"arrow", ground, wire, 3}, {"arrow of the legend", paper, wire, 3}, {"ring", ground, accent, 3},
		{"dangling", ground, alarm, 3}, {"waiting", ground, delay, 3}, {"doubt", ground, doubt, 3},
	}
	for _, a := range appearances {
		name := string(a.Look)
		pairs = append(pairs, pair{name + " name", a.Fill, ink, 4.5}, pair{name + " kind", a.Fill, faint, 4.5},
			pair{name + " border inside", a.Fill, a.Ink, 3}, pair{name + " border outside", ground, a.Ink, 3})
		if a.Word != "" {
			pairs = append(pairs, pair{name + " word", a.Fill, a.Ink, 4.5})
		}
	}
	for _, p := range pairs {
		for theme, c := range map[string]float64{"light": contrast(t, p.on.Light, p.that.Light), "dark": contrast(t, p.on.Dark, p.that.Dark)} {
			if c < p.least {
				t.Errorf("%s in the %s theme: %.2f, want %.1f", p.name, theme, c, p.least)
			}
		}
	}
}

func contrast(t *testing.T, a, b string) float64 {
	t.Helper()
	x, y := luminance(t, a), luminance(t, b)
	return (max(x, y) + 0.05) / (min(x, y) + 0.05)
}

func luminance(t *testing.T, colour string) float64 {
	t.Helper()
	n, err := strconv.ParseUint(strings.TrimPrefix(colour, "#"), 16, 32)
	if err != nil || len(colour) != 7 {
		t.Fatalf("%q is no colour", colour)
	}
	linear := func(shift uint) float64 {
		c := float64(n>>shift&0xff) / 255
		if c <= 0.04045 {
			return c / 12.92
		}
		return math.Pow((c+0.055)/1.055, 2.4)
	}
	return 0.2126*linear(16) + 0.7152*linear(8) + 0.0722*linear(0)
}

// TestStylesheet: every colour is a custom property preceded by the plain colour, and there is no
// external content.
func TestStylesheet(t *testing.T) {
	for _, foreign := range []string{"url(", "@import", "http", "<"} {
		if strings.Contains(stylesheet, foreign) {
			t.Errorf("%s in the stylesheet", foreign)
		}
	}
	for _, use := range regexp.MustCompile(`(fill|stroke):var\((--gc-[\w-]+),(#[0-9a-f]{6})\)`).FindAllStringSubmatch(stylesheet, -1) {
		if !strings.Contains(stylesheet, use[1]+":"+use[3]+";"+use[0]) {
			t.Errorf("%s has no colour before it", use[0])
		}
		if strings.Count(stylesheet, use[2]+":") != 2 {
			t.Errorf("%s is not defined once in each theme", use[2])
		}
	}
}

// TestWriteErrorsAreReturned: the error of a failing writer is returned.
func TestWriteErrorsAreReturned(t *testing.T) {
	if err := WriteSVG(closed{}, OfGraph(&report.Graph{}, Options{})); !errors.Is(err, io.ErrClosedPipe) {
		t.Errorf("%v, want %v", err, io.ErrClosedPipe)
	}
}

type closed struct{}

func (closed) Write([]byte) (int, error) { return 0, io.ErrClosedPipe }
