package evidence

import (
	"regexp"
	"strings"
)

// Remaining are the resources of which the namespace controller has found objects when it last tried
// to empty a namespace, as kubectl takes them; none where it does not say.
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

// UnansweredAPIs are the names of the APIServices that a message of the namespace controller says not to answer.
//
// Upstream: client-go/discovery/discovery_client.go ErrGroupDiscoveryFailed.Error.
func UnansweredAPIs(message string) []string {
	var names []string
	for _, found := range failing.FindAllStringSubmatch(message, -1) {
		names = append(names, found[2]+"."+found[1])
	}
	return names
}

// CalledWebhook is the webhook that a message of the API server says to have failed; empty for none.
//
// Upstream: apiserver/pkg/util/webhook/error.go ErrCallingWebhook.Error.
func CalledWebhook(message string) string {
	if found := calling.FindStringSubmatch(message); found != nil {
		return found[1]
	}
	return ""
}
