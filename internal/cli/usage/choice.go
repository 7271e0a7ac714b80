package usage

import (
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/pflag"
)

// Choice is the value of a flag with a fixed set of values.
type Choice struct {
	value *string
	// Known are the listed values.
	Known []string
	// Old are accepted values that are not listed.
	Old []string
}

// AddChoice adds a flag with a fixed set of values.
func AddChoice(f *pflag.FlagSet, value *string, name, usual, help string, known ...string) *pflag.Flag {
	*value = usual
	return f.VarPF(&Choice{value: value, Known: known}, name, "", help)
}

// String returns the value.
func (k *Choice) String() string { return *k.value }

// Type returns the type of the value in the help.
func (k *Choice) Type() string { return "string" }

// Set accepts one of the known or old values.
func (k *Choice) Set(value string) error {
	if !slices.Contains(k.Known, value) && !slices.Contains(k.Old, value) {
		last := len(k.Known) - 1
		return fmt.Errorf("must be %s or %s%s", strings.Join(k.Known[:last], ", "), k.Known[last], DidYouMean(Nearest(strings.ToLower(value), k.Known)))
	}
	*k.value = value
	return nil
}
