package plan

// SimulateWhole is Simulate on the whole snapshot.
var SimulateWhole = simulate

// IsPart reports whether only a part of the snapshot was simulated.
func (r *Result) IsPart() bool { return len(r.run.notSimulated()) > 0 }
