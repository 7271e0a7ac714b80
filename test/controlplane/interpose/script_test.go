package interpose

import (
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"regexp"
	"slices"
	"strings"

	"github.com/google/go-cmp/cmp"
)

// scenarios is where the scenario files of the engine are.
const scenarios = "../../../internal/engine/testdata/scenarios/"

// script is what the collector asked of the objects of a world, in the words of a
// scenario file.
func (w *world) script() []string {
	var lines []string
	for _, q := range w.asked(pattern{}) {
		before, after, ok := strings.Cut(q.path, "/namespaces/"+w.namespace+"/")
		plural, name, _ := strings.Cut(after, "/")
		if !ok || kinds[plural] == "" || strings.HasPrefix(name, "fence-") || q.method == http.MethodPost {
			continue
		}
		apiVersion := strings.TrimPrefix(strings.TrimPrefix(before, "/apis/"), "/api/")
		if strings.Contains(apiVersion, ".example.com/") {
			apiVersion = "example.com/v1"
		}
		lines = append(lines, fmt.Sprintf("%s %s %s n/%s%s", q.method, apiVersion, kinds[plural], name, w.said(q)))
	}
	return lines
}

// unanswered ends a request that was not answered yet.
const unanswered = " → 0"

// said is what a request says and how it was answered.
func (w *world) said(q request) string {
	name := func(uid string) string {
		if name := w.names[uid]; name != "" {
			return name
		}
		return uid
	}
	text := ""
	switch q.method {
	case http.MethodDelete:
		var o struct {
			PropagationPolicy string
			Preconditions     struct{ UID, ResourceVersion string }
		}
		if err := json.Unmarshal(q.body, &o); err != nil {
			return err.Error()
		}
		text = fmt.Sprintf(" %s uid=%s", o.PropagationPolicy, name(o.Preconditions.UID))
		if o.Preconditions.ResourceVersion != "" {
			text += " rv=" + o.Preconditions.ResourceVersion
		}
	case http.MethodPatch:
		form, _, _ := strings.Cut(strings.TrimPrefix(q.contentType, "application/"), "-")
		body := string(q.body)
		for uid, name := range w.names {
			body = strings.ReplaceAll(body, uid, name)
		}
		text = " " + form + " " + body
	}
	text += fmt.Sprintf(" → %d", q.code)
	if q.method == http.MethodGet && q.code == http.StatusOK {
		var o struct {
			Metadata struct{ UID, ResourceVersion string }
		}
		if err := json.Unmarshal(q.answer, &o); err != nil {
			return err.Error()
		}
		text += fmt.Sprintf(" uid=%s rv=%s", name(o.Metadata.UID), o.Metadata.ResourceVersion)
	}
	return text
}

// expected are the requests in a world of a scenario file, from 1.
func expected(file string, number int) ([]string, error) {
	text, err := os.ReadFile(scenarios + file)
	if err != nil {
		return nil, err
	}
	worlds := strings.Split("\n"+string(text), "\ncluster")
	if number >= len(worlds) {
		return nil, fmt.Errorf("%s has no world %d", file, number)
	}
	var lines []string
	for line := range strings.Lines(worlds[number]) {
		if line = strings.TrimSpace(line); isRequest.MatchString(line) {
			lines = append(lines, line)
		}
	}
	return lines, nil
}

var (
	isRequest = regexp.MustCompile(`^(GET|DELETE|PATCH) .* → \d+`)
	version   = regexp.MustCompile(`( rv=|"resourceVersion":")(\d+)`)
	document  = regexp.MustCompile(`\{.*\}`)
)

// numbered numbers the versions of every object in the order in which they
// appear, and orders the fields of documents.
func numbered(lines []string) []string {
	seen := map[string][]string{}
	out := make([]string, len(lines))
	for i, line := range lines {
		words := strings.Fields(line)
		object := strings.Join(words[1:4], " ")
		line = document.ReplaceAllStringFunc(line, func(text string) string {
			var d any
			if json.Unmarshal([]byte(text), &d) != nil {
				return text
			}
			ordered, err := json.Marshal(d)
			if err != nil {
				return text
			}
			return string(ordered)
		})
		out[i] = version.ReplaceAllStringFunc(line, func(text string) string {
			parts := version.FindStringSubmatch(text)
			n := slices.Index(seen[object], parts[2])
			if n < 0 {
				n = len(seen[object])
				seen[object] = append(seen[object], parts[2])
			}
			return fmt.Sprintf("%s%d", parts[1], n+1)
		})
	}
	return out
}

// writes are the requests that are no reads.
func writes(lines []string) []string {
	return slices.DeleteFunc(slices.Clone(lines), func(l string) bool { return strings.HasPrefix(l, "GET ") })
}

// asks makes sure that the collector asks what a world of a scenario file says, in
// that order, and nothing else. The scenario is changed by the functions first.
func (w *world) asks(file string, number int, change ...func([]string) []string) {
	w.t.Helper()
	want, err := expected(file, number)
	if err != nil || len(want) == 0 {
		w.t.Fatalf("%s: no requests: %v", file, err)
	}
	have := func() []string {
		list := w.script()
		for _, f := range change {
			list = f(list)
		}
		return numbered(list)
	}
	for _, f := range change {
		want = f(want)
	}
	want = numbered(want)
	w.until("it asks what "+file+" says:\n"+strings.Join(want, "\n"), func() bool {
		list := have()
		open := slices.ContainsFunc(list, func(l string) bool { return strings.HasSuffix(l, unanswered) })
		return len(list) >= len(want) && !open || w.t.Failed()
	})
	w.fence()
	if diff := cmp.Diff(want, have()); diff != "" {
		w.t.Errorf("%s, world %d, and what a real collector asked (+):\n%s", file, number, diff)
	}
}
