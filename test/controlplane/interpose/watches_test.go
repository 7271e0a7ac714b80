package interpose

import (
	"io"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/kubectl-gc/kubectl-gc/internal/snapshot"
)

// aggregated is the media type of discovery in one document.
const aggregated = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList"

// monitored are the collections that the collector watches after our own reading
// of the discovery documents that it is shown now, sorted.
func (c *collector) monitored(t *testing.T) []string {
	t.Helper()
	dir := t.TempDir()
	for _, path := range []string{"/api", "/apis"} { // one look, as the collector's
		request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, c.URL+path, http.NoBody)
		if err != nil {
			t.Fatal(err)
		}
		request.Header.Set("Accept", aggregated)
		answer, err := http.DefaultClient.Do(request)
		if err != nil {
			t.Fatal(err)
		}
		text, err := io.ReadAll(answer.Body)
		if err != nil {
			t.Fatal(err)
		}
		if err := answer.Body.Close(); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, path+".json"), text, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	snap, err := snapshot.ReadFiles([]string{dir}, snapshot.Options{})
	if err != nil || !snap.Source.Discovered {
		t.Fatalf("the discovery documents were not read: %v", err)
	}
	var paths []string
	for _, r := range snap.Resources.All() {
		if !snap.Resources.Monitored(r) {
			continue
		}
		prefix := "/apis/"
		if r.Group == "" {
			prefix = "/api/"
		}
		paths = append(paths, prefix+r.APIVersion()+"/"+r.Name)
	}
	slices.Sort(paths)
	return c.ours(paths)
}

// ours leaves out the custom resources of other tests.
func (c *collector) ours(list []string) []string {
	return slices.DeleteFunc(list, func(text string) bool {
		return strings.Contains(text, ".example.com") && !strings.Contains(text, "."+c.realm+".example.com")
	})
}

// change is what the collector says of one look at discovery that made a
// difference.
type change struct{ added, removed []string }

var inDiff = regexp.MustCompile(`diff="added: \[([^\]]*)\], removed: \[([^\]]*)\]"`)
var inList = regexp.MustCompile(`(\S*/\S+), Resource=(\S+)`)

// changes are the differences that the collector found so far in what is not of other
// tests. The first is everything.
func (c *collector) changes() []change {
	var list []change
	for _, line := range c.logged("syncing garbage collector with updated resources from discovery") {
		words := inDiff.FindStringSubmatch(line)
		if words == nil {
			continue
		}
		if is := (change{c.ours(resourcesIn(words[1])), c.ours(resourcesIn(words[2]))}); len(is.added)+len(is.removed) > 0 {
			list = append(list, is)
		}
	}
	return list
}

func resourcesIn(text string) []string {
	var list []string
	for _, r := range inList.FindAllStringSubmatch(text, -1) {
		list = append(list, strings.TrimPrefix(r[1]+" "+r[2], "/"))
	}
	return list
}

// nothingButAggregated makes sure that the collector asked for the two documents
// of aggregated discovery and for no other.
func (c *collector) nothingButAggregated(t *testing.T) {
	t.Helper()
	for _, q := range c.asked(pattern{method: http.MethodGet}) {
		if words := strings.Split(strings.Trim(q.path, "/"), "/"); words[0] == "apis" && (len(words) == 2 || len(words) == 3) {
			t.Errorf("the garbage collector asked for %s", q.path)
		}
	}
}
