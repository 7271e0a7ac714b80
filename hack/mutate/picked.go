package main

import (
	"fmt"
	"strings"
)

// picked is a change that somebody chose: it breaks one rule, and a scenario has
// to notice.
type picked struct {
	// file is the changed file, from the root of the module.
	file string
	// at is the line of the list where the change begins.
	at int
	// why names the rule that is broken and what becomes of it.
	why           string
	before, after []string
}

// parsePicked reads a list of changes.
//
//	file internal/engine/decide.go      the file of the changes that follow
//
//	S075 what becomes of it             a rule and a reason
//	- a line of the file                one or more, next to each other
//	+ what stands there instead         none or more
//
// Lines that begin with # are comments; indentation does not count.
func parsePicked(text string) ([]picked, error) {
	var list []picked
	file := ""
	for i, line := range strings.Split(text, "\n") {
		at := i + 1
		line = strings.TrimSpace(line)
		mark, rest, _ := strings.Cut(line, " ")
		rest = strings.TrimSpace(rest)
		last := len(list) - 1
		switch {
		case line == "" || strings.HasPrefix(mark, "#"):
		case mark == "file":
			file = rest
		case mark == "-" || mark == "+":
			if last < 0 || list[last].file != file {
				return nil, fmt.Errorf("line %d: no rule and reason above", at)
			}
			if err := list[last].add(mark, rest, at); err != nil {
				return nil, err
			}
		case file == "":
			return nil, fmt.Errorf("line %d: no file above", at)
		case rest == "":
			return nil, fmt.Errorf("line %d: %q is not a rule and a reason", at, line)
		default:
			list = append(list, picked{file: file, at: at, why: line})
		}
	}
	for _, p := range list {
		if len(p.before) == 0 {
			return nil, fmt.Errorf("line %d: %q changes no line", p.at, p.why)
		}
	}
	return list, nil
}

func (p *picked) add(mark, line string, at int) error {
	switch {
	case mark == "+":
		p.after = append(p.after, line)
	case line == "" && len(p.before) == 0:
		return fmt.Errorf("line %d: an empty line names no place", at)
	case len(p.after) > 0:
		return fmt.Errorf("line %d: a line to replace after a replacement", at)
	default:
		p.before = append(p.before, line)
	}
	return nil
}

// apply changes the text of the file. The lines have to stand there exactly
// once: a list that has fallen behind the code must not pass for one that was
// tried.
func (p picked) apply(text string) (string, error) {
	lines := strings.Split(text, "\n")
	var found []int
	for i := range lines {
		if p.standsAt(lines[i:]) {
			found = append(found, i)
		}
	}
	if len(found) != 1 {
		return "", fmt.Errorf("%q stands in %s %d times, not once", strings.Join(p.before, "\n"), p.file, len(found))
	}
	changed := append([]string{}, lines[:found[0]]...)
	changed = append(changed, p.after...)
	return strings.Join(append(changed, lines[found[0]+len(p.before):]...), "\n"), nil
}

// standsAt reports whether the lines begin with the ones to replace.
func (p picked) standsAt(lines []string) bool {
	if len(lines) < len(p.before) {
		return false
	}
	for i, line := range p.before {
		if strings.TrimSpace(lines[i]) != line {
			return false
		}
	}
	return true
}
