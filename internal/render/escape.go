package render

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Escape makes all characters visible that a terminal would interpret or not show: controls,
// bidirectional and zero-width characters, blanks except the ASCII one, line and paragraph
// separators, unassigned characters and invalid UTF-8. They become `\x1b`, `\u202e` or
// `\U000e0001`. A backslash is doubled only where it could be mistaken for the start of such a
// sequence, so that different names always look different.
//
// Text without such characters is returned unchanged. (spec X01–X03)
func Escape(s string) string { return escape(s, false) }

// EscapeLines is Escape for messages with several lines: it keeps line breaks.
func EscapeLines(message string) string {
	lines := strings.Split(message, "\n")
	for i, line := range lines {
		lines[i] = Escape(line)
	}
	return strings.Join(lines, "\n")
}

// escape is Escape. With ascii, it also escapes all characters beyond ASCII.
func escape(s string, ascii bool) string {
	i := firstUnclean(s, ascii)
	if i < 0 {
		return s
	}
	var b strings.Builder
	b.Grow(len(s) + 16)
	b.WriteString(s[:i])
	for i < len(s) {
		r, size := utf8.DecodeRuneInString(s[i:])
		switch {
		case r == utf8.RuneError && size == 1:
			fmt.Fprintf(&b, `\x%02x`, s[i])
		case r == '\\':
			b.WriteByte('\\')
			if isAmbiguous(s[i+1:], ascii) {
				b.WriteByte('\\')
			}
		case isVisible(r, ascii):
			b.WriteString(s[i : i+size])
		default:
			writeSequence(&b, r)
		}
		i += size
	}
	return b.String()
}

func firstUnclean(s string, ascii bool) int {
	for i, r := range s {
		if r == '\\' && isAmbiguous(s[i+1:], ascii) || r == utf8.RuneError && !strings.HasPrefix(s[i:], string(r)) || !isVisible(r, ascii) {
			return i
		}
	}
	return -1
}

// isAmbiguous reports whether a backslash before rest would read as the start of a sequence or of a
// doubled backslash.
func isAmbiguous(rest string, ascii bool) bool {
	if rest == "" {
		return false
	}
	switch rest[0] {
	case '\\':
		return true
	case 'x':
		return startsWithHex(rest[1:], 2)
	case 'u':
		return startsWithHex(rest[1:], 4)
	case 'U':
		return startsWithHex(rest[1:], 8)
	}
	r, size := utf8.DecodeRuneInString(rest)
	return r == utf8.RuneError && size == 1 || !isVisible(r, ascii)
}

func startsWithHex(s string, n int) bool {
	return len(s) >= n && strings.Trim(s[:n], hexDigits) == ""
}

const hexDigits = "0123456789abcdefABCDEF"

// isVisible reports whether a terminal displays r as a glyph without side effects.
func isVisible(r rune, ascii bool) bool {
	if r < utf8.RuneSelf {
		return ' ' <= r && r < 0x7f
	}
	return !ascii && unicode.IsPrint(r) && !unicode.Is(invisible, r)
}

// invisible are the invisible characters that Unicode counts as letters or marks.
var invisible = &unicode.RangeTable{
	R16: []unicode.Range16{
		{Lo: 0x034f, Hi: 0x034f, Stride: 1}, // combining grapheme joiner
		{Lo: 0x115f, Hi: 0x1160, Stride: 1}, // Hangul fillers
		{Lo: 0x17b4, Hi: 0x17b5, Stride: 1}, // Khmer inherent vowels
		{Lo: 0x180b, Hi: 0x180f, Stride: 1}, // Mongolian selectors
		{Lo: 0x2800, Hi: 0x2800, Stride: 1}, // Braille blank
		{Lo: 0x3164, Hi: 0x3164, Stride: 1}, // Hangul filler
		{Lo: 0xfe00, Hi: 0xfe0f, Stride: 1}, // variation selectors
		{Lo: 0xffa0, Hi: 0xffa0, Stride: 1}, // halfwidth Hangul filler
	},
	R32: []unicode.Range32{
		{Lo: 0xe0100, Hi: 0xe01ef, Stride: 1}, // variation selectors supplement
	},
}

func writeSequence(b *strings.Builder, r rune) {
	switch {
	case r < utf8.RuneSelf:
		fmt.Fprintf(b, `\x%02x`, r)
	case r <= 0xffff:
		fmt.Fprintf(b, `\u%04x`, r)
	default:
		fmt.Fprintf(b, `\U%08x`, r)
	}
}
