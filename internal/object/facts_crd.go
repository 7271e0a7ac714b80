package object

import (
	"slices"
)

// Definition returns nil unless the object is a CustomResourceDefinition.
func (o *Object) Definition() *CRDFacts {
	f, _ := o.lifecycle().Facts.(*CRDFacts)
	return f
}

// CRDFacts are the fields of a CustomResourceDefinition that describe its instances.
type CRDFacts struct {
	Group      string       `json:"group"`
	Kind       string       `json:"kind"`
	Plural     string       `json:"plural"`
	Singular   string       `json:"singular,omitzero"`
	ShortNames []string     `json:"short,omitempty"`
	Categories []string     `json:"categories,omitempty"`
	Namespaced bool         `json:"namespaced,omitzero"`
	Versions   []CRDVersion `json:"versions,omitempty"`
	// Stored are status.storedVersions: instances may be stored in each of them.
	Stored []string `json:"stored,omitempty"`
	// Established and Terminating are conditions of the status.
	Established bool `json:"established,omitzero"`
	Terminating bool `json:"terminating,omitzero"`
}

// CRDVersion is one entry of a CustomResourceDefinition's spec.versions.
type CRDVersion struct {
	Name    string `json:"name"`
	Served  bool   `json:"served,omitzero"`
	Storage bool   `json:"storage,omitzero"`
}

func (d *CRDFacts) store(s *StoredFacts) { s.CRD = d }

// Share does nothing: there is nothing to share.
func (d *CRDFacts) Share(func(string) string) {}

func (d *CRDFacts) equal(x Facts) bool {
	y, ok := x.(*CRDFacts)
	return ok && d.Group == y.Group && d.Kind == y.Kind && d.Plural == y.Plural && d.Singular == y.Singular &&
		d.Namespaced == y.Namespaced && d.Established == y.Established && d.Terminating == y.Terminating &&
		slices.Equal(d.ShortNames, y.ShortNames) && slices.Equal(d.Categories, y.Categories) &&
		slices.Equal(d.Versions, y.Versions) && slices.Equal(d.Stored, y.Stored)
}
