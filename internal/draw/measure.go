package draw

import (
	"slices"

	"github.com/mattn/go-runewidth"

	"github.com/kubectl-gc/kubectl-gc/internal/render"
)

// Sizes of text, in pixels. They are upper bounds for all requested fonts, since the rendering
// machine is unknown.
const (
	// nameSize and smallSize are font sizes.
	nameSize  = 12
	smallSize = 11
	// nameColumn and smallColumn are the maximum average widths of a column: of a monospaced name,
	// and of a proportional word.
	nameColumn  = 7.4
	smallColumn = 6.6
)

// columns counts terminal columns, independent of the locale.
var columns = &runewidth.Condition{StrictEmojiNeutral: true}

// nameWidth returns the width of an escaped name.
func nameWidth(shown string) int { return int(nameColumn*float64(columns.StringWidth(shown))) + 1 }

// smallWidth returns the width of an escaped small word.
func smallWidth(shown string) int { return int(smallColumn*float64(columns.StringWidth(shown))) + 1 }

// columnsOf returns the number of columns of escaped text.
func columnsOf(shown string) int { return columns.StringWidth(shown) }

// smallColumns returns the number of columns of small text that fit into a width.
func smallColumns(room int) int { return int(float64(room) / smallColumn) }

// fitName escapes a name, and cuts its middle if it exceeds the width.
func fitName(name string, room int) string {
	return fit(render.Escape(name), int(float64(room)/nameColumn))
}

// fitSmall is fitName for a small word.
func fitSmall(word string, room int) string {
	return fit(render.Escape(word), int(float64(room)/smallColumn))
}

// fit cuts the middle of a text: generated names differ mostly at their ends.
func fit(shown string, room int) string {
	if columns.StringWidth(shown) <= room {
		return shown
	}
	runes := []rune(shown)
	head, tail := (room-1)-(room-1)/2, (room-1)/2
	from, to := 0, len(runes)
	for from < to && columns.RuneWidth(runes[from]) <= head {
		head -= columns.RuneWidth(runes[from])
		from++
	}
	for to > from && columns.RuneWidth(runes[to-1]) <= tail {
		tail -= columns.RuneWidth(runes[to-1])
		to--
	}
	return string(slices.Concat(runes[:from], []rune{'…'}, runes[to:]))
}
