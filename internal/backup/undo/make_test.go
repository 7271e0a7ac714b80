package undo

// Make plans an undo with only a lookup.
func Make(saved []Saved, lookup Lookup) *Plan { return Resume(saved, Cluster{Lookup: lookup}, nil) }
