package differential

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net"
	"net/http"
	"net/http/httputil"
	"net/url"
	"slices"
	"strings"
	"sync"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-gc/kubectl-gc/internal/object"
	"github.com/kubectl-gc/kubectl-gc/internal/report"
	"github.com/kubectl-gc/kubectl-gc/test/facade"
	"github.com/kubectl-gc/kubectl-gc/test/scenario"
)

// page is what a collector asked a server to change in one world during a phase.
type page struct {
	// done counts the requests that succeeded, by what they say.
	done map[string]int
	// refused is the number of those that did not.
	refused int
}

func (p *page) note(line string, done bool) {
	switch {
	case !done:
		p.refused++
	case p.done == nil:
		p.done = map[string]int{line: 1}
	default:
		p.done[line]++
	}
}

// text is what was asked for with success, each request once. How often, and in
// which order, is a matter of timing: the collector asks again for what it has not
// seen happen.
func (p *page) text() string {
	var b strings.Builder
	for _, line := range slices.Sorted(maps.Keys(p.done)) {
		b.WriteString(line + "\n")
	}
	return b.String()
}

// repeated is how many requests succeeded that had succeeded before.
func (p *page) repeated() int {
	n := -len(p.done)
	for _, times := range p.done {
		n += times
	}
	return n
}

// book is what a collector asked of a server that holds many worlds, by slot.
type book struct {
	mu    sync.Mutex
	pages map[int]*page
}

// turn begins a phase: all pages are empty.
func (b *book) turn() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.pages = map[int]*page{}
}

// page is what stands in the book of a world.
func (b *book) page(slot int) page {
	b.mu.Lock()
	defer b.mu.Unlock()
	p, ok := b.pages[slot]
	if !ok {
		return page{}
	}
	return page{done: maps.Clone(p.done), refused: p.refused}
}

// note enters a request under the names that its world was drawn with. Objects of
// no world are those of fences.
func (b *book) note(method string, ref object.Ref, contentType string, body []byte, done bool) {
	slot, ok := slotIn(ref.Name)
	if !ok {
		return
	}
	p := placeOf(slot)
	ref.Name, ref.Namespace = p.cut(ref.Name), p.cut(ref.Namespace)
	line := lineOf(p, method, ref, contentType, body)
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.pages == nil {
		return
	}
	if b.pages[slot] == nil {
		b.pages[slot] = &page{}
	}
	b.pages[slot].note(line, done)
}

// asSent is a reference as the path of a request says it: by resource, so that the
// kind is spelled as it is served, and nothing of a cluster-scoped kind is in a
// namespace. A collector that follows a reference spells them as the reference does.
func asSent(rs *object.Resources, ref object.Ref) object.Ref {
	r, err := rs.For(ref.APIVersion, ref.Kind)
	if err != nil {
		return ref
	}
	ref.Kind = r.Kind
	if !r.Namespaced {
		ref.Namespace = ""
	}
	return ref
}

// lineOf says what a request says. What no collector is known to send stands there
// as it was sent.
func lineOf(p place, method string, ref object.Ref, contentType string, body []byte) string {
	switch method {
	case http.MethodDelete:
		var o metav1.DeleteOptions
		if len(body) > 0 && json.Unmarshal(body, &o) != nil {
			break
		}
		return deleteLine(p, ref, o)
	case http.MethodPatch:
		patch, err := facade.PatchOf(contentType, body)
		if err != nil || patch.Type == object.JSON {
			break
		}
		return patchLine(p, ref, patch)
	}
	return fmt.Sprintf("%s %s %s %s", method, named(ref), contentType, body)
}

// deleteLine says what a DELETE says: which policy, and on which conditions.
func deleteLine(p place, ref object.Ref, o metav1.DeleteOptions) string {
	line := "DELETE " + named(ref)
	if o.PropagationPolicy != nil {
		line += " policy=" + string(*o.PropagationPolicy)
	}
	if c := o.Preconditions; c != nil && c.UID != nil {
		line += " uid=" + p.cut(string(*c.UID))
	}
	if c := o.Preconditions; c != nil && c.ResourceVersion != nil {
		line += " rv"
	}
	// No collector says more; if one does, it is seen.
	o.TypeMeta, o.PropagationPolicy, o.Preconditions = metav1.TypeMeta{}, nil, nil
	if rest, err := json.Marshal(o); err != nil || string(rest) != "{}" {
		line += " " + string(rest)
	}
	return line
}

// patchLine says what a PATCH says: its conditions, and what becomes of finalizers
// and owner references. In which order references are removed means nothing.
func patchLine(p place, ref object.Ref, patch object.Patch) string {
	var b strings.Builder
	form := "strategic"
	if patch.Type == object.Merge {
		form = "merge"
	}
	b.WriteString("PATCH " + form + " " + named(ref))
	if patch.UID != "" {
		b.WriteString(" uid=" + p.cut(string(patch.UID)))
	}
	if patch.ResourceVersion != "" {
		b.WriteString(" rv")
	}
	if len(patch.DeleteOwners) > 0 {
		gone := make([]string, len(patch.DeleteOwners))
		for i, uid := range patch.DeleteOwners {
			gone[i] = p.cut(string(uid))
		}
		slices.Sort(gone)
		b.WriteString(" without=" + strings.Join(gone, ","))
	}
	if len(patch.MergeOwners) > 0 {
		b.WriteString(" with=" + ownerTexts(p, patch.MergeOwners))
	}
	if patch.Owners != nil {
		b.WriteString(" owners=" + ownerTexts(p, *patch.Owners))
	}
	if patch.Finalizers != nil {
		b.WriteString(" finalizers=" + strings.Join(*patch.Finalizers, ","))
	}
	return b.String()
}

func ownerTexts(p place, owners []object.OwnerReference) string {
	texts := make([]string, len(owners))
	for i, o := range owners {
		o.Name, o.UID = p.cut(o.Name), types.UID(p.cut(string(o.UID)))
		texts[i] = scenario.FormatOwner(o, scenario.Names{})
	}
	return strings.Join(texts, ",")
}

func named(ref object.Ref) string {
	return ref.APIVersion + " " + ref.Kind + " " + strings.TrimPrefix(ref.Namespace+"/"+ref.Name, "/")
}

// difference lays two texts of requests side by side: what both have, and what one
// of them has. It returns the number of lines that only one has.
func difference(real, foreseen string) (string, int) {
	in := map[string]int{}
	for line := range strings.Lines(real) {
		in[line]++
	}
	for line := range strings.Lines(foreseen) {
		in[line] += 2
	}
	var b strings.Builder
	only := 0
	for _, line := range slices.Sorted(maps.Keys(in)) {
		b.WriteString([...]string{1: "real   ", 2: "dry run", 3: "both   "}[in[line]] + " " + line)
		if in[line] < 3 {
			only++
		}
	}
	return b.String(), only
}

// recorder writes into a book what goes through it to a server.
type recorder struct {
	http.Handler
	resources *object.Resources
	book      *book
}

// ServeHTTP passes a request on. Of one that changes something it notes what it
// says and whether it succeeded. Events are not noted: that a collector tells the
// same thing again is a patch of the Event that it made before, and no world has any.
func (r recorder) ServeHTTP(w http.ResponseWriter, request *http.Request) {
	t, ok := facade.TargetOf(r.resources, strings.Trim(request.URL.Path, "/"))
	if !ok || t.Resource.Name == "events" || request.Method != http.MethodDelete && request.Method != http.MethodPatch {
		r.Handler.ServeHTTP(w, request)
		return
	}
	body, err := io.ReadAll(request.Body)
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	request.Body = io.NopCloser(bytes.NewReader(body))
	noted := &noting{ResponseWriter: w, note: func(code int) {
		r.book.note(request.Method, t.Ref(), request.Header.Get("Content-Type"), body, code < http.StatusMultipleChoices)
	}}
	r.Handler.ServeHTTP(noted, request)
	noted.WriteHeader(http.StatusOK) // unless it was answered otherwise
}

// noting is an answer whose status is noted before anybody sees it.
type noting struct {
	http.ResponseWriter
	note func(code int)
	sent bool
}

// WriteHeader notes the status, once.
func (n *noting) WriteHeader(code int) {
	if n.sent {
		return
	}
	n.sent = true
	n.note(code)
	n.ResponseWriter.WriteHeader(code)
}

// Write is an answer that says no status: it is a success.
func (n *noting) Write(text []byte) (int, error) {
	n.WriteHeader(http.StatusOK)
	return n.ResponseWriter.Write(text)
}

// serve serves on a free port of the loopback interface until it is closed.
func serve(h http.Handler) (*http.Server, string, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, "", err
	}
	s := &http.Server{Handler: h, ReadHeaderTimeout: time.Minute}
	go func() { _ = s.Serve(l) }() // ends with Close, and says so
	return s, "http://" + l.Addr().String(), nil
}

// proxy passes every request on to the API server as it is, in the name of its
// administrator.
func (l *live) proxy() (http.Handler, error) {
	server, err := url.Parse(l.URL)
	if err != nil {
		return nil, err
	}
	return &httputil.ReverseProxy{
		Transport: l.Client().Transport,
		Rewrite: func(r *httputil.ProxyRequest) {
			r.SetURL(server)
			r.Out.Header.Set("Authorization", "Bearer "+l.Token)
		},
		FlushInterval: -1, // watches
	}, nil
}

// stepsOf is what the collector asks for with success in the steps of a plan. They
// leave out on which conditions a DELETE is sent.
func stepsOf(p *report.Plan, rs *object.Resources) (string, error) {
	var steps page
	for _, s := range p.Steps {
		ref := asSent(rs, s.Object)
		if s.Actor != "collector" || s.Answer != 0 {
			continue
		}
		switch s.Verb {
		case http.MethodDelete:
			steps.note("DELETE "+named(ref)+" policy="+s.Policy, true)
		case http.MethodPatch:
			// A plan does not say of which type a patch is. Of those of the collector
			// the merge patches have a resourceVersion.
			form := object.StrategicMerge
			if strings.Contains(s.Patch, `"resourceVersion"`) {
				form = object.Merge
			}
			patch, err := facade.PatchOf(form.String(), []byte(s.Patch))
			if err != nil {
				return "", err
			}
			steps.note(patchLine("", ref, patch), true)
		}
	}
	return steps.text(), nil
}

// unconditional are requests without the conditions of DELETEs.
func unconditional(requests string) string {
	var p page
	for line := range strings.Lines(requests) {
		line = strings.TrimSuffix(line, "\n")
		if strings.HasPrefix(line, http.MethodDelete) {
			line, _, _ = strings.Cut(line, " uid=")
		}
		p.note(line, true)
	}
	return p.text()
}
