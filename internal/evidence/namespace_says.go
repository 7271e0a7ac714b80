package evidence

import (
	"regexp"
	"strings"
)

// Remaining returns the resources, as kubectl accepts them, whose objects the namespace controller
// found in its last attempt to empty a namespace. It is empty if the condition does not say.
//
// Upstream: pkg/controller/namespace/deletion/status_condition_utils.go ProcessContentTotals.
func (s *Surroundings) Remaining(namespace string) []string {
	list, _ := s.ConditionsOfNamespace(namespace)
	c, _ := Find(list, "NamespaceContentRemaining")
	if !c.True() {
		return nil
	}
	var resources []string
	for _, found := range remaining.FindAllStringSubmatch(c.Message, -1) {
		resources = append(resources, strings.TrimSuffix(found[1], "."))
	}
	return resources
}

var (
	remaining = regexp.MustCompile(`([a-z0-9]+\.[a-z0-9.-]*) has [0-9]+ resource instances`)
	failing   = regexp.MustCompile(`\b([a-z0-9](?:[a-z0-9.-]*[a-z0-9])?)/(v[0-9][a-z0-9]*): `)
	calling   = regexp.MustCompile(`failed calling webhook "([^"]+)"`)
)

// UnansweredAPIs returns the APIServices that a message of the namespace controller reports as
// failing.
//
// Upstream: client-go/discovery/discovery_client.go ErrGroupDiscoveryFailed.Error.
func UnansweredAPIs(message string) []string {
	var names []string
	for _, found := range failing.FindAllStringSubmatch(message, -1) {
		names = append(names, found[2]+"."+found[1])
	}
	return names
}

// CalledWebhook returns the webhook that a message of the API server reports as failed; "" for
// none.
//
// Upstream: apiserver/pkg/util/webhook/error.go ErrCallingWebhook.Error.
func CalledWebhook(message string) string {
	if found := calling.FindStringSubmatch(message); found != nil {
		return found[1]
	}
	return ""
}
