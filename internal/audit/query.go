package audit

import (
	"net/url"
	"strconv"

	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/labels"
)

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
func (e *event) options(q query) *Options {
	if e.asked != nil {
		o := e.asked.Options
		o.Policy = policy(o.Policy, e.asked.orphan)
		return &o
	}
	o := &Options{Policy: policy(q.Get("propagationPolicy"), q.Get("orphanDependents"))}
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
func policy(named, orphan string) string {
	switch {
	case named != "":
		return named
	case orphan == "true":
		return "Orphan"
	case orphan == "false":
		return "Background"
	default:
		return ""
	}
}
