package cluster

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"path"
	"slices"
	"strings"
)

// Content is everything that a control plane has, by path.
type Content map[string]bool

// item is an object, as far as it is struck.
type item struct {
	path       string
	finalizers bool
}

// Content is what there is now.
func (c *Cluster) Content(ctx context.Context) (Content, error) {
	items, err := c.items(ctx)
	content := Content{}
	for _, i := range items {
		content[i.path] = true
	}
	return content, err
}

// Strike removes everything that was not there once, whoever holds it: the finalizers
// of others are taken off. Controllers may run meanwhile, and make again what they
// want; so it looks until nothing is left. Events go first: some belong to what is
// gone already.
func (c *Cluster) Strike(ctx context.Context, once Content) error {
	if err := c.Wipe("events/"); err != nil {
		return err
	}
	var rest []item
	err := Await(ctx, "nothing is left of what was made", func(ctx context.Context) (bool, error) {
		items, err := c.items(ctx)
		if err != nil {
			return false, err
		}
		var last []item
		rest = nil
		for _, i := range items {
			switch {
			case once[i.path]:
			case slices.ContainsFunc(containers, func(kind string) bool {
				return strings.HasPrefix(i.path, kind) && !strings.Contains(i.path[len(kind):], "/")
			}):
				last = append(last, i)
			default:
				rest = append(rest, i)
			}
		}
		// What is in a namespace cannot be changed any more when that has gone.
		if len(rest) == 0 {
			rest = last
		}
		for _, i := range rest {
			if err := c.strike(ctx, i); err != nil {
				return false, err
			}
		}
		return len(rest) == 0, nil
	})
	if err != nil {
		return fmt.Errorf("%w; left are %v", err, rest)
	}
	return nil
}

const (
	namespaces  = "/api/v1/namespaces/"
	definitions = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions/"
)

// containers are what goes after its content. An APIService stands there as long as
// the definition of one of its kinds.
var containers = []string{namespaces, definitions, "/apis/apiregistration.k8s.io/v1/apiservices/"}

// strike deletes one object without asking anybody who holds it. A namespace is in
// here only when it is an object: paths of what is in it go deeper.
func (c *Cluster) strike(ctx context.Context, i item) error {
	const merge = "application/merge-patch+json"
	var errs []error
	send := func(method, path, form, body string) {
		_, err := c.Do(ctx, method, path, form, []byte(body))
		switch Code(err) {
		case http.StatusNotFound, http.StatusConflict, http.StatusTooManyRequests:
		default:
			errs = append(errs, err)
		}
	}
	// Of a definition the API server itself takes it off, when it is through with it.
	if i.finalizers && !strings.HasPrefix(i.path, definitions) {
		send(http.MethodPatch, i.path, merge, `{"metadata":{"finalizers":null}}`)
	}
	send(http.MethodDelete, i.path, "application/json", `{"gracePeriodSeconds":0,"propagationPolicy":"Background"}`)
	if name, ok := strings.CutPrefix(i.path, namespaces); ok && !strings.Contains(name, "/") {
		send(http.MethodPut, i.path+"/finalize", "application/json",
			`{"apiVersion":"v1","kind":"Namespace","metadata":{"name":"`+name+`"},"spec":{"finalizers":[]}}`)
	}
	return errors.Join(errs...)
}

// metadataOnly is the media type of lists without specs.
const metadataOnly = "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1"

// items are all objects that can be listed.
func (c *Cluster) items(ctx context.Context) ([]item, error) {
	collections, _, err := c.groups(ctx)
	if err != nil {
		return nil, err
	}
	var all []item
	seen := map[string]bool{}
	for _, at := range collections {
		// The other versions of a group are of the same objects.
		in, kind := path.Split(at)
		group := path.Dir(path.Clean(in)) + " " + kind
		if seen[group] || kind == "events" {
			continue
		}
		seen[group] = true
		text, err := c.ask(ctx, http.MethodGet, at, metadataOnly, "", nil)
		if code := Code(err); code == http.StatusNotFound || code == http.StatusMethodNotAllowed {
			continue // a kind that goes at this moment
		} else if err != nil {
			return nil, err
		}
		var list struct {
			Items []struct {
				Metadata struct {
					Name, Namespace string
					Finalizers      []string
				}
			}
		}
		if err := json.Unmarshal(text, &list); err != nil {
			return nil, err
		}
		for _, o := range list.Items {
			in := in
			if o.Metadata.Namespace != "" {
				in += "namespaces/" + o.Metadata.Namespace + "/"
			}
			all = append(all, item{in + kind + "/" + o.Metadata.Name, len(o.Metadata.Finalizers) > 0})
		}
	}
	return all, nil
}
