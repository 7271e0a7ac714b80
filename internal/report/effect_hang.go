package report

// MayHang returns the finalizers that may or may not be removed, if they alone decide whether a
// blocked object is deleted. It returns nil if the object is known to stay.
func (e *Effect) MayHang() []Release {
	if e.Outcome != Blocked || e.Later != Deleted || e.Reason == "InUse" {
		return nil
	}
	var open []Release
	for _, r := range e.Once {
		switch r.State {
		case ControllerUnknown, ControllerGuards:
			open = append(open, r)
		case ControllerGone:
			return nil
		case ControllerRuns:
		}
	}
	return open
}
