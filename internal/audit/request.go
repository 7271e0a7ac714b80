package audit

import (
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
)

// Log is what audit logs say of a time: all of it, or some, for a log may leave things out, and
// each API server has one of its own. Nothing follows from what is not in it.
type Log struct {
	// Requests are in the order in which they were received.
	Requests []Request
	// First and Last are when the first request and the last one of the logs were received, of
	// whatever kind they were, in microseconds since 1970; 0 of empty logs.
	First, Last int64
	// Cut are logs of which the last line is not whole, as of one that is being written.
	Cut []string

	texts map[string]string
	seen  map[key]bool
}

// key is one request, however many logs have it.
type key struct {
	id, uri  string
	received int64
}

// Request is a delete or an eviction that an API server has carried out.
type Request struct {
	ID   string
	Verb Verb
	Sender
	// Resource, Namespace and Name are what it was for. A Collection has no name.
	Resource        schema.GroupResource
	Namespace, Name string
	// Labels and Fields select what is deleted of a Collection.
	Labels labels.Selector
	Fields fields.Selector
	// UIDs are the objects that it was for, where the log tells; nil where not.
	UIDs []types.UID
	// Removed says that the answer was that the object is gone, and not the object.
	Removed bool
	// Options are what it asked for; nil where the log does not tell.
	Options *Options
	// Received and Answered are when, in microseconds since 1970 by the clock of the server.
	Received, Answered int64
}

// Verb is what was asked for.
type Verb string

// The verbs.
const (
	Delete     Verb = "delete"
	Collection Verb = "deletecollection"
	// Eviction is the creation of an Eviction of a pod.
	Eviction Verb = "evict"
)

// Options are those of a delete.
type Options struct {
	// Policy is the propagation policy; empty where the request named none.
	Policy string
	// Grace is the grace period in seconds; nil where the request named none.
	Grace *int64
}

// Equal reports whether two requests asked for the same.
func (o *Options) Equal(p *Options) bool {
	if o == nil || p == nil {
		return o == p
	}
	return o.Policy == p.Policy && (o.Grace == p.Grace || o.Grace != nil && p.Grace != nil && *o.Grace == *p.Grace)
}

// Sender is who sent a request.
type Sender struct {
	User string
	// Impersonated is the user in whose name that was; empty for the own one.
	Impersonated string
	// Agent is what the client calls itself.
	Agent string
	// Addresses are where it came from, and over which proxies. Only the last one is not what the
	// client says.
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

// Controller names the part of Kubernetes that is the sender, as its service account is called;
// false for everybody else, people and operators alike.
func (s *Sender) Controller() (string, bool) {
	if s.Impersonated != "" {
		return "", false
	}
	if name, ok := strings.CutPrefix(s.User, accounts); ok {
		return name, controllers[name]
	}
	if s.User == manager { // the controllers have no accounts, and say who they are
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
