package kube

import (
	"net/http"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// TestDiscoveryRefused: without permission for discovery the error has the message of the server.
func TestDiscoveryRefused(t *testing.T) {
	for want, answer := range map[string]http.HandlerFunc{
		`User "ann" cannot impersonate resource "users"`: refuse(http.StatusForbidden, metav1.StatusReasonForbidden, func(s *metav1.Status) {
			s.Message = `forbidden: User "ann" cannot impersonate resource "users"`
		}),
		"you must be logged in to the server": refuse(http.StatusUnauthorized, metav1.StatusReasonUnauthorized),
	} {
		s, c := serve(t)
		for _, path := range []string{"/api", "/apis", "/version"} {
			s.on(path, answer)
		}
		if _, err := c.Discover(t.Context()); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("it says %v, want %q", err, want)
		}
	}
}
