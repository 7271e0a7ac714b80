package audit

import (
	"net/url"
	"strconv"

	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/labels"
)

// query is what the URI of a request asks for.
type query struct{ url.Values }

func queryOf(uri string) (query, bool) {
	u, err := url.ParseRequestURI(uri)
	if err != nil {
		return query{}, false
	}
	return query{u.Query()}, true
}

// selectors are those of a collection; of everything where it names none.
func (q query) selectors() (labels.Selector, fields.Selector, bool) {
	l, err := labels.Parse(q.Get("labelSelector"))
	if err != nil {
		return nil, nil, false
	}
	f, err := fields.ParseSelector(q.Get("fieldSelector"))
	return l, f, err == nil
}

// rehearsed reports whether nothing was to be done.
func (e *event) rehearsed(q query) bool {
	return q.Get("dryRun") != "" || e.asked != nil && e.asked.rehearsed
}

// options are what was asked for: by the body, or by the URI where there is none. Where the log
// leaves bodies out only what the URI names is known.
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

// policy is a propagation policy, where old clients say whether dependents are orphaned.
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
