package draw

import "github.com/kubectl-gc/kubectl-gc/internal/report"

// appearance is how a look is drawn: two colours in each theme, and properties that distinguish it
// without colour. word returns its words.
type appearance struct {
	Look Look
	// Fill is the colour of the box, Ink that of its border, mark and word.
	Fill, Ink shading
	// Dash is the pattern of the border; empty for a solid one.
	Dash string
	// Mark is an SVG path in a square of 12, to be stroked; empty for Plain.
	Mark string
}

// shading is a colour in the light and the dark theme.
type shading struct{ Light, Dark string }

const circle = "M1 6a5 5 0 1 0 10 0a5 5 0 1 0-10 0"

var appearances = []appearance{
	{Look(report.Deleted), shading{"#ffebe9", "#3b1618"}, shading{"#b3261e", "#ff8e86"}, "", "M2 2L10 10M10 2L2 10"},
	{Look(report.Blocked), shading{"#fff3d1", "#352708"}, shading{"#7a4b00", "#e8b339"}, "7 3", "M4 2V10M8 2V10"},
	{Look(report.Orphaned), shading{"#e3f0ff", "#0f2a4a"}, shading{"#0a57b8", "#79b8ff"}, "2 3", "M0 6H4M8 6H12M7.5 2L4.5 10"},
	{Look(report.Pruned), shading{"#dcf4f4", "#0b2f33"}, shading{"#0b6470", "#56d4dd"}, "9 3 2 3", circle + "M4 6H8"},
	{Look(report.Kept), shading{"#e6f6e9", "#12301b"}, shading{"#1a6b32", "#6bd482"}, "", "M1.5 6.5L4.5 9.5L10.5 3"},
	{Look(report.Unknown), shading{"#f3ebff", "#2b1d48"}, shading{"#6b35c2", "#c4a1ff"}, "4 3", "M3.5 4a2.5 2.5 0 1 1 3.6 2.2c-.8.4-1.1.9-1.1 1.7M6 10.4v.1"},
	{BeingDeleted, shading{"#ffe9dc", "#3d2010"}, shading{"#953800", "#ffa657"}, "11 4", "M2.5 1.5H9.5M2.5 10.5H9.5M3.5 1.5L8.5 10.5M8.5 1.5L3.5 10.5"},
	{Waiting, shading{"#fff0e0", "#372410"}, shading{"#8a4600", "#f5b871"}, "5 4", circle + "M6 3V6L8 7.5"},
	{Absent, shading{"#ffffff", "#0d1117"}, shading{"#a11d33", "#ff9aa8"}, "3 4", circle + "M2.5 9.5L9.5 2.5"},
	{Unseen, shading{"#ffffff", "#0d1117"}, shading{"#57606a", "#9198a1"}, "1 4", "M2 6h.1M6 6h.1M10 6h.1"},
	{Plain, shading{"#ffffff", "#1c232c"}, shading{"#6e7781", "#848d97"}, "", ""},
}

// appearanceOf returns the appearance of a look. An unknown look, which may be untrusted text, is
// drawn as Plain.
func appearanceOf(l Look) *appearance {
	for i := range appearances {
		if appearances[i].Look == l {
			return &appearances[i]
		}
	}
	return &appearances[len(appearances)-1]
}
