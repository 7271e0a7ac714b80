package usage

import (
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/pflag"
)

// Choice is the value of a flag that knows few values.
type Choice struct {
	value *string
	// Known are the values that it may have.
	Known []string
	// Old are values that it may have and nobody is told of.
	Old []string
}

// AddChoice adds a flag that has one of some values.
func AddChoice(f *pflag.FlagSet, value *string, name, usual, help string, known ...string) *pflag.Flag {
	*value = usual
	return f.VarPF(&Choice{value: value, Known: known}, name, "", help)
}

// String is the value.
func (k *Choice) String() string { return *k.value }

// Type is how help calls the value.
func (k *Choice) Type() string { return "string" }

// Set takes one of the values that are known.
func (k *Choice) Set(value string) error {
	if !slices.Contains(k.Known, value) && !slices.Contains(k.Old, value) {
		last := len(k.Known) - 1
		return fmt.Errorf("must be %s or %s%s", strings.Join(k.Known[:last], ", "), k.Known[last], DidYouMean(Nearest(strings.ToLower(value), k.Known)))
	}
	*k.value = value
	return nil
}
