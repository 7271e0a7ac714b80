package scenario

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/cockroachdb/datadriven"
)

// args reads the arguments of a directive, each once; what is left over or
// malformed is an error.
type args struct {
	d    *datadriven.TestData
	used map[string]bool
	err  error
}

func readArgs(d *datadriven.TestData) *args { return &args{d: d, used: map[string]bool{}} }

func (a *args) words(key string) []string {
	a.used[key] = true
	for _, arg := range a.d.CmdArgs {
		if arg.Key == key {
			var words []string
			for _, v := range arg.Vals {
				words = append(words, strings.Split(v, ",")...)
			}
			return words
		}
	}
	return nil
}

func (a *args) word(key string) string { return strings.Join(a.words(key), ",") }

func (a *args) has(key string) bool {
	a.used[key] = true
	return a.d.HasArg(key)
}

func (a *args) number(key string, otherwise int) int {
	w := a.word(key)
	if w == "" {
		return otherwise
	}
	n, err := strconv.Atoi(w)
	if err != nil || n < 0 {
		a.err = fmt.Errorf("%s=%s is not a number", key, w)
	}
	return n
}

func (a *args) done() error {
	for _, arg := range a.d.CmdArgs {
		if !a.used[arg.Key] {
			return fmt.Errorf("%s takes no argument %q", a.d.Cmd, arg.Key)
		}
	}
	return a.err
}
