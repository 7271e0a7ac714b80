package docs

import (
	"fmt"
	"strings"
)

// step is one command of a block, and what the page shows below it.
type step struct {
	statement
	// output is what the page shows, if the block is one that shows outputs.
	output string
}

// prompt begins a command in a block that shows outputs.
const prompt = "$ "

// steps are the commands of a shell block.
func (b block) steps() ([]step, error) {
	if b.language != "console" {
		list, err := statements(b.language, b.text)
		steps := make([]step, len(list))
		for i, s := range list {
			steps[i] = step{statement: s}
		}
		return steps, err
	}
	var steps []step
	command, continued := "", false
	for i, line := range strings.SplitAfter(b.text, "\n") {
		typed, begins := strings.CutPrefix(line, prompt)
		switch {
		case continued:
			command += line
		case begins:
			command = typed
			steps = append(steps, step{statement: statement{line: i}})
		case len(steps) == 0 && line != "":
			return nil, fmt.Errorf("a console block begins with %q and a command", prompt)
		default:
			if len(steps) > 0 {
				steps[len(steps)-1].output += line
			}
			continue
		}
		if continued = strings.HasSuffix(strings.TrimRight(line, "\n"), `\`); continued {
			continue
		}
		list, err := statements(b.language, command)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", strings.TrimSpace(command), err)
		}
		last := &steps[len(steps)-1]
		last.text = strings.TrimRight(command, "\n")
		for _, s := range list {
			last.calls = append(last.calls, s.calls...)
		}
	}
	return steps, nil
}

// shows is the block with other outputs.
func (b block) shows(steps []step, outputs []string) string {
	var out strings.Builder
	for i, s := range steps {
		out.WriteString(prompt + s.text + "\n" + outputs[i])
		if outputs[i] != "" && !strings.HasSuffix(outputs[i], "\n") {
			out.WriteString("\n")
		}
	}
	return out.String()
}
