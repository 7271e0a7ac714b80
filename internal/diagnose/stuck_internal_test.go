package diagnose

import "testing"

// TestOnlyRemains: the namespace controller calls it a failure when content is still
// there; other failures are ones.
func TestOnlyRemains(t *testing.T) {
	const still = "unexpected items still remain in namespace: shop for gvr: /v1, Resource=pods"
	for message, want := range map[string]bool{
		"Failed to delete all resource types, 1 remaining: " + still:                                                  true,
		"Failed to delete all resource types, 2 remaining: " + still + ", " + still:                                   true,
		"Failed to delete all resource types, 2 remaining: " + still + ", conversion webhook for a/v1, Kind=B failed": false,
		"Failed to delete all resource types, 2 remaining: conversion webhook for a/v1, Kind=B failed: x, " + still:   false,
		"Failed to delete all resource types, 1 remaining: Internal error occurred: failed calling webhook \"a\"":     false,
		"something else": false,
	} {
		if got := onlyRemains(message); got != want {
			t.Errorf("%q: %v", message, got)
		}
	}
}

// TestSentences: every code of Stuck has its sentence.
func TestSentences(t *testing.T) {
	for _, c := range StuckCodes() {
		if sentences[c.Code] == nil {
			t.Errorf("%s has no sentence", c.Code)
		}
	}
	if len(sentences) != len(StuckCodes()) {
		t.Errorf("%d sentences for %d codes", len(sentences), len(StuckCodes()))
	}
}
