package object

import (
	"slices"
	"strings"
)

// Labels is a set of labels as one canonical string: `key NUL value NUL` for each, sorted by key.
// It costs two words and can be shared and compared. It implements apimachinery's labels.Labels, so
// selectors match it directly.
type Labels string

// LabelsOf returns the canonical form.
func LabelsOf(m map[string]string) Labels {
	if len(m) == 0 {
		return ""
	}
	keys := make([]string, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	var b strings.Builder
	for _, k := range keys {
		b.WriteString(k)
		b.WriteByte(0)
		b.WriteString(m[k])
		b.WriteByte(0)
	}
	return Labels(b.String())
}

// All calls yield for each label in key order until it returns false.
func (l Labels) All(yield func(key, value string) bool) {
	rest := string(l)
	for rest != "" {
		key, tail, _ := strings.Cut(rest, "\x00")
		value, next, _ := strings.Cut(tail, "\x00")
		if !yield(key, value) {
			return
		}
		rest = next
	}
}

// Lookup returns the value of a label and whether it exists.
func (l Labels) Lookup(label string) (value string, exists bool) {
	for k, v := range l.All {
		if k == label {
			return v, true
		}
	}
	return "", false
}

// Has reports whether the label exists.
func (l Labels) Has(label string) bool {
	_, ok := l.Lookup(label)
	return ok
}

// Get returns the value of a label, "" if it doesn't exist.
func (l Labels) Get(label string) string {
	v, _ := l.Lookup(label)
	return v
}
