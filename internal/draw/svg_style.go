package draw

import (
	"strings"
)

// The colours that do not belong to a look.
var (
	paper  = shade("#ffffff", "#0d1117")
	ground = shade("#f6f8fa", "#151b23") // of areas
	border = shade("#d0d7de", "#3d444d") // of areas
	ink    = shade("#1f2328", "#f0f6fc")
	faint  = shade("#57606a", "#9fa6ae")
	wire   = shade("#6e7781", "#848d97") // arrows
	accent = shade("#0969da", "#58a6ff") // targets
	alarm  = shade("#b3261e", "#ff8e86")
	delay  = shade("#953800", "#ffa657")
	doubt  = shade("#6b35c2", "#c4a1ff")
)

const (
	sans = `font-family:system-ui,-apple-system,"Segoe UI",Roboto,"Helvetica Neue",Arial,sans-serif`
	mono = `font-family:ui-monospace,SFMono-Regular,Menlo,Consolas,"DejaVu Sans Mono","Liberation Mono",monospace`
)

// stylesheet is the same in every document.
var stylesheet = newStylesheet()

// sheet collects rules. Each colour is a custom property that the dark theme overrides. The plain
// colour precedes it, for readers without custom properties.
type sheet struct{ rules, light, dark strings.Builder }

func newStylesheet() string {
	s := &sheet{}
	s.rule(".gc text", sans, s.colour("fill", "ink", ink))
	s.rule(".gc .paper", s.colour("fill", "paper", paper))
	s.rule(".gc .area", s.colour("fill", "ground", ground), s.colour("stroke", "border", border))
	s.rule(".gc .title", "font-size:17px", "font-weight:600")
	s.rule(".gc .place,.gc .key,.gc .k", "font-size:11px", s.colour("fill", "faint", faint))
	s.rule(".gc .key,.gc .place", "font-size:12px")
	s.rule(".gc .ns,.gc .n", mono, "font-size:12px", s.use("fill", "ink", ink))
	s.rule(".gc .ns", "font-weight:600")
	s.rule(".gc .w,.gc .t", "font-size:11px")
	s.rule(".gc .w", "text-anchor:end", "font-weight:600")
	s.rule(".gc .m", "fill:none", "stroke-width:1.6", "stroke-linecap:round", "stroke-linejoin:round")
	s.rule(".gc .f", "stroke-width:1.25")
	s.rule(".gc .ring", "fill:none", "stroke-width:2", s.colour("stroke", "accent", accent))
	s.rule(".gc .b:target .f", "stroke-width:3")
	s.rule(".gc .a", "fill:none", "stroke-width:1.3", s.colour("stroke", "wire", wire))
	s.rule(".gc .blocks", "stroke-width:2.1")
	s.rule(".gc .second", "stroke-dasharray:5 3")
	s.rule(".gc .waits", "stroke-dasharray:9 3", s.colour("stroke", "delay", delay))
	s.rule(".gc .dangling", "stroke-dasharray:2 3", s.colour("stroke", "alarm", alarm))
	s.rule(".gc .doubt", "stroke-dasharray:1 4", s.colour("stroke", "doubt", doubt))
	s.rule(".gc .cut", "stroke-dasharray:9 3 2 3", s.use("stroke", "alarm", alarm))
	s.rule(".gc .whole", "stroke-dasharray:none")
	s.rule(".gc a:hover .a,.gc .a:hover", "stroke-width:3")
	for _, l := range looks() {
		a := appearanceOf(l)
		name := "." + string(a.Look)
		dash := "stroke-dasharray:none"
		if a.Dash != "" {
			dash = "stroke-dasharray:" + a.Dash
		}
		s.rule(".gc "+name+" .f", s.colour("fill", string(a.Look)+"-fill", a.Fill), s.colour("stroke", string(a.Look), a.Ink), dash)
		s.rule(".gc "+name+" .m", s.use("stroke", string(a.Look), a.Ink))
		s.rule(".gc "+name+" .w,.gc "+name+" .t", s.use("fill", string(a.Look), a.Ink))
	}
	return ".gc{" + s.light.String() + "}\n" + s.rules.String() +
		"@media (prefers-color-scheme:dark){.gc{" + s.dark.String() + "}}\n"
}

func (s *sheet) rule(selector string, declarations ...string) {
	s.rules.WriteString(selector + "{" + strings.Join(declarations, ";") + "}\n")
}

// colour defines a custom property and returns a declaration that uses it.
func (s *sheet) colour(property, name string, c shading) string {
	s.light.WriteString("--gc-" + name + ":" + c.Light + ";")
	s.dark.WriteString("--gc-" + name + ":" + c.Dark + ";")
	return s.use(property, name, c)
}

func (s *sheet) use(property, name string, c shading) string {
	return property + ":" + c.Light + ";" + property + ":var(--gc-" + name + "," + c.Light + ")"
}

func shade(light, dark string) shading { return shading{Light: light, Dark: dark} }
