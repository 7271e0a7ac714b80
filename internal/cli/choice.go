package cli

import (
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/pflag"
)

// choice is the value of a flag that knows few values.
type choice struct {
	value *string
	// known are the values that it may have.
	known []string
}

// addChoice adds a flag that has one of some values.
func addChoice(f *pflag.FlagSet, value *string, name, usual, help string, known ...string) *pflag.Flag {
	*value = usual
	return f.VarPF(&choice{value, known}, name, "", help)
}

// String is the value.
func (k *choice) String() string { return *k.value }

// Type is how help calls the value.
func (k *choice) Type() string { return "string" }

// Set takes one of the values that are known.
func (k *choice) Set(value string) error {
	if !slices.Contains(k.known, value) {
		last := len(k.known) - 1
		return fmt.Errorf("must be %s or %s%s", strings.Join(k.known[:last], ", "), k.known[last], didYouMean(nearest(strings.ToLower(value), k.known)))
	}
	*k.value = value
	return nil
}
