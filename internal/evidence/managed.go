package evidence

import (
	"encoding/json"
	"strings"
)

// Writer is an entry of managedFields that owns finalizers.
type Writer struct {
	// Name is the field manager, by default the name of the client's program.
	Name string `json:"name,omitzero"`
	// Operation is Apply or Update.
	Operation   string `json:"operation,omitzero"`
	Subresource string `json:"subresource,omitzero"`
	// Time is when it wrote last, in seconds since 1970. 0 if unknown.
	Time int64 `json:"time,omitzero"`
	// Finalizers are those that it owns, sorted.
	Finalizers []string `json:"finalizers,omitempty"`
}

type managed struct {
	Manager     string          `json:"manager"`
	Operation   string          `json:"operation"`
	Subresource string          `json:"subresource"`
	Time        stamp           `json:"time"`
	Fields      json.RawMessage `json:"fieldsV1"`
}

// writers returns the entries that own finalizers.
//
// In fieldsV1 an element of a set is the key `v:` followed by its value as JSON. See
// fieldpath/serialize-pe.go of structured-merge-diff.
func writers(entries []managed) []Writer {
	var list []Writer
	for _, e := range entries {
		var fields struct {
			Metadata struct {
				Finalizers map[string]json.RawMessage `json:"f:finalizers"`
			} `json:"f:metadata"`
		}
		if decode(e.Fields, &fields) != nil {
			continue
		}
		owned := map[string]bool{}
		for key := range fields.Metadata.Finalizers {
			text, isValue := strings.CutPrefix(key, "v:")
			var name string
			if isValue && json.Unmarshal([]byte(text), &name) == nil {
				owned[name] = true
			}
		}
		if len(owned) > 0 {
			list = append(list, Writer{Name: e.Manager, Operation: e.Operation, Subresource: e.Subresource,
				Time: e.Time.seconds, Finalizers: keys(owned)})
		}
	}
	return list
}
