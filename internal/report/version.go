package report

import (
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// RulesVersion is the version of Kubernetes whose behaviour is reproduced where a cluster is
// not known to be older.
const RulesVersion = "v1.37.2"

// Version says which program answers.
type Version struct {
	APIVersion string `json:"apiVersion"`
	Kind       string `json:"kind"`
	Version    string `json:"version"`
	// Rules is the version of Kubernetes whose rules are followed where a cluster is not known
	// to be older.
	Rules string `json:"rules"`
	// Measured are the versions of Kubernetes on which answers were compared with what
	// happened, the oldest first.
	Measured []MeasuredVersion `json:"measured"`
	Go       string            `json:"go"`
	// Platform is the operating system and the architecture, as linux/amd64.
	Platform string `json:"platform"`
	// Path is the file that runs.
	Path string `json:"path"`
	// Shadows are other files of PATH that kubectl runs instead of this one for some of
	// its commands, or that are hidden by this one.
	Shadows []string `json:"shadows"`
}

// MeasuredVersion is a version of Kubernetes on which answers were compared with what happened.
type MeasuredVersion struct {
	Version string `json:"version"`
	// Day is when that was, as 2026-11-26.
	Day string `json:"day"`
	// States is how many states were compared, and Wrong in how many something was not as
	// predicted.
	States int `json:"states"`
	Wrong  int `json:"wrong"`
}

// GetObjectKind gives printers the apiVersion and kind.
func (v *Version) GetObjectKind() schema.ObjectKind { return typeFields{&v.APIVersion, &v.Kind} }

// DeepCopyObject returns a copy that shares no memory that can be written.
func (v *Version) DeepCopyObject() runtime.Object { return deepCopy(v) }
