package interpose

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
)

// view is how discovery differs from what the API server says. A collector asks
// for the two documents of aggregated discovery, /api and /apis, and for no other.
type view struct {
	// hidden are left out, by resource and group: widgets.example.com.
	hidden []string
	// blind lack the verb watch.
	blind []string
	// stale are groups and versions that could not be asked.
	stale []string
	// extra is added to /apis as a group of its own name, with one resource that
	// could be collected.
	extra string
	// broken are documents that are answered with a status instead.
	broken map[string]int
}

// see changes what discovery says from the next look on: one look is a question for
// /api and then one for /apis.
func (p *proxy) see(v view) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.discovery = v
}

// discovered changes an answer of discovery.
func (p *proxy) discovered(q *request, a *http.Response) error {
	who := a.Request.UserAgent() // several of a collector look, and not one after the other
	p.mu.Lock()
	if q.path == "/api" {
		p.looking[who] = p.discovery
	}
	v := p.looking[who]
	p.mu.Unlock()
	if code := v.broken[q.path]; code != 0 {
		a.StatusCode, a.Status = code, http.StatusText(code)
		a.Header.Set("Content-Type", "text/plain")
		_, err := replaceBody(a, func([]byte) ([]byte, error) { return []byte("broken by the test"), nil })
		p.finish(q, code, nil)
		return err
	}
	_, err := replaceBody(a, func(text []byte) ([]byte, error) {
		if !strings.Contains(a.Header.Get("Content-Type"), "as=APIGroupDiscoveryList") {
			return nil, fmt.Errorf("%s: the answer is no aggregated discovery", q.path)
		}
		return v.apply(q.path, text)
	})
	p.finish(q, a.StatusCode, nil)
	return err
}

func (v view) apply(path string, text []byte) ([]byte, error) {
	// Readers of a document learn first what it is, as from the API server.
	var list struct {
		Kind       string         `json:"kind"`
		APIVersion string         `json:"apiVersion"`
		Metadata   map[string]any `json:"metadata"`
		Items      []any          `json:"items"`
	}
	if err := json.Unmarshal(text, &list); err != nil {
		return nil, err
	}
	for _, g := range list.Items {
		group := g.(map[string]any)
		name, _ := group["metadata"].(map[string]any)["name"].(string)
		for _, w := range group["versions"].([]any) {
			v.change(name, w.(map[string]any))
		}
	}
	if v.extra != "" && path == "/apis" {
		list.Items = append(list.Items, collectable(v.extra))
	}
	return json.Marshal(list)
}

// change changes what one version of a group says.
func (v view) change(group string, version map[string]any) {
	if slices.Contains(v.stale, fmt.Sprint(group, "/", version["version"])) {
		version["freshness"] = "Stale"
	}
	resources, _ := version["resources"].([]any)
	version["resources"] = slices.DeleteFunc(resources, func(r any) bool {
		resource := r.(map[string]any)
		name := fmt.Sprint(resource["resource"], ".", group)
		if slices.Contains(v.blind, name) {
			resource["verbs"] = slices.DeleteFunc(resource["verbs"].([]any), func(verb any) bool { return verb == "watch" })
		}
		return slices.Contains(v.hidden, name)
	})
}

// collectable is a group with one resource that could be collected.
func collectable(group string) map[string]any {
	return map[string]any{
		"metadata": map[string]any{"name": group},
		"versions": []any{map[string]any{"version": "v1", "freshness": "Current", "resources": []any{map[string]any{
			"resource": "whatevers", "singularResource": "whatever", "scope": "Namespaced",
			"responseKind": map[string]any{"group": group, "version": "v1", "kind": "Whatever"},
			"verbs":        []any{"delete", "get", "list", "patch", "watch"},
		}}}},
	}
}
