package draw

import (
	"slices"

	"github.com/mattn/go-runewidth"

	"github.com/kubectl-gc/kubectl-gc/internal/render"
)

// Sizes of text, in pixels. No font that is asked for is wider; text is drawn on machines
// that nobody knows.
const (
	// nameSize and smallSize are the sizes of fonts.
	nameSize  = 12
	smallSize = 11
	// nameColumn and smallColumn are what a column of a monospaced name, and of a
	// proportional word, takes at the most on average.
	nameColumn  = 7.4
	smallColumn = 6.6
)

// columns counts as a terminal does, whatever the locale is.
var columns = &runewidth.Condition{StrictEmojiNeutral: true}

// nameWidth is the room that a name takes when it is shown.
func nameWidth(shown string) int { return int(nameColumn*float64(columns.StringWidth(shown))) + 1 }

// smallWidth is the room that a small word takes when it is shown.
func smallWidth(shown string) int { return int(smallColumn*float64(columns.StringWidth(shown))) + 1 }

// columnsOf is the number of columns that shown text takes.
func columnsOf(shown string) int { return columns.StringWidth(shown) }

// smallColumns is the number of columns of small words that fit into the given room.
func smallColumns(room int) int { return int(float64(room) / smallColumn) }

// fitName is a name as it may be shown in the given room, cut in its middle if need be.
func fitName(name string, room int) string {
	return fit(render.Escape(name), int(float64(room)/nameColumn))
}

// fitSmall is fitName for a small word.
func fitSmall(word string, room int) string {
	return fit(render.Escape(word), int(float64(room)/smallColumn))
}

// fit leaves out the middle of a text, where generated names differ least from their
// neighbours' ends and beginnings.
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
