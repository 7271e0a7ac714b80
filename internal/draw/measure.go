package draw

import (
	"slices"

	"github.com/mattn/go-runewidth"

	"github.com/kubectl-gc/kubectl-gc/internal/render"
)

// Sizes of text, in pixels. No font that is asked for is wider; text is drawn on machines
// that nobody knows.
const (
	// NameSize and SmallSize are the sizes of fonts.
	NameSize  = 12
	SmallSize = 11
	// nameColumn and smallColumn are what a column of a monospaced name, and of a
	// proportional word, takes at the most on average.
	nameColumn  = 7.4
	smallColumn = 6.6
)

// columns counts as a terminal does, whatever the locale is.
var columns = &runewidth.Condition{StrictEmojiNeutral: true}

// NameWidth is the room that a name takes when it is shown.
func NameWidth(shown string) int { return int(nameColumn*float64(columns.StringWidth(shown))) + 1 }

// SmallWidth is the room that a small word takes when it is shown.
func SmallWidth(shown string) int { return int(smallColumn*float64(columns.StringWidth(shown))) + 1 }

// Columns is the number of columns that shown text takes.
func Columns(shown string) int { return columns.StringWidth(shown) }

// SmallColumns is the number of columns of small words that fit into the given room.
func SmallColumns(room int) int { return int(float64(room) / smallColumn) }

// FitName is a name as it may be shown in the given room, cut in its middle if need be.
func FitName(name string, room int) string {
	return Fit(render.Escape(name), int(float64(room)/nameColumn))
}

// FitSmall is FitName for a small word.
func FitSmall(word string, room int) string {
	return Fit(render.Escape(word), int(float64(room)/smallColumn))
}

// Fit leaves out the middle of a text, where generated names differ least from their
// neighbours' ends and beginnings.
func Fit(shown string, room int) string {
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
