package render

import (
	"strconv"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"pgregory.net/rapid"
)

func TestEscape(t *testing.T) {
	for _, tt := range []struct{ name, in, want string }{
		{"plain", `web-1`, `web-1`},
		{"letters of all scripts", "späße Ελλάδα 数据库 🚀", "späße Ελλάδα 数据库 🚀"},
		{"replacement character that is really there", "a\ufffdb", "a\ufffdb"},
		{"C0", "a\x1b[31m\r\n\x00", `a\x1b[31m\x0d\x0a\x00`},
		{"DEL", "\x7f", `\x7f`},
		{"C1", "\u0085\u009b", `\u0085\u009b`},
		{"bidi", "\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069\u200e\u200f\u061c",
			`\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069\u200e\u200f\u061c`},
		{"zero width", "a\u200b\u200c\u200d\u2060\ufeffb", `a\u200b\u200c\u200d\u2060\ufeffb`},
		{"blanks and fillers", "\u00a0\u3000\u3164\u00ad\ufe0f", `\u00a0\u3000\u3164\u00ad\ufe0f`},
		{"line separators", "\u2028\u2029", `\u2028\u2029`},
		{"tags and private use", "\U000e0041\ue000", `\U000e0041\ue000`},
		{"bytes that are not UTF-8", "\xff\xc3(", `\xff\xc3(`},
		{"a lone surrogate in bytes", "\xed\xa0\x80", `\xed\xa0\x80`},
		{"backslash of a path", `C:\new\temp`, `C:\new\temp`},
		{"backslash that looks like ours", `\x1b \u202e \U000e0041`, `\\x1b \\u202e \\U000e0041`},
		{"backslash before one", "\\\u202e", `\\\u202e`},
		{"backslash before a backslash", `\\a`, `\\\a`},
		{"backslash at the end", `a\`, `a\`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if got := Escape(tt.in); got != tt.want {
				t.Errorf("Escape(%q)\n got %s\nwant %s", tt.in, got, tt.want)
			}
		})
	}
}

func TestEscapeASCII(t *testing.T) {
	if got, want := escape("späße\\\u00e4 🚀", true), `sp\u00e4\u00dfe\\\u00e4 \U0001f680`; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

// unescape decodes the sequences: two different texts must differ after escaping.
func unescape(s string) string {
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		if s[i] != '\\' || i+1 == len(s) {
			b.WriteByte(s[i])
			continue
		}
		digits := map[byte]int{'x': 2, 'u': 4, 'U': 8}[s[i+1]]
		switch {
		case s[i+1] == '\\':
			b.WriteByte('\\')
			i++
		case digits > 0 && startsWithHex(s[i+2:], digits):
			n, err := strconv.ParseUint(s[i+2:i+2+digits], 16, 32)
			if err != nil {
				panic(err)
			}
			if digits == 2 {
				b.WriteByte(byte(n))
			} else {
				b.WriteRune(rune(n))
			}
			i += 1 + digits
		default:
			b.WriteByte('\\')
		}
	}
	return b.String()
}

// dangerous reports whether a character must never reach a terminal, independently of Escape.
func dangerous(r rune) bool {
	switch {
	case r < 0x20, r >= 0x7f && r <= 0x9f: // C0, DEL, C1
		return true
	case r >= 0x202a && r <= 0x202e, r >= 0x2066 && r <= 0x2069, r == 0x200e, r == 0x200f, r == 0x061c: // bidi
		return true
	case r >= 0x200b && r <= 0x200d, r == 0x2060, r == 0xfeff, r == 0x00ad, r == 0x2028, r == 0x2029:
		return true
	}
	return unicode.In(r, unicode.Cf, unicode.Cs, unicode.Co)
}

type reporter interface {
	Helper()
	Errorf(format string, args ...any)
}

func assertEscaped(t reporter, in string, ascii bool) {
	t.Helper()
	out := escape(in, ascii)
	if !utf8.ValidString(out) {
		t.Errorf("escape(%q) is not UTF-8: %q", in, out)
	}
	clean := utf8.ValidString(in) && !strings.Contains(in, `\`)
	for _, r := range in {
		clean = clean && isVisible(r, ascii)
	}
	for _, r := range out {
		if dangerous(r) || ascii && r > 0x7e {
			t.Errorf("escape(%q) has %q: %q", in, r, out)
		}
	}
	if clean && out != in {
		t.Errorf("clean text %q became %q", in, out)
	}
	if back := unescape(out); back != in {
		t.Errorf("escape(%q) = %q reads back as %q", in, out, back)
	}
}

func TestEscapeProperty(t *testing.T) {
	piece := rapid.OneOf(
		rapid.String(),
		rapid.SampledFrom([]string{`\`, `\\`, `\x`, `1b`, `u202e`, "\u202e", "\x1b", "\xff", "x", "U", "0000", "ä", "\u200b", "\n"}),
		rapid.Map(rapid.SliceOf(rapid.Byte()), func(b []byte) string { return string(b) }),
	)
	rapid.Check(t, func(t *rapid.T) {
		assertEscaped(t, strings.Join(rapid.SliceOf(piece).Draw(t, "pieces"), ""), rapid.Bool().Draw(t, "ascii"))
	})
}

func FuzzEscape(f *testing.F) {
	for _, s := range hostileNames {
		f.Add(s, false)
		f.Add(s, true)
	}
	f.Fuzz(func(t *testing.T, s string, ascii bool) { assertEscaped(t, s, ascii) })
}

func BenchmarkEscapeClean(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		Escape("endpointslice.discovery.k8s.io/web-7f5d8c9b6d-x2x9z")
	}
}
