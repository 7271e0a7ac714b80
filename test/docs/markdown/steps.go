package markdown

import (
	"fmt"
	"strings"
)

// Step is one command of a block, and what the page shows below it.
type Step struct {
	Statement
	// Output is what the page shows, if the block is one that shows outputs.
	Output string
}

// Prompt begins a command in a block that shows outputs.
const Prompt = "$ "

// Steps are the commands of a shell block.
func (b Block) Steps() ([]Step, error) {
	if b.Language != "console" {
		list, err := Statements(b.Language, b.Text)
		steps := make([]Step, len(list))
		for i, s := range list {
			steps[i] = Step{Statement: s}
		}
		return steps, err
	}
	var steps []Step
	command, continued := "", false
	for i, line := range strings.SplitAfter(b.Text, "\n") {
		typed, begins := strings.CutPrefix(line, Prompt)
		switch {
		case continued:
			command += line
		case begins:
			command = typed
			steps = append(steps, Step{Statement: Statement{Line: i}})
		case len(steps) == 0 && line != "":
			return nil, fmt.Errorf("a console block begins with %q and a command", Prompt)
		default:
			if len(steps) > 0 {
				steps[len(steps)-1].Output += line
			}
			continue
		}
		if continued = strings.HasSuffix(strings.TrimRight(line, "\n"), `\`); continued {
			continue
		}
		list, err := Statements(b.Language, command)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", strings.TrimSpace(command), err)
		}
		last := &steps[len(steps)-1]
		last.Text = strings.TrimRight(command, "\n")
		for _, s := range list {
			last.Calls = append(last.Calls, s.Calls...)
		}
	}
	return steps, nil
}

// Shows is the block with other outputs.
func (b Block) Shows(steps []Step, outputs []string) string {
	var out strings.Builder
	for i, s := range steps {
		out.WriteString(Prompt + s.Text + "\n" + outputs[i])
		if outputs[i] != "" && !strings.HasSuffix(outputs[i], "\n") {
			out.WriteString("\n")
		}
	}
	return out.String()
}
