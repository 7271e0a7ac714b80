package cluster

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"
)

// aggregated is the media type of discovery in one document.
const aggregated = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList"

// served is a discovery document, as far as it is read here.
type served struct {
	Items []struct {
		Metadata struct{ Name string }
		Versions []struct {
			Version   string
			Freshness string
			Resources []struct {
				Resource string
				Verbs    []string
			}
		}
	}
}

// beginnings are what every API server makes by itself a while after it says that
// it is ready.
var beginnings = []string{
	"/api/v1/namespaces/default", "/api/v1/namespaces/kube-system", "/api/v1/namespaces/kube-public",
	"/api/v1/namespaces/kube-node-lease", "/api/v1/namespaces/default/services/kubernetes",
	"/api/v1/namespaces/kube-system/configmaps/kube-apiserver-legacy-service-account-token-tracking",
}

// Whole waits until everything that is served is discovered and can be listed, and
// what the API server makes by itself is there.
func (c *Cluster) Whole(ctx context.Context) error {
	listed := map[string]bool{}
	return Await(ctx, "the API server serves everything", func(ctx context.Context) (bool, error) {
		for _, path := range beginnings {
			if ok, err := c.there(ctx, path); !ok || err != nil {
				return false, err
			}
		}
		groups, ok, err := c.groups(ctx)
		if !ok || err != nil {
			return false, err
		}
		for _, path := range groups {
			if listed[path] {
				continue
			}
			look := path + "?limit=1"
			if strings.HasSuffix(path, "/servicecidrs") { // not every release serves them
				look = path + "/kubernetes"
			}
			if listed[path], err = c.there(ctx, look); !listed[path] || err != nil {
				return false, err
			}
		}
		return true, nil
	})
}

// Collections are the paths of everything that can be listed, of all versions.
func (c *Cluster) Collections(ctx context.Context) ([]string, error) {
	paths, _, err := c.groups(ctx)
	return paths, err
}

// groups are the collections that can be listed. ok is false while a group that is
// registered is missing.
func (c *Cluster) groups(ctx context.Context) (paths []string, ok bool, err error) {
	var registered struct {
		Items []struct {
			Spec struct{ Group, Version string }
		}
	}
	text, err := c.Do(ctx, http.MethodGet, "/apis/apiregistration.k8s.io/v1/apiservices", "", nil)
	if err == nil {
		err = json.Unmarshal(text, &registered)
	}
	if err != nil {
		return nil, false, err
	}
	roots := map[string]bool{}
	for _, root := range []string{"/api", "/apis"} {
		d, err := c.discovery(ctx, root)
		if err != nil {
			return nil, false, err
		}
		for _, g := range d.Items {
			for _, v := range g.Versions {
				at := strings.TrimSuffix(root+"/"+g.Metadata.Name, "/") + "/" + v.Version
				roots[at] = v.Freshness == "Current"
				for _, r := range v.Resources {
					if slices.Contains(r.Verbs, "list") {
						paths = append(paths, at+"/"+r.Resource)
					}
				}
			}
		}
	}
	missing := false
	for _, s := range registered.Items {
		at := "/apis/" + s.Spec.Group + "/" + s.Spec.Version
		if s.Spec.Group == "" {
			at = "/api/" + s.Spec.Version
		}
		missing = missing || !roots[at]
	}
	return paths, len(registered.Items) > 0 && !missing, nil
}

// discovery reads one of the two documents of discovery.
func (c *Cluster) discovery(ctx context.Context, path string) (served, error) {
	text, err := c.ask(ctx, http.MethodGet, path, aggregated, "", nil)
	if err != nil {
		return served{}, err
	}
	var d served
	return d, json.Unmarshal(text, &d)
}

// there reports whether a path is answered. One that is new is not there at first, and
// then it is not ready.
func (c *Cluster) there(ctx context.Context, path string) (bool, error) {
	_, err := c.Do(ctx, http.MethodGet, path, "", nil)
	switch Code(err) {
	case http.StatusNotFound, http.StatusTooManyRequests, http.StatusServiceUnavailable:
		return false, nil
	}
	return err == nil, err
}

// Serves waits until versions of a custom resource can be listed, and discovery, which
// is later, tells of them and of no other version.
func (c *Cluster) Serves(ctx context.Context, group, resource string, versions ...string) error {
	return Await(ctx, resource+"."+group+" is served and discovered", func(ctx context.Context) (bool, error) {
		for _, v := range versions {
			if ok, err := c.there(ctx, "/apis/"+group+"/"+v+"/"+resource+"?limit=1"); !ok || err != nil {
				return false, err
			}
		}
		d, err := c.discovery(ctx, "/apis")
		if err != nil {
			return false, err
		}
		var told []string
		for _, g := range d.Items {
			for _, v := range g.Versions {
				for _, r := range v.Resources {
					if g.Metadata.Name == group && r.Resource == resource && v.Freshness == "Current" {
						told = append(told, v.Version)
					}
				}
			}
		}
		return slices.Equal(slices.Sorted(slices.Values(told)), slices.Sorted(slices.Values(versions))), nil
	})
}

// Patience is how long anything may take that has to happen: so long that no machine
// is too slow. Whoever waits goes on as soon as it has happened.
const Patience = 5 * time.Minute

// The first looks follow one another quickly; what takes longer is looked at less
// often.
const (
	soonest = 5 * time.Millisecond
	latest  = 250 * time.Millisecond
)

// Await looks until something holds, and fails after Patience, with the context, or
// with the error of a look. What is waited for is named in the error.
func Await(ctx context.Context, what string, holds func(context.Context) (bool, error)) error {
	ctx, cancel := context.WithTimeout(ctx, Patience)
	defer cancel()
	pause := time.NewTimer(0)
	defer pause.Stop()
	for wait := soonest; ; wait = min(wait*3/2, latest) {
		ok, err := holds(ctx)
		if err != nil {
			return fmt.Errorf("while waiting until %s: %w", what, err)
		}
		if ok {
			return nil
		}
		pause.Reset(wait)
		select {
		case <-ctx.Done():
			return fmt.Errorf("it did not come true that %s: %w", what, ctx.Err())
		case <-pause.C:
		}
	}
}

// Until is Await for tests: it ends a test for which something does not come true.
func Until(t testing.TB, what string, holds func() bool) {
	t.Helper()
	// The context of a test ends before what the test cleans up.
	err := Await(context.WithoutCancel(t.Context()), what, func(context.Context) (bool, error) { return holds(), nil })
	if err != nil {
		t.Fatal(err)
	}
}
