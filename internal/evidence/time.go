package evidence

import (
	"encoding/json"
	"time"
)

// stamp is a time in seconds since 1970. An invalid time becomes 0 without an error: a single odd
// entry must not hide the rest.
type stamp struct{ seconds int64 }

// UnmarshalJSON reads the two forms that Kubernetes writes.
func (s *stamp) UnmarshalJSON(raw []byte) error {
	var text string
	if err := json.Unmarshal(raw, &text); err == nil {
		s.seconds = seconds(text)
	}
	return nil
}

func seconds(text string) int64 {
	t, err := time.Parse(time.RFC3339Nano, text)
	if err != nil {
		return 0
	}
	return t.Unix()
}
