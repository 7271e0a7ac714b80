package undo

import "testing"

func TestEveryReasonHasText(t *testing.T) {
	for _, r := range SkipReasons() {
		if r.Text() == "" {
			t.Errorf("%s has no text", r)
		}
	}
	for _, r := range DropReasons() {
		if r.Text() == "" {
			t.Errorf("%s has no text", r)
		}
	}
	for _, n := range Notes() {
		if n.Text() == "" {
			t.Errorf("%s has no text", n)
		}
	}
}
