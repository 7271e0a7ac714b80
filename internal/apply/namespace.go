package apply

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
)

// verbPut is the verb of the intent that finalizes a namespace.
const verbPut = "PUT"

// withoutTokens returns a namespace without some of its spec.finalizers, as a body for the
// subresource finalize.
func withoutTokens(raw []byte, names []string) ([]byte, error) {
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber()
	var namespace map[string]any
	if err := d.Decode(&namespace); err != nil {
		return nil, fmt.Errorf("the namespace cannot be read: %w", err)
	}
	spec, ok := namespace["spec"].(map[string]any)
	if !ok {
		return nil, errors.New("the namespace has no spec")
	}
	tokens, _ := spec["finalizers"].([]any)
	spec["finalizers"] = slices.DeleteFunc(slices.Clone(tokens), func(token any) bool {
		name, _ := token.(string)
		return slices.Contains(names, name)
	})
	return json.Marshal(namespace)
}
