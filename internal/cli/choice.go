package cli

import (
	"fmt"
	"slices"
	"strings"
)

// choice is the value of a flag that knows few values.
type choice struct {
	value string
	known []string
}

// String is the value.
func (k *choice) String() string { return k.value }

// Type is how help calls the value.
func (k *choice) Type() string { return "string" }

// Set takes one of the values that are known.
func (k *choice) Set(value string) error {
	if !slices.Contains(k.known, value) {
		return fmt.Errorf("must be %s%s", strings.Join(k.known, ", "), didYouMean(nearest(strings.ToLower(value), k.known)))
	}
	k.value = value
	return nil
}
