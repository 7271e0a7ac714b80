package stuck

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/kubectl-gc/kubectl-gc/test/controlplane/cluster"
)

func marshal(t testing.TB, o any) []byte {
	t.Helper()
	text, err := json.Marshal(o)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// strictly reads JSON that has no other fields than those wanted.
func strictly(text []byte, into any) error {
	d := json.NewDecoder(bytes.NewReader(text))
	d.DisallowUnknownFields()
	return d.Decode(into)
}

// do does the steps, one after the other.
func (s *situation) do(ctx context.Context, steps []step) error {
	for i := range steps {
		if err := s.step(ctx, &steps[i]); err != nil {
			return fmt.Errorf("%s, step %d: %w", s.Name, i+1, err)
		}
	}
	return nil
}

func (s *situation) step(ctx context.Context, p *step) error {
	switch {
	case p.Create != nil:
		return s.create(ctx, p.Manager, p.Create)
	case p.Define != "":
		return nil // see define
	case p.Unserve != "":
		return s.change(ctx, "CustomResourceDefinition/"+p.Unserve, "", body{"spec": body{"versions": []any{version("v1", false, true)}}})
	case p.Convert != "":
		return s.convert(ctx, p.Convert)
	case p.Operator != nil:
		return s.create(ctx, "", p.Operator.manifests(s)...)
	case p.Webhook != nil:
		return s.webhook(ctx, p.Webhook)
	case p.Reader != nil:
		return s.create(ctx, "", p.Reader.manifests()...)
	case p.Claim != "":
		return s.create(ctx, "", claim(p.Claim, p.Volume, p.Finalizers))
	case p.Pod != nil:
		return s.create(ctx, "", p.Pod.manifest())
	case p.Node != nil:
		return s.create(ctx, "", p.Node.manifest())
	case p.Patch != "":
		return s.change(ctx, p.Patch, p.Manager, p.With)
	case p.Delete != "":
		return s.remove(ctx, p)
	case p.Store != "":
		text, err := json.Marshal(s.fill(p.Object))
		if err != nil {
			return err
		}
		s.place(p.Object)
		return plane.Store([]cluster.Stored{{Key: p.Store, Manifest: text}})
	}
	return errors.New("it does nothing")
}

// define makes the kinds of a situation; the caller waits until they are served.
func (s *situation) define(ctx context.Context) (names []string, err error) {
	for i := range s.Made {
		if name := s.Made[i].Define; name != "" {
			if err := s.create(ctx, "", definition(name)); err != nil {
				return nil, err
			}
			names = append(names, name)
		}
	}
	return names, nil
}

// create makes objects, with their status.
func (s *situation) create(ctx context.Context, manager string, objects ...body) error {
	for _, o := range objects {
		o = s.fill(o).(body)
		all, one := s.place(o)
		answer, err := send(ctx, http.MethodPost, all+"?fieldManager="+url.QueryEscape(manager), "application/json", o)
		if err != nil {
			return err
		}
		var made struct{ Metadata struct{ UID string } }
		if err := json.Unmarshal(answer, &made); err != nil {
			return err
		}
		s.uids[fmt.Sprint(o["kind"], "/", o["metadata"].(body)["name"])] = made.Metadata.UID
		if status, ok := o["status"]; ok {
			if _, err := send(ctx, http.MethodPatch, one+"/status", "application/merge-patch+json", body{"status": status}); err != nil {
				return err
			}
		}
	}
	return nil
}

// send sends a request, again while a kind that is new is being read from storage.
func send(ctx context.Context, method, path, form string, o any) ([]byte, error) {
	text, err := json.Marshal(o)
	if err != nil {
		return nil, err
	}
	var answer []byte
	err = cluster.Await(ctx, path+" is ready", func(ctx context.Context) (bool, error) {
		answer, err = plane.Do(ctx, method, path, form, text)
		if cluster.Code(err) == http.StatusTooManyRequests {
			return false, nil
		}
		return true, err
	})
	return answer, err
}

// change is a merge patch.
func (s *situation) change(ctx context.Context, name, manager string, with body) error {
	path, err := s.at(name)
	if err == nil {
		_, err = send(ctx, http.MethodPatch, path+"?fieldManager="+url.QueryEscape(manager), "application/merge-patch+json", s.fill(with))
	}
	return err
}

// convert gives a definition a second version, in which instances are stored from now
// on, and a webhook without endpoints to convert between the two.
func (s *situation) convert(ctx context.Context, name string) error {
	hook := webhook{Name: s.Name}
	if err := s.create(ctx, "", hook.manifests(s)[0]); err != nil {
		return err
	}
	return s.change(ctx, "CustomResourceDefinition/"+name, "", body{"spec": body{
		"versions": []any{version("v2", true, true), version("v1", true, false)},
		"conversion": body{"strategy": "Webhook", "webhook": body{
			"conversionReviewVersions": []any{"v1"},
			"clientConfig":             body{"service": body{"namespace": "default", "name": s.Name}},
		}},
	}})
}

// webhook makes a webhook and waits until it is in force: until something that it
// guards is refused.
func (s *situation) webhook(ctx context.Context, w *webhook) error {
	if err := s.create(ctx, "", w.manifests(s)...); err != nil {
		return err
	}
	path := ""
	for _, p := range s.places {
		if strings.Contains(p, "/"+w.Resources[0]+"/") {
			path = p
		}
	}
	method, form, text := http.MethodDelete, "application/json", `{"dryRun":["All"]}`
	if w.Operations[0] == "UPDATE" {
		method, form, text = http.MethodPatch, "application/merge-patch+json", `{"metadata":{"labels":{"a":"b"}}}`
		path += "?dryRun=All"
	}
	return cluster.Await(ctx, "the webhook "+w.Name+" is in force", func(ctx context.Context) (bool, error) {
		_, err := plane.Do(ctx, method, path, form, []byte(text))
		return cluster.Code(err) == http.StatusInternalServerError, nil
	})
}

func (s *situation) remove(ctx context.Context, p *step) error {
	path, err := s.at(p.Delete)
	if err != nil {
		return err
	}
	if len(p.Foretell) > 0 {
		if err := s.foretell(p); err != nil {
			return err
		}
	}
	options := body{"apiVersion": "v1", "kind": "DeleteOptions"}
	if p.Policy != "" {
		options["propagationPolicy"] = p.Policy
	}
	if p.Grace != nil {
		options["gracePeriodSeconds"] = *p.Grace
	}
	_, err = send(ctx, http.MethodDelete, path, "application/json", options)
	return err
}

// fill puts uids and times into a manifest: $uid:Kind/name, $now and $ago:10m.
func (s *situation) fill(o any) any {
	switch o := o.(type) {
	case body:
		filled := body{}
		for key, value := range o {
			filled[key] = s.fill(value)
		}
		return filled
	case []any:
		filled := make([]any, len(o))
		for i, value := range o {
			filled[i] = s.fill(value)
		}
		return filled
	case string:
		return s.fillText(o)
	}
	return o
}

func (s *situation) fillText(text string) string {
	if name, ok := strings.CutPrefix(text, "$uid:"); ok {
		return s.uids[name]
	}
	const stamp = "2006-01-02T15:04:05.000000Z"
	if text == "$now" {
		return time.Now().UTC().Format(stamp)
	}
	if ago, ok := strings.CutPrefix(text, "$ago:"); ok {
		if d, err := time.ParseDuration(ago); err == nil {
			return time.Now().UTC().Add(-d).Format(stamp)
		}
	}
	return text
}

// await waits until everything is as it has to be before somebody asks.
func (s *situation) await(ctx context.Context) error {
	for _, u := range s.Until {
		path, err := s.at(u.Object)
		if err != nil {
			return err
		}
		last := ""
		err = cluster.Await(ctx, fmt.Sprintf("%s: %+v", s.Name, u), func(ctx context.Context) (bool, error) {
			text, err := plane.Do(ctx, http.MethodGet, path, "", nil)
			last = string(text)
			if u.Gone {
				return cluster.Code(err) == http.StatusNotFound, nil
			}
			return err == nil && strings.Contains(last, u.Has) && (u.Lacks == "" || !strings.Contains(last, u.Lacks)), nil
		})
		if err != nil {
			return fmt.Errorf("%w\n%s", err, last)
		}
	}
	return nil
}

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
