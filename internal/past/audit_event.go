package past

import (
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/types"
)

const (
	// complete is the stage of an answered request.
	complete = "ResponseComplete"
	// manyUIDs bounds the objects that are recorded for one request.
	manyUIDs = 100_000
	// manyAddresses bounds the recorded addresses, because a client may send any number.
	manyAddresses = 8
)

// event has the fields that are read from an Event.
type event struct {
	apiVersion, kind, level, id, stage, uri, verb string
	received, answered                            string

	sender                                             Sender
	resource, group, subresource, namespace, name      string
	code                                               int64
	status, refUID, deletedUID, returnedUID, truncated string
	// asked is the body of the request; nil if the log has none. listed are the uids of the objects
	// in the response.
	asked  *deleteBody
	listed []types.UID
}

// deleteBody has the fields that are read from DeleteOptions, or from an Eviction with
// DeleteOptions.
type deleteBody struct {
	DeleteOptions
	uid       string
	orphan    string
	rehearsed bool
}

// document reads an Event or an EventList. The apiVersion of a list, which may come after its
// items, decides whether they are valid.
func (r *reader) document() error {
	var whole event
	var items []event
	list := false
	err := r.fields("the document", func(name string) error {
		if name != "items" {
			return r.field(&whole, name)
		}
		list = true
		return r.each("items", func() error {
			var e event
			if err := r.fields("an item", func(name string) error { return r.field(&e, name) }); err != nil {
				return err
			}
			if whole.apiVersion != "" {
				return r.take(&e)
			}
			items = append(items, e)
			return nil
		})
	})
	switch {
	case err != nil:
		return err
	case whole.apiVersion != "audit.k8s.io/v1" && whole.apiVersion != "audit.k8s.io/v1beta1":
		return fmt.Errorf("apiVersion is %q, not audit.k8s.io/v1", whole.apiVersion)
	case whole.kind == "EventList":
	case whole.kind != "Event" || list:
		return fmt.Errorf("kind is %q, not Event or EventList", whole.kind)
	default:
		items = append(items, whole)
	}
	for i := range items {
		if err := r.take(&items[i]); err != nil {
			return err
		}
	}
	return nil
}

// field reads one field of an event.
func (r *reader) field(e *event, name string) error {
	switch name {
	case "apiVersion":
		return r.text(name, &e.apiVersion)
	case "kind":
		return r.text(name, &e.kind)
	case "requestReceivedTimestamp":
		return r.text(name, &e.received)
	}
	if e.isOther() {
		return r.dec.SkipValue()
	}
	switch name {
	case "level":
		return r.text(name, &e.level)
	case "auditID":
		return r.text(name, &e.id)
	case "stage":
		return r.text(name, &e.stage)
	case "requestURI":
		return r.text(name, &e.uri)
	case "verb":
		return r.text(name, &e.verb)
	case "user":
		return r.oneOf(name, map[string]*string{"username": &e.sender.User})
	case "impersonatedUser":
		return r.oneOf(name, map[string]*string{"username": &e.sender.Impersonated})
	case "userAgent":
		return r.text(name, &e.sender.Agent)
	case "sourceIPs":
		return r.addresses(e)
	case "objectRef":
		return r.oneOf(name, map[string]*string{
			"resource": &e.resource, "apiGroup": &e.group, "subresource": &e.subresource,
			"namespace": &e.namespace, "name": &e.name, "uid": &e.refUID,
		})
	case "responseStatus":
		return r.answer(e)
	case "requestObject":
		e.asked = &deleteBody{}
		return r.body(name, e.asked)
	case "responseObject":
		return r.returned(e)
	case "stageTimestamp":
		return r.text(name, &e.answered)
	case "annotations":
		return r.oneOf(name, map[string]*string{"audit.k8s.io/truncated": &e.truncated})
	default:
		return r.dec.SkipValue()
	}
}

// isOther reports whether an event is known to be neither a delete nor an eviction.
func (e *event) isOther() bool {
	return e.stage != "" && e.stage != complete ||
		e.verb != "" && e.verb != string(Delete) && e.verb != string(DeleteCollection) && e.verb != "create"
}

// oneOf reads the wanted fields of an object, which must be strings.
func (r *reader) oneOf(what string, wanted map[string]*string) error {
	return r.fields(what, func(name string) error {
		if into := wanted[name]; into != nil {
			return r.text(what+"."+name, into)
		}
		return r.dec.SkipValue()
	})
}

// addresses reads the source addresses of a request. Of many it keeps the first ones, and the last,
// which is the only one that can be trusted.
func (r *reader) addresses(e *event) error {
	return r.each("sourceIPs", func() error {
		var address string
		if err := r.text("an address in sourceIPs", &address); err != nil {
			return err
		}
		if len(e.sender.Addresses) == manyAddresses {
			e.sender.Addresses = e.sender.Addresses[:manyAddresses-1]
		}
		e.sender.Addresses = append(e.sender.Addresses, address)
		return nil
	})
}

// answer reads the status of the response. For a delete that removed the object at once it has the
// uid.
func (r *reader) answer(e *event) error {
	const what = "responseStatus"
	return r.fields(what, func(name string) error {
		switch name {
		case "code":
			return r.number(what+".code", &e.code)
		case "status":
			return r.text(what+".status", &e.status)
		case "details":
			return r.oneOf(what+".details", map[string]*string{"uid": &e.deletedUID})
		default:
			return r.dec.SkipValue()
		}
	})
}

// body reads the body of a request: DeleteOptions, or an Eviction with DeleteOptions.
func (r *reader) body(what string, b *deleteBody) error {
	return r.fields(what, func(name string) error {
		at := what + "." + name
		switch name {
		case "propagationPolicy":
			return r.text(at, (*string)(&b.Policy))
		case "gracePeriodSeconds":
			if b.Grace == nil {
				b.Grace = new(int64)
			}
			return r.number(at, b.Grace)
		case "orphanDependents":
			return r.truth(at, &b.orphan)
		case "preconditions":
			return r.oneOf(at, map[string]*string{"uid": &b.uid})
		case "dryRun":
			return r.each(at, func() error {
				b.rehearsed = true
				return r.dec.SkipValue()
			})
		case "deleteOptions":
			return r.body(at, b)
		default:
			return r.dec.SkipValue()
		}
	})
}

// returned reads the object in a response, or the objects of a collection.
func (r *reader) returned(e *event) error {
	return r.fields("responseObject", func(name string) error {
		switch {
		case name == "metadata":
			return r.oneOf("responseObject.metadata", map[string]*string{"uid": &e.returnedUID})
		case name == "items" && (e.verb == "" || e.verb == string(DeleteCollection)):
			e.listed = []types.UID{}
			return r.each("responseObject.items", func() error { return r.item(e) })
		default:
			return r.dec.SkipValue()
		}
	})
}

// item reads the uid of an object of a collection. If there are more than manyUIDs, it drops all.
func (r *reader) item(e *event) error {
	return r.fields("an item of responseObject", func(name string) error {
		if name != "metadata" {
			return r.dec.SkipValue()
		}
		var uid string
		err := r.oneOf("metadata of an item of responseObject", map[string]*string{"uid": &uid})
		if e.listed != nil && len(e.listed) < manyUIDs {
			e.listed = append(e.listed, types.UID(uid))
		} else {
			e.listed = nil
		}
		return err
	})
}

// micros parses a time into microseconds since 1970.
func micros(what, text string) (int64, error) {
	at, err := time.Parse(time.RFC3339Nano, text)
	if err != nil {
		return 0, fmt.Errorf("%s is %q, not a time as 2006-01-02T15:04:05.000000Z", what, shorten(text))
	}
	return at.UnixMicro(), nil
}

func shorten(text string) string {
	const enough = 40
	if len(text) > enough {
		return strings.ToValidUTF8(text[:enough], "") + "…"
	}
	return text
}

// take records an event if it is a delete or an eviction that was carried out.
func (r *reader) take(e *event) error {
	received, err := micros("requestReceivedTimestamp", e.received)
	if err != nil {
		return err
	}
	r.events++
	if r.log.First == 0 || received < r.log.First {
		r.log.First = received
	}
	r.log.Last = max(r.log.Last, received)
	verb := e.does()
	if e.stage != complete || verb == "" || e.code < 200 || e.code > 299 {
		return nil
	}
	query, ok := queryOf(e.uri)
	if !ok || e.rehearsed(query) {
		return nil
	}
	answered := received
	if e.answered != "" {
		if answered, err = micros("stageTimestamp", e.answered); err != nil {
			return err
		}
	}
	if !r.window.has(received, answered) {
		return nil
	}
	q := r.request(e, verb, query)
	if q.Received, q.Answered = received, answered; verb == DeleteCollection {
		if q.Labels, q.Fields, ok = query.selectors(); !ok {
			return nil // unknown what it deleted
		}
	}
	return r.add(q, e.uri)
}

// does returns the verb of an event; empty if it is neither a delete nor an eviction.
func (e *event) does() Verb {
	switch {
	case e.resource == "":
		return ""
	case e.verb == string(Delete) && e.subresource == "" && e.name != "":
		return Delete
	case e.verb == string(DeleteCollection) && e.subresource == "" && e.name == "":
		return DeleteCollection
	case e.verb == "create" && e.subresource == "eviction" && e.resource == "pods" && e.group == "":
		return Eviction
	default:
		return ""
	}
}

func (r *reader) request(e *event, verb Verb, q query) AuditedRequest {
	once := r.log.once
	out := AuditedRequest{
		ID: e.id, Verb: verb, Namespace: once(e.namespace), Name: e.name, Options: e.options(q),
		Sender:  Sender{User: once(e.sender.User), Impersonated: once(e.sender.Impersonated), Agent: once(e.sender.Agent)},
		Removed: verb == Delete && e.status == "Success",
	}
	for _, a := range e.sender.Addresses {
		out.Addresses = append(out.Addresses, once(a))
	}
	out.Resource.Group, out.Resource.Resource = once(e.group), once(e.resource)
	if e.group == "" && e.resource == "namespaces" {
		out.Namespace = "" // the log reports the namespace as inside itself
	}
	if verb == DeleteCollection {
		out.UIDs = e.listed
		return out
	}
	for _, uid := range []string{e.deletedUID, e.returnedUID, e.refUID, e.precondition()} {
		if uid != "" && !slices.Contains(out.UIDs, types.UID(uid)) {
			out.UIDs = append(out.UIDs, types.UID(uid))
		}
	}
	return out
}

func (e *event) precondition() string {
	if e.asked == nil {
		return ""
	}
	return e.asked.uid
}

// query is the query of a request's URI.
type query struct{ url.Values }

func queryOf(uri string) (query, bool) {
	u, err := url.ParseRequestURI(uri)
	if err != nil {
		return query{}, false
	}
	return query{u.Query()}, true
}

// selectors returns the selectors of a collection. They select everything if the query has none.
func (q query) selectors() (labels.Selector, fields.Selector, bool) {
	l, err := labels.Parse(q.Get("labelSelector"))
	if err != nil {
		return nil, nil, false
	}
	f, err := fields.ParseSelector(q.Get("fieldSelector"))
	return l, f, err == nil
}

// rehearsed reports whether the request was a dry run.
func (e *event) rehearsed(q query) bool {
	return q.Get("dryRun") != "" || e.asked != nil && e.asked.rehearsed
}

// options returns the options from the body of a request, or from the URI if there is no body. If
// the log omits bodies, only the options in the URI are known.
func (e *event) options(q query) *DeleteOptions {
	if e.asked != nil {
		o := e.asked.DeleteOptions
		o.Policy = policy(o.Policy, e.asked.orphan)
		return &o
	}
	o := &DeleteOptions{Policy: policy(metav1.DeletionPropagation(q.Get("propagationPolicy")), q.Get("orphanDependents"))}
	if grace, err := strconv.ParseInt(q.Get("gracePeriodSeconds"), 10, 64); err == nil {
		o.Grace = &grace
	}
	bodies := (e.level == "Request" || e.level == "RequestResponse") && e.truncated != "true"
	if o.Policy == "" && o.Grace == nil && !bodies {
		return nil
	}
	return o
}

// policy returns a propagation policy. Old clients send orphanDependents instead.
func policy(named metav1.DeletionPropagation, orphaned string) metav1.DeletionPropagation {
	switch {
	case named != "":
		return named
	case orphaned == "true":
		return orphan
	case orphaned == "false":
		return background
	default:
		return ""
	}
}
