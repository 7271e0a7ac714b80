package audit

import (
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
)

// Log is the content of audit logs. It may be incomplete: a log may omit requests, and each API
// server has its own. The absence of a request proves nothing.
type Log struct {
	// Requests are ordered by the time when they were received.
	Requests []Request
	// First and Last are the times when the first and the last request of any kind was received, in
	// microseconds since 1970; 0 for empty logs.
	First, Last int64
	// Cut are logs whose last event is incomplete, for example because it is still being written.
	Cut []string

	texts map[string]string
	seen  map[key]bool
}

// key identifies a request across several logs.
type key struct {
	id, uri  string
	received int64
}

// Request is a delete or an eviction that an API server has carried out.
type Request struct {
	ID   string
	Verb Verb
	Sender
	// Resource, Namespace and Name are its target. A Collection has no name.
	Resource        schema.GroupResource
	Namespace, Name string
	// Labels and Fields are the selectors of a Collection.
	Labels labels.Selector
	Fields fields.Selector
	// UIDs are the uids of its objects; nil if the log has none.
	UIDs []types.UID
	// Removed is true if the response says that the object is gone, instead of returning the
	// object.
	Removed bool
	// Options are its options; nil if the log does not have them.
	Options *Options
	// Received and Answered are in microseconds since 1970 by the clock of the server.
	Received, Answered int64
}

// Verb is the kind of a request.
type Verb string

// The verbs.
const (
	Delete     Verb = "delete"
	Collection Verb = "deletecollection"
	// Eviction creates an Eviction of a pod.
	Eviction Verb = "evict"
)

// Options are the options of a delete.
type Options struct {
	// Policy is the propagation policy; empty if the request named none.
	Policy string
	// Grace is the grace period in seconds; nil if the request named none.
	Grace *int64
}

// Equal reports whether two requests had the same options.
func (o *Options) Equal(p *Options) bool {
	if o == nil || p == nil {
		return o == p
	}
	return o.Policy == p.Policy && (o.Grace == p.Grace || o.Grace != nil && p.Grace != nil && *o.Grace == *p.Grace)
}

// Sender is the client that sent a request.
type Sender struct {
	User string
	// Impersonated is the impersonated user; empty without impersonation.
	Impersonated string
	// Agent is the User-Agent of the client.
	Agent string
	// Addresses are the client's address and those of its proxies. The client can forge all but the
	// last one.
	Addresses []string
}

// Equal reports whether two requests were sent by the same client.
func (s *Sender) Equal(o *Sender) bool {
	return s.User == o.User && s.Impersonated == o.Impersonated && s.Agent == o.Agent && slices.Equal(s.Addresses, o.Addresses)
}

const (
	accounts = "system:serviceaccount:kube-system:"
	manager  = "system:kube-controller-manager"
)

// Controller returns the Kubernetes component that is the sender, by the name of its service
// account. It returns false for all other senders, such as people and operators.
func (s *Sender) Controller() (string, bool) {
	if s.Impersonated != "" {
		return "", false
	}
	if name, ok := strings.CutPrefix(s.User, accounts); ok {
		return name, controllers[name]
	}
	if s.User == manager { // the controllers have no accounts, but distinct user agents
		name := s.Agent[strings.LastIndex(s.Agent, "/")+1:]
		return strings.TrimPrefix(name, accounts), true
	}
	for _, prefix := range []string{"system:kube-scheduler", "system:apiserver", "system:cloud-controller-manager", "system:node:"} {
		if strings.HasPrefix(s.User, prefix) {
			return strings.TrimPrefix(prefix, "system:"), true
		}
	}
	return "", false
}
