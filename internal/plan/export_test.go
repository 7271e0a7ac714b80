package plan

// SimulateWhole is Simulate without looking what a delete may reach.
var SimulateWhole = simulate

// IsPart reports whether only a part of the snapshot was simulated.
func (r *Result) IsPart() bool { return len(r.run.beside()) > 0 }
