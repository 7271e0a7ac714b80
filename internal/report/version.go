package report

import (
	"k8s.io/apimachinery/pkg/runtime"
)

// RulesVersion is the version of Kubernetes that is simulated unless a cluster is known to be
// older.
const RulesVersion = "v1.37.2"

// Version describes the running program.
type Version struct {
	Header

	Version string `json:"version"`
	// Rules is the version of Kubernetes that is simulated unless a cluster is known to be older.
	Rules string `json:"rules"`
	// Measured are the versions of Kubernetes that answers were measured on, the oldest first.
	Measured []MeasuredVersion `json:"measured"`
	Go       string            `json:"go"`
	// Platform is the operating system and the architecture, such as linux/amd64.
	Platform string `json:"platform"`
	// Path is the file of the running program.
	Path string `json:"path"`
	// Shadows are other files in PATH that kubectl runs instead of this one for some of its
	// commands, or that this one hides.
	Shadows []string `json:"shadows"`
}

// MeasuredVersion is a version of Kubernetes that answers were measured on: compared with what
// happened.
type MeasuredVersion struct {
	Version string `json:"version"`
	// Day is the day of the measurement, such as 2026-11-26.
	Day string `json:"day"`
	// States is the number of compared states. Wrong is the number of those with a wrong
	// prediction.
	States int `json:"states"`
	Wrong  int `json:"wrong"`
}

// DeepCopyObject returns a copy that shares no memory that can be written.
func (v *Version) DeepCopyObject() runtime.Object { return deepCopy(v) }
