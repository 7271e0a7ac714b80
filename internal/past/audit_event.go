package past

import (
	"cmp"
	"encoding/json"
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"
	"unique"

	"github.com/go-json-experiment/json/jsontext"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-gc/kubectl-gc/internal/object"
)

const (
	// stageComplete is the stage of an answered request.
	stageComplete = "ResponseComplete"
	// maxUIDs bounds the objects that are recorded for one request.
	maxUIDs = 100_000
	// maxAddresses bounds the recorded addresses, because a client may send any number.
	maxAddresses = 8
)

// event has the fields that are read from an Event.
type event struct {
	apiVersion, kind, level, id, stage, uri, verb string
	received, answered                            string

	sender                                             Sender
	resource, group, subresource, namespace, name      string
	code                                               int64
	status, refUID, deletedUID, returnedUID, truncated string
	// rawBody is the body of a request that may be a delete; nil if the log has none. body is that of
	// a delete or an eviction. listedUIDs are the uids of the objects in the response.
	rawBody    jsontext.Value
	body       *metav1.DeleteOptions
	listedUIDs []types.UID
}

// readDocument reads an Event or an EventList. The apiVersion of a list, which may come after its
// items, decides whether they are valid.
func (r *auditReader) readDocument() error {
	var whole event
	var items []event
	list := false
	err := r.readObject("the document", func(name string) error {
		if name != "items" {
			return r.readField(&whole, name)
		}
		list = true
		return r.readArray("items", func() error {
			var e event
			if err := r.readObject("an item", func(name string) error { return r.readField(&e, name) }); err != nil {
				return err
			}
			if whole.apiVersion != "" {
				return r.recordEvent(&e)
			}
			if e.deleteVerb() == "" {
				e.rawBody = nil
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
		if err := r.recordEvent(&items[i]); err != nil {
			return err
		}
	}
	return nil
}

// readField reads one field of an event.
func (r *auditReader) readField(e *event, name string) error {
	switch name {
	case "apiVersion":
		return r.readString(name, &e.apiVersion)
	case "kind":
		return r.readString(name, &e.kind)
	case "requestReceivedTimestamp":
		return r.readString(name, &e.received)
	}
	if e.isOther() {
		return r.dec.SkipValue()
	}
	switch name {
	case "level":
		return r.readString(name, &e.level)
	case "auditID":
		return r.readString(name, &e.id)
	case "stage":
		return r.readString(name, &e.stage)
	case "requestURI":
		return r.readString(name, &e.uri)
	case "verb":
		return r.readString(name, &e.verb)
	case "user":
		return r.readStrings(name, map[string]*string{"username": &e.sender.User})
	case "impersonatedUser":
		return r.readStrings(name, map[string]*string{"username": &e.sender.Impersonated})
	case "userAgent":
		return r.readString(name, &e.sender.Agent)
	case "sourceIPs":
		return r.readAddresses(e)
	case "objectRef":
		return r.readStrings(name, map[string]*string{
			"resource": &e.resource, "apiGroup": &e.group, "subresource": &e.subresource,
			"namespace": &e.namespace, "name": &e.name, "uid": &e.refUID,
		})
	case "responseStatus":
		return r.readResponseStatus(e)
	case "requestObject":
		return r.readBody(e)
	case "responseObject":
		return r.readResponseObject(e)
	case "stageTimestamp":
		return r.readString(name, &e.answered)
	case "annotations":
		return r.readStrings(name, map[string]*string{"audit.k8s.io/truncated": &e.truncated})
	default:
		return r.dec.SkipValue()
	}
}

// isOther reports whether an event is known to be neither a delete nor an eviction.
func (e *event) isOther() bool {
	return e.stage != "" && e.stage != stageComplete ||
		e.verb != "" && e.verb != string(Delete) && e.verb != string(DeleteCollection) && e.verb != "create"
}

// readStrings reads the wanted fields of an object, which must be strings.
func (r *auditReader) readStrings(what string, wanted map[string]*string) error {
	return r.readObject(what, func(name string) error {
		if into := wanted[name]; into != nil {
			return r.readString(what+"."+name, into)
		}
		return r.dec.SkipValue()
	})
}

// readAddresses reads the source addresses of a request. Of many it keeps the first ones, and the
// last, which is the only one that can be trusted.
func (r *auditReader) readAddresses(e *event) error {
	return r.readArray("sourceIPs", func() error {
		var address string
		if err := r.readString("an address in sourceIPs", &address); err != nil {
			return err
		}
		if len(e.sender.Addresses) == maxAddresses {
			e.sender.Addresses = e.sender.Addresses[:maxAddresses-1]
		}
		e.sender.Addresses = append(e.sender.Addresses, address)
		return nil
	})
}

// readResponseStatus reads the status of the response. For a delete that removed the object at once
// it has the uid.
func (r *auditReader) readResponseStatus(e *event) error {
	const what = "responseStatus"
	return r.readObject(what, func(name string) error {
		switch name {
		case "code":
			return r.readInt(what+".code", &e.code)
		case "status":
			return r.readString(what+".status", &e.status)
		case "details":
			return r.readStrings(what+".details", map[string]*string{"uid": &e.deletedUID})
		default:
			return r.dec.SkipValue()
		}
	})
}

// readBody keeps the body of a request, unless it is known not to be a delete. The body of a create
// is any object, and the verb may come after it.
func (r *auditReader) readBody(e *event) error {
	if e.verb != "" && e.resource != "" && e.deleteVerb() == "" {
		return r.dec.SkipValue()
	}
	value, err := r.dec.ReadValue()
	e.rawBody = value.Clone()
	return err
}

// readResponseObject reads the object in a response, or the objects of a collection.
func (r *auditReader) readResponseObject(e *event) error {
	return r.readObject("responseObject", func(name string) error {
		switch {
		case name == "metadata":
			return r.readStrings("responseObject.metadata", map[string]*string{"uid": &e.returnedUID})
		case name == "items" && (e.verb == "" || e.verb == string(DeleteCollection)):
			e.listedUIDs = []types.UID{}
			return r.readArray("responseObject.items", func() error { return r.readItem(e) })
		default:
			return r.dec.SkipValue()
		}
	})
}

// readItem reads the uid of an object of a collection. If there are more than maxUIDs, it drops
// all.
func (r *auditReader) readItem(e *event) error {
	return r.readObject("an item of responseObject", func(name string) error {
		if name != "metadata" {
			return r.dec.SkipValue()
		}
		var uid string
		err := r.readStrings("metadata of an item of responseObject", map[string]*string{"uid": &uid})
		if e.listedUIDs != nil && len(e.listedUIDs) < maxUIDs {
			e.listedUIDs = append(e.listedUIDs, types.UID(uid))
		} else {
			e.listedUIDs = nil
		}
		return err
	})
}

// parseMicros parses a time into microseconds since 1970.
func parseMicros(what, text string) (int64, error) {
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

// recordEvent records an event if it is a delete or an eviction that was carried out.
func (r *auditReader) recordEvent(e *event) error {
	received, err := parseMicros("requestReceivedTimestamp", e.received)
	if err != nil {
		return err
	}
	r.events++
	if r.log.First == 0 || received < r.log.First {
		r.log.First = received
	}
	r.log.Last = max(r.log.Last, received)
	verb := e.deleteVerb()
	if e.stage != stageComplete || verb == "" || e.code < 200 || e.code > 299 {
		return nil
	}
	if e.rawBody != nil {
		var body struct {
			metav1.DeleteOptions
			OfEviction *metav1.DeleteOptions `json:"deleteOptions"`
		}
		if err := json.Unmarshal(e.rawBody, &body); err != nil {
			return fmt.Errorf("requestObject: %w", err)
		}
		e.body = cmp.Or(body.OfEviction, &body.DeleteOptions)
	}
	uri, err := url.ParseRequestURI(e.uri)
	if err != nil {
		return nil
	}
	query := uri.Query()
	if query.Get("dryRun") != "" || e.body != nil && len(e.body.DryRun) > 0 {
		return nil
	}
	answered := received
	if e.answered != "" {
		if answered, err = parseMicros("stageTimestamp", e.answered); err != nil {
			return err
		}
	}
	if !r.window.overlaps(received, answered) {
		return nil
	}
	q := newRequest(e, verb, query)
	q.Received, q.Answered = received, answered
	if verb == DeleteCollection { // a query without selectors selects everything
		var wrong error
		q.Labels, err = labels.Parse(query.Get("labelSelector"))
		if q.Fields, wrong = fields.ParseSelector(query.Get("fieldSelector")); err != nil || wrong != nil {
			return nil // unknown what it deleted
		}
	}
	return r.addRequest(q, e.uri)
}

// deleteVerb returns the verb of an event; empty if it is neither a delete nor an eviction.
func (e *event) deleteVerb() Verb {
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

// once returns the copy of a string that many requests share.
func once(text string) string { return unique.Make(text).Value() }

func newRequest(e *event, verb Verb, q url.Values) AuditedRequest {
	out := AuditedRequest{
		ID: e.id, Verb: verb, Namespace: once(e.namespace), Name: e.name, Options: e.deleteOptions(q),
		Sender:  Sender{User: once(e.sender.User), Impersonated: once(e.sender.Impersonated), Agent: once(e.sender.Agent)},
		Removed: verb == Delete && e.status == "Success",
	}
	out.Addresses = append(out.Addresses, object.Mapped(e.sender.Addresses, once)...)
	out.Resource.Group, out.Resource.Resource = once(e.group), once(e.resource)
	if e.group == "" && e.resource == "namespaces" {
		out.Namespace = "" // the log reports the namespace as inside itself
	}
	if verb == DeleteCollection {
		out.UIDs = e.listedUIDs
		return out
	}
	uids := []types.UID{types.UID(e.deletedUID), types.UID(e.returnedUID), types.UID(e.refUID)}
	if e.body != nil && e.body.Preconditions != nil && e.body.Preconditions.UID != nil {
		uids = append(uids, *e.body.Preconditions.UID)
	}
	for _, uid := range uids {
		if uid != "" && !slices.Contains(out.UIDs, uid) {
			out.UIDs = append(out.UIDs, uid)
		}
	}
	return out
}

// deleteOptions returns the options from the body of a request, or from the URI if there is no
// body. If the log omits bodies, only the options in the URI are known.
func (e *event) deleteOptions(q url.Values) *DeleteOptions {
	if b := e.body; b != nil {
		o := &DeleteOptions{Grace: b.GracePeriodSeconds}
		if b.PropagationPolicy != nil {
			o.Policy = *b.PropagationPolicy
		}
		if b.OrphanDependents != nil { //nolint:staticcheck // old clients send it
			o.Policy = propagationPolicy(o.Policy, strconv.FormatBool(*b.OrphanDependents)) //nolint:staticcheck // as above
		}
		return o
	}
	o := &DeleteOptions{Policy: propagationPolicy(metav1.DeletionPropagation(q.Get("propagationPolicy")), q.Get("orphanDependents"))}
	if grace, err := strconv.ParseInt(q.Get("gracePeriodSeconds"), 10, 64); err == nil {
		o.Grace = &grace
	}
	bodies := (e.level == "Request" || e.level == "RequestResponse") && e.truncated != "true"
	if o.Policy == "" && o.Grace == nil && !bodies {
		return nil
	}
	return o
}

// propagationPolicy returns a propagation policy. Old clients send orphanDependents instead.
func propagationPolicy(named metav1.DeletionPropagation, orphaned string) metav1.DeletionPropagation {
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
