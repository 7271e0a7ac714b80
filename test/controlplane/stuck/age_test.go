package stuck

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/kubectl-gc/kubectl-gc/test/controlplane/cluster"
)

// ago is how long everything has been being deleted that is not young.
const ago = time.Hour

// age has all objects of the situation that are being deleted look as if that had
// begun long ago. No request can: the storage is changed.
func (s *situation) age(ctx context.Context) error {
	if s.Young {
		return nil
	}
	paths := slices.Collect(maps.Values(s.places))
	if !s.WithoutNamespace {
		paths = append(paths, "/api/v1/namespaces/"+s.Name)
	}
	slices.Sort(paths)
	for _, path := range paths {
		if err := s.ageOne(ctx, path); err != nil {
			return fmt.Errorf("%s: %s: %w", s.Name, path, err)
		}
	}
	return nil
}

func (s *situation) ageOne(ctx context.Context, path string) error {
	text, err := plane.Do(ctx, http.MethodGet, path, "", nil)
	if code := cluster.Code(err); code == http.StatusNotFound || code == http.StatusInternalServerError {
		return nil // gone, or not to be converted
	} else if err != nil {
		return err
	}
	var o body
	if err := json.Unmarshal(text, &o); err != nil {
		return err
	}
	m := o["metadata"].(body)
	stamp, ok := m["deletionTimestamp"].(string)
	if !ok {
		return nil
	}
	at, err := time.Parse(time.RFC3339, stamp)
	if err != nil || time.Since(at) > ago/2 {
		return err
	}
	aged := time.Now().UTC().Add(-ago).Format(time.RFC3339)
	m["deletionTimestamp"] = aged
	delete(m, "resourceVersion")
	if text, err = json.Marshal(o); err != nil {
		return err
	}
	if err := plane.Store([]cluster.Stored{{Key: key(path), Manifest: text}}); err != nil {
		return err
	}
	return cluster.Await(ctx, path+" is old", func(ctx context.Context) (bool, error) {
		text, err := plane.Do(ctx, http.MethodGet, path, "", nil)
		return strings.Contains(string(text), aged), err
	})
}

// key is where the API server keeps an object.
func key(path string) string {
	parts := strings.Split(strings.TrimPrefix(path, "/"), "/")
	group := ""
	if parts = parts[1:]; strings.HasPrefix(path, "/apis/") {
		group, parts = parts[0], parts[1:]
	}
	if parts = parts[1:]; parts[0] == "namespaces" && len(parts) > 2 {
		parts = []string{parts[2], parts[1], parts[3]}
	}
	switch {
	case parts[0] == "services":
		parts = slices.Insert(parts, 1, "specs")
	case strings.HasSuffix(group, ".k8s.io") && group != "apiextensions.k8s.io", group == "apps", group == "batch":
		group = ""
	}
	return strings.TrimPrefix(strings.Join(append([]string{group}, parts...), "/"), "/")
}
