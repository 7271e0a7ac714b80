package report

import "strings"

// ShellWord quotes a text so that a shell reads it as one word, also at an interactive prompt,
// where more characters are special than in a script. Names are untrusted. (docs/adr/0031)
func ShellWord(text string) string {
	if text != "" && text[0] != '=' && !strings.ContainsFunc(text, special) {
		return text
	}
	return "'" + strings.ReplaceAll(text, "'", `'\''`) + "'"
}

// special reports whether r may be special to a shell.
func special(r rune) bool {
	letter := r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z'
	digit := r >= '0' && r <= '9'
	return !letter && !digit && !strings.ContainsRune("-_./:=,@%+", r)
}
