package manifest

import (
	"bytes"
	"encoding/json"
)

// indent writes JSON as kubectl does: indented by four.
func indent(to *bytes.Buffer, text []byte) error { return json.Indent(to, text, "", "    ") }
