package draw

import (
	"slices"
	"strconv"
	"strings"

	"github.com/kubectl-gc/kubectl-gc/internal/render"
)

// head is the text above and below the picture: title, legend and notes.
type head struct {
	width, height, foot int
	title, notes        []string
	// grouped is the text below the title of a picture with groups.
	grouped []string
	keys    []key
}

// key is an entry of the legend with its position.
type key struct {
	x, y  int
	look  Look
	arrow string
	words string
	// box is an example with that look; -1 for none.
	box int
}

const (
	leastPage  = 640
	headInset  = 24
	titleLine  = 24
	titleStart = 36
	keyLine    = 24
	keyGap     = 22
	keyMark    = 24
	noteStep   = 18
	// titleColumn is the maximum average width of a title column.
	titleColumn = 11
)

func newHead(s *Scene) *head {
	h := &head{width: max(s.Width, leastPage)}
	room := h.width - 2*headInset
	h.title = wrap(render.Escape(s.Title), int(float64(room)/titleColumn))
	y := titleStart + titleLine*len(h.title) + 2
	if s.Grouped != "" {
		h.grouped = wrap(s.Grouped, smallColumns(room))
		y += noteStep * len(h.grouped)
	}
	x := headInset
	for _, k := range keysOf(s) {
		size := keyMark + smallWidth(k.words) + keyGap
		if x > headInset && x+size > h.width-headInset+keyGap {
			x, y = headInset, y+keyLine
		}
		k.x, k.y = x, y
		h.keys = append(h.keys, k)
		x += size
	}
	h.height = y + 2
	for _, n := range s.Notes {
		h.notes = append(h.notes, wrap(render.Escape(n), smallColumns(room))...)
	}
	if len(h.notes) > 0 {
		h.foot = noteStep*len(h.notes) + noteStep
	}
	return h
}

// wrap breaks escaped text at blanks.
func wrap(text string, columns int) []string {
	var lines []string
	line := ""
	for word := range strings.SplitSeq(text, " ") {
		if line != "" && columnsOf(line)+1+columnsOf(word) > columns {
			lines, line = append(lines, line), ""
		}
		if line != "" {
			line += " "
		}
		line += fit(word, columns)
	}
	return append(lines, line)
}

// keysOf returns an entry for each look and each kind of arrow in use.
func keysOf(s *Scene) []key {
	var keys []key
	for _, e := range s.Legend {
		i := slices.IndexFunc(s.Boxes, func(b Box) bool { return b.Look == e.Look })
		keys = append(keys, key{look: e.Look, words: strconv.Itoa(e.Count) + " " + e.Words, box: i})
	}
	used := map[string]bool{}
	for i := range s.Arrows {
		for _, c := range classes(&s.Arrows[i]) {
			used[c] = true
		}
	}
	for _, k := range [...]key{
		{arrow: "blocks", words: "blocks its owner's foreground delete"}, {arrow: "second", words: "owner, not controller"},
		{arrow: "waits", words: "owner waits for dependents"}, {arrow: "dangling", words: "owner does not exist"},
		{arrow: "doubt", words: "owner not known"}, {arrow: "cut", words: "reference is removed"},
	} {
		if used[k.arrow] {
			k.box = -1
			keys = append(keys, k)
		}
	}
	return keys
}

func (w *writer) head(h *head) {
	for i, line := range h.title {
		w.raw(`<text class="title" x="`).num(headInset).raw(`" y="`).num(titleStart + titleLine*i).raw(`">`).text(line).raw("</text>\n")
	}
	for i, line := range h.grouped {
		w.raw(`<text class="key" x="`).num(headInset).raw(`" y="`).num(titleStart + titleLine*len(h.title) + noteStep*i - 4).raw(`">`).text(line).raw("</text>\n")
	}
	for _, k := range h.keys {
		w.key(k)
	}
}

func (w *writer) key(k key) {
	if k.box >= 0 {
		w.raw(`<a href="#box-`).num(k.box).raw(`">`)
	}
	w.raw(`<g class="`).raw(class(k.look)).raw(`" transform="translate(`).num(k.x).raw(" ").num(k.y - 12).raw(`)">`)
	if k.arrow != "" {
		w.raw(`<path class="a `).raw(k.arrow).raw(`" d="M0 8L17 8"/><path class="a whole `).raw(k.arrow).raw(`" d="M12 4L17 8L12 12"/>`)
	} else {
		w.raw(`<rect class="f" x="0" y="0" width="17" height="16" rx="4"/><path class="m" transform="translate(2.5 2)" d="`).raw(mark(k.look)).raw(`"/>`)
	}
	w.raw(`<text class="key" x="`).num(keyMark).raw(`" y="12">`).text(render.Escape(k.words)).raw("</text></g>")
	if k.box >= 0 {
		w.raw("</a>")
	}
	w.raw("\n")
}

func (w *writer) feet(h *head) {
	for i, line := range h.notes {
		w.raw(`<text class="key" x="`).num(headInset).raw(`" y="`).num(h.height + w.scene.Height + noteStep*(i+1) - 6).raw(`">`).text(line).raw("</text>\n")
	}
}
