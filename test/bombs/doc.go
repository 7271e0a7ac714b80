// Package bombs feeds the program inputs that are made to exhaust memory, each to a
// process of its own whose peak of resident memory is measured.
package bombs
