package report

// MayHang are the finalizers for which it is unknown whether anything removes them, if
// they alone decide whether a blocked object goes; empty if it is known that it stays.
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
