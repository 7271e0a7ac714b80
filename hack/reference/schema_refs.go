package main

import "slices"

// wholeReferences are the fields in which a document that names objects by their uids names them
// in whole, by type and name in JSON.
var wholeReferences = map[string]bool{"Effect.object": true, "Seed.targets": true}

// byUID is a reference in such a document: either in whole, or nothing but the uid.
func byUID(whole *node) *node {
	n := *whole
	n.Description += " Where the uid leads to one effect, which has the whole reference, it stands alone."
	n.Required = []string{"uid"}
	n.Dependent = map[string][]string{"namespace": wholeFields}
	for _, field := range wholeFields {
		n.Dependent[field] = slices.DeleteFunc(slices.Clone(wholeFields), func(other string) bool { return other == field })
	}
	return &n
}

// wholeFields are the fields that a whole reference has beside the uid.
var wholeFields = []string{"apiVersion", "kind", "name"}

// inWhole is a reference, or a list of them, that is always in whole.
func inWhole(n *node) *node {
	if n.Items != nil {
		n.Items = inWhole(n.Items)
		return n
	}
	return &node{Ref: n.Ref, Required: wholeFields}
}
