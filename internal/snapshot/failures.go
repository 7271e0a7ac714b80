package snapshot

import (
	"fmt"
	"slices"
	"strings"

	"github.com/go-json-experiment/json"
)

// readFailures reads a `<resource>-errors.json` of a support bundle: an array of messages, or
// messages by namespace. It takes precedence over every list of that resource.
func (r *reader) readFailures(l location, raw []byte) error {
	var content any
	if err := json.Unmarshal(raw, &content); err != nil {
		return fmt.Errorf("list of errors: %w", err)
	}
	if l.resource == "groups-resources" || l.resource == "groups" || l.resource == "resources" {
		r.addStaleDiscovery(content)
		return nil
	}
	switch content := content.(type) {
	case map[string]any:
		for namespace, message := range content {
			l.namespace = namespace
			r.addFailure(l, message)
		}
	case []any:
		for _, message := range content {
			r.addFailure(l, message)
		}
	case string:
		r.addFailure(l, content)
	}
	return nil
}

func (r *reader) addStaleDiscovery(content any) {
	if messages, ok := content.([]any); ok {
		for _, m := range messages {
			r.problems = append(r.problems, Problem{Kind: StaleDiscovery, Message: fmt.Sprintf("discovery failed when the dump was taken: %v", m)})
		}
	}
}

func (r *reader) addFailure(l location, message any) {
	text := strings.TrimSpace(messageText(message))
	if text == "" {
		return
	}
	r.failed = append(r.failed, failure{location: l, reason: reasonOf(text), text: text})
}

// messageText flattens the forms in which tools write an error: a text, several texts, or a Status
// of the API.
func messageText(message any) string {
	switch m := message.(type) {
	case string:
		return m
	case []any:
		var texts []string
		for _, element := range m {
			texts = append(texts, messageText(element))
		}
		return strings.Join(texts, "; ")
	case map[string]any:
		for _, key := range []string{"message", "ErrStatus", "error"} {
			if inner, ok := m[key]; ok {
				return messageText(inner)
			}
		}
		keys := make([]string, 0, len(m))
		for k := range m {
			keys = append(keys, k)
		}
		slices.Sort(keys)
		return strings.Join(keys, "; ")
	case nil:
		return ""
	default:
		return fmt.Sprint(m)
	}
}
