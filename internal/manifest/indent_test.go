package manifest

import (
	"bytes"
	"encoding/json"
)

// indent formats JSON like kubectl: indented by four.
func indent(to *bytes.Buffer, text []byte) error { return json.Indent(to, text, "", "    ") }
