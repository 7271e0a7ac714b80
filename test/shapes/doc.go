// Package shapes makes clusters of the shapes that real ones have, of any size, to
// measure and to count what the program does with them.
//
// A cluster is drawn from a seed: the same shape, size and seed give the same bytes. A
// larger one has more of the same, in about the same proportions.
package shapes
