package object

import "testing"

func TestUnready(t *testing.T) {
	for _, tt := range []struct {
		printed Printed
		want    bool
	}{
		{Printed{}, false},
		{Printed{"1/1", "Running"}, false},
		{Printed{"0/1", "CrashLoopBackOff"}, true},
		{Printed{"0/1", "Completed"}, false},
		{Printed{"0/0", ""}, false},
		{Printed{"2/3", ""}, true},
		{Printed{"True", ""}, false},
		{Printed{"False", "Restoring"}, true},
		{Printed{"", "Ready"}, false},
		{Printed{"", "NotReady,SchedulingDisabled"}, true},
		{Printed{"", "Bound"}, false},
		{Printed{"", "Lost"}, true},
	} {
		if got := tt.printed.Unready(); got != tt.want {
			t.Errorf("%+v: %v", tt.printed, got)
		}
	}
}
