package render

import (
	"fmt"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-gc/kubectl-gc/internal/object"
	"github.com/kubectl-gc/kubectl-gc/internal/report"
)

func upstreamText(t *testing.T, g *report.Graph) string {
	t.Helper()
	var b strings.Builder
	if err := UpstreamDOT(&b, Style{}, g); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// seen returns an observed vertex of the core group with its UID as name.
func seen(uid string) report.Node {
	return report.Node{Observed: true, Ref: object.Ref{APIVersion: "v1", Kind: "Pod", Namespace: "shop", Name: uid, UID: types.UID(uid)}}
}

func owned(dependent, owner string) report.Edge {
	return report.Edge{Dependent: types.UID(dependent), Owner: types.UID(owner)}
}

// selected returns the result of SelectUpstream as "uids | dependent>owner".
func selected(g *report.Graph, uids ...types.UID) string {
	nodes, edges := SelectUpstream(g, uids)
	var parts []string
	for _, n := range nodes {
		uid := string(n.Ref.UID)
		if n.Missing {
			uid += "?"
		}
		parts = append(parts, uid)
	}
	parts = append(parts, "|")
	for _, e := range edges {
		parts = append(parts, string(e.Dependent)+">"+string(e.Owner))
	}
	return strings.Join(parts, " ")
}

func TestUpstreamLayout(t *testing.T) {
	pod := report.Node{Observed: true, BeingDeleted: true,
		Ref: object.Ref{APIVersion: "v1", Kind: "Pod", Namespace: "shop", Name: "web-1", UID: "p-uid"}}
	set := report.Node{Observed: true,
		Ref: object.Ref{APIVersion: "apps/v1", Kind: "ReplicaSet", Namespace: "shop", Name: "web", UID: "r-uid"}}
	want := `strict digraph full {
  // Node definitions.
  "p-uid" [
    label="uid=p-uid\nnamespace=shop\nPod.v1/web-1\nbeingDeleted\n"
    group=""
    version="v1"
    kind="Pod"
    namespace="shop"
    name="web-1"
    uid="p-uid"
    missing="false"
    beingDeleted="true"
    deletingDependents="false"
    virtual="false"
  ];
  "r-uid" [
    label="uid=r-uid\nnamespace=shop\nReplicaSet.v1.apps/web\n"
    group="apps"
    version="v1"
    kind="ReplicaSet"
    namespace="shop"
    name="web"
    uid="r-uid"
    missing="false"
    beingDeleted="false"
    deletingDependents="false"
    virtual="false"
  ];
  // Edge definitions.
  "p-uid" -> "r-uid";
}
`
	g := &report.Graph{Nodes: []report.Node{set, pod}, Edges: []report.Edge{owned("p-uid", "r-uid")}}
	if diff := cmp.Diff(want, upstreamText(t, g)); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

func TestUpstreamAllFlagsAndOddVersions(t *testing.T) {
	n := report.Node{BeingDeleted: true, WaitingForDependents: true, Virtual: true, Missing: true,
		Ref: object.Ref{APIVersion: "a/b/c", Kind: "Kind", Name: "x", UID: "u"}}
	want := "uid=u\nnamespace=\nKind./x\nbeingDeleted,deletingDependents,virtual,missingFromGraph\n"
	if got := upstreamLabel(&n, "", ""); got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

// TestUpstreamMissingOwner is S257: an owner without a vertex appears once, under its own UID,
// however many references it has.
//
// Covers: S257
func TestUpstreamMissingOwner(t *testing.T) {
	g := &report.Graph{
		Nodes: []report.Node{seen("alpha"), seen("gamma"), {Missing: true, Ref: object.Ref{APIVersion: "v1", Kind: "Pod", Namespace: "guess", Name: "beta", UID: "beta"}}},
		Edges: []report.Edge{owned("alpha", "beta"), owned("alpha", "gamma"), owned("gamma", "beta")},
	}
	if got, want := selected(g), "alpha beta? gamma | alpha>beta alpha>gamma gamma>beta"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	nodes, _ := SelectUpstream(g, nil)
	want := report.Node{Missing: true, Ref: object.Ref{APIVersion: "v1", Kind: "Pod", Name: "beta", UID: "beta"}}
	if diff := cmp.Diff(want, nodes[1]); diff != "" {
		t.Errorf("missing vertex (-want +got):\n%s", diff)
	}
}

// Covers: S258, S259, S260
func TestUpstreamSelection(t *testing.T) {
	g := &report.Graph{
		Nodes: []report.Node{seen("alone"), seen("c"), seen("b"), seen("a"), seen("x"), seen("y")},
		Edges: []report.Edge{owned("c", "b"), owned("b", "a"), owned("y", "x"), owned("y", "x")},
	}
	for _, tt := range []struct {
		name string
		uids []types.UID
		want string
	}{
		{"everything, but no vertex that is linked to nothing (S258)", nil, "a b c x y | b>a c>b y>x y>x"},
		{"such a vertex is dropped even when asked for (S258)", []types.UID{"alone"}, "|"},
		{"a UID that is no vertex gives nothing (S259)", []types.UID{"nobody"}, "|"},
		{"owners and dependents, transitively (S260)", []types.UID{"b"}, "a b c | b>a c>b"},
		{"two UIDs give the union, unknown ones are skipped (S260)", []types.UID{"c", "x", "nobody"}, "a b c x y | b>a c>b y>x y>x"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if got := selected(g, tt.uids...); got != tt.want {
				t.Errorf("got %s, want %s", got, tt.want)
			}
		})
	}
}

// TestUpstreamEmpty is S261.
//
// Covers: S261
func TestUpstreamEmpty(t *testing.T) {
	if got, want := upstreamText(t, &report.Graph{}), "strict digraph full {\n}\n"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

// TestUpstreamQuotes is S262.
//
// Covers: S262
func TestUpstreamQuotes(t *testing.T) {
	g := &report.Graph{Nodes: []report.Node{seen(`"\🚀ä`), seen("o")}, Edges: []report.Edge{owned(`"\🚀ä`, "o")}}
	got := upstreamText(t, g)
	for _, want := range []string{`  "\"\\🚀ä" [` + "\n", `    label="uid=\"\\🚀ä\nnamespace=shop\nPod.v1/\"\\🚀ä\n"` + "\n", `  "\"\\🚀ä" -> "o";` + "\n"} {
		if !strings.Contains(got, want) {
			t.Errorf("%s is not in:\n%s", want, got)
		}
	}
}

// parsedDOT is the parsed content of a graph.
type parsedDOT struct {
	vertices, edges int
	attributes      map[string]bool
}

// parseDOT parses only the part of the DOT language that the two writers use: an identifier or
// keyword from a name that has escaped its quotes is an error.
func parseDOT(text string) (parsedDOT, error) {
	p := &dotParser{got: parsedDOT{attributes: map[string]bool{}}}
	var err error
	if p.tokens, err = dotTokens(text); err != nil {
		return p.got, err
	}
	p.accept("strict")
	if err := p.expect("digraph"); err != nil {
		return p.got, err
	}
	if err := p.graph(); err != nil {
		return p.got, err
	}
	if len(p.tokens) > 0 {
		return p.got, fmt.Errorf("text after the graph: %q", p.tokens[0])
	}
	return p.got, nil
}

type dotParser struct {
	tokens []string
	got    parsedDOT
}

func (p *dotParser) peek() string {
	if len(p.tokens) == 0 {
		return ""
	}
	return p.tokens[0]
}

func (p *dotParser) take() string {
	t := p.peek()
	if t != "" {
		p.tokens = p.tokens[1:]
	}
	return t
}

func (p *dotParser) accept(token string) bool {
	if p.peek() == token {
		p.take()
		return true
	}
	return false
}

func (p *dotParser) expect(token string) error {
	if t := p.take(); t != token {
		return fmt.Errorf("%q where %q is due", t, token)
	}
	return nil
}

// graph parses an identifier and a block of statements.
func (p *dotParser) graph() error {
	p.take()
	if err := p.expect("{"); err != nil {
		return err
	}
	for !p.accept("}") {
		if p.peek() == "" {
			return fmt.Errorf("the graph does not end")
		}
		if p.accept("subgraph") {
			if err := p.graph(); err != nil {
				return err
			}
			continue
		}
		if err := p.statement(); err != nil {
			return err
		}
	}
	return nil
}

// statement parses a vertex, an edge or an attribute of the graph.
func (p *dotParser) statement() error {
	id := p.take()
	switch {
	case p.accept("="):
		p.got.attributes[id] = true
		p.take()
		return p.expect(";")
	case p.accept("->"):
		p.got.edges++
		if to := p.take(); !identifier(id) || !identifier(to) {
			return fmt.Errorf("edge from %q to %q", id, to)
		}
	default:
		p.got.vertices++
		if !identifier(id) {
			return fmt.Errorf("vertex %q", id)
		}
	}
	if p.accept("[") {
		for !p.accept("]") {
			key := p.take()
			p.got.attributes[key] = true
			if err := p.expect("="); err != nil {
				return err
			}
			if value := p.take(); !strings.HasPrefix(value, `"`) {
				return fmt.Errorf("attribute %s is %q", key, value)
			}
			p.accept(",")
		}
	}
	return p.expect(";")
}

func identifier(t string) bool {
	if strings.HasPrefix(t, `"`) {
		return true
	}
	return len(t) > 1 && t[0] == 'n' && strings.Trim(t[1:], "0123456789") == ""
}

// dotTokens splits text into words, signs and quoted strings. A string ends at the first quote
// without a backslash before it; a raw control in one is an error.
func dotTokens(text string) ([]string, error) {
	var tokens []string
	for i := 0; i < len(text); {
		c := text[i]
		switch {
		case c == ' ' || c == '\t' || c == '\n':
			i++
		case strings.HasPrefix(text[i:], "//"):
			end := strings.IndexByte(text[i:], '\n')
			i += end
		case strings.HasPrefix(text[i:], "->"):
			tokens = append(tokens, "->")
			i += 2
		case strings.IndexByte("{}[]=,;", c) >= 0:
			tokens = append(tokens, string(c))
			i++
		case c == '"':
			end := i + 1
			for ; end < len(text) && text[end] != '"'; end++ {
				if text[end] == '\\' {
					end++
				}
			}
			if end >= len(text) {
				return nil, fmt.Errorf("a string does not end: %q", text[i:])
			}
			for _, r := range text[i : end+1] {
				if unicode.IsControl(r) || unicode.Is(unicode.Cf, r) {
					return nil, fmt.Errorf("%q in the string %q", r, text[i:end+1])
				}
			}
			tokens = append(tokens, text[i:end+1])
			i = end + 1
		default:
			end := i
			for end < len(text) && (text[end] == '_' || text[end] < utf8.RuneSelf && unicode.IsLetter(rune(text[end])) || text[end] >= '0' && text[end] <= '9') {
				end++
			}
			if end == i {
				return nil, fmt.Errorf("stray %q", text[i:min(i+20, len(text))])
			}
			tokens = append(tokens, text[i:end])
			i = end
		}
	}
	return tokens, nil
}

func TestParseDOTRefusesWhatBreaksOut(t *testing.T) {
	for _, text := range []string{
		`digraph g { n1[label="a"]; evil[label="b"]; }`,
		`digraph g { n1[label=<b>]; }`,
		`digraph g { n1[label="a]; }`,
		"digraph g { n1[label=\"a\x1b\"]; }",
		`digraph g { n1[label="a"]; `,
		`digraph g { } }`,
	} {
		if _, err := parseDOT(text); err == nil {
			t.Errorf("no error for %s", text)
		}
	}
}
