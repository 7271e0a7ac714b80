package scenario

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"strconv"
	"strings"

	"github.com/cockroachdb/datadriven"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/kubectl-gc/kubectl-gc/internal/apisim"
	"github.com/kubectl-gc/kubectl-gc/internal/object"
	"github.com/kubectl-gc/kubectl-gc/internal/release"
)

// serverDirectives are the directives that ask the server for something, as a
// user would. Each prints the answer and the watch events that it caused.
var serverDirectives = map[string]Handler{
	"release":          setRelease,
	"cluster":          cluster,
	"create":           create,
	"update":           update,
	"finalize":         finalize,
	"patch":            patch,
	"delete":           remove,
	"deletecollection": removeCollection,
	"get":              get,
	"state":            state,
	"warnings":         warnings,
	"tick":             tick,
	"clock":            clock,
	"lingering":        lingering,
	"deny":             deny,
	"fault":            fault,
}

// setRelease has the worlds that follow be those of a release, such as v1.32, until the next
// such line. A file without one holds for every release.
func setRelease(e *Env, d *datadriven.TestData) (string, error) {
	for _, m := range release.Measured() {
		if len(d.CmdArgs) == 1 && d.CmdArgs[0].Key == m.String() {
			e.Release = m
			return "", nil
		}
	}
	return "", fmt.Errorf("one release is wanted, from %s to %s", release.Oldest, release.Newest)
}

// cluster starts over with the world of its input. `resources=` adds kinds,
// `uncovered=` makes places unknown, `unserved=` ones that answer 404 to a list,
// `undiscovered=` names API versions that discovery fails for, `gc=off` is the server
// flag.
func cluster(e *Env, d *datadriven.TestData) (string, error) {
	names := Names{}
	objects, err := ParseWorld(d.Input, names)
	if err != nil {
		return "", err
	}
	resources := Resources()
	gaps := coverage{}
	var opts []apisim.Option
	for _, arg := range d.CmdArgs {
		switch arg.Key {
		case "resources":
			for _, text := range arg.Vals {
				r, err := parseResource(strings.Split(text, ":"))
				if err != nil {
					return "", err
				}
				resources.Add(r)
			}
		case "uncovered":
			for _, text := range arg.Vals {
				if err := gaps.add(text); err != nil {
					return "", err
				}
			}
		case "undiscovered":
			gaps.undiscovered = append(gaps.undiscovered, arg.Vals...)
		case "unserved":
			for _, text := range arg.Vals {
				if err := gaps.addUnserved(text); err != nil {
					return "", err
				}
			}
		case "gc":
			opts = append(opts, apisim.WithoutGarbageCollection())
		default:
			return "", fmt.Errorf("there is no argument %q", arg.Key)
		}
	}
	for _, o := range objects {
		if _, err := resources.For(o.APIVersion, o.Kind); err != nil {
			return "", fmt.Errorf("%s: %w", o.Ref, err)
		}
		gaps.namespaces = gaps.namespaces || o.APIVersion == "v1" && o.Kind == "Namespace"
	}
	e.reset(objects, resources, names, append(opts, apisim.WithCoverage(gaps))...)
	e.seen = &gaps
	return "ok", nil
}

func (e *Env) answer(err error) (string, error) { return Answer(err) + "\n" + e.Drain(), nil }

func create(e *Env, d *datadriven.TestData) (string, error) {
	o, err := ParseObject(Words(d), e.Names)
	if err != nil {
		return "", err
	}
	_, err = e.Server.Create(context.Background(), o)
	return e.answer(err)
}

func update(e *Env, d *datadriven.TestData) (string, error) {
	o, err := ParseObject(Words(d), e.Names)
	if err != nil {
		return "", err
	}
	_, err = e.Server.Update(context.Background(), o)
	return e.answer(err)
}

// finalize reads a namespace, sets its spec.finalizers and puts it back.
func finalize(e *Env, d *datadriven.TestData) (string, error) {
	ref, rest, err := e.Target(Words(d))
	if err != nil {
		return "", err
	}
	o, err := e.Server.Get(context.Background(), ref)
	if err != nil {
		return e.answer(err)
	}
	o = o.Clone()
	if err := setAttributes(o, rest, e.Names); err != nil {
		return "", err
	}
	_, err = e.Server.Finalize(context.Background(), o)
	return e.answer(err)
}

func get(e *Env, d *datadriven.TestData) (string, error) {
	ref, _, err := e.Target(Words(d))
	if err != nil {
		return "", err
	}
	o, err := e.Server.Get(context.Background(), ref)
	if err != nil {
		return Answer(err), nil
	}
	return Format(o, e.Names), nil
}

func remove(e *Env, d *datadriven.TestData) (string, error) {
	ref, rest, err := e.Target(Words(d))
	if err != nil {
		return "", err
	}
	o, err := ParseDelete(rest)
	if err != nil {
		return "", err
	}
	return e.answer(e.Server.Delete(context.Background(), ref, o))
}

// removeCollection deletes what ParseCollection reads.
func removeCollection(e *Env, d *datadriven.TestData) (string, error) {
	c, err := ParseCollection(Words(d))
	if err != nil {
		return "", err
	}
	r, err := e.Server.Resource(c.APIVersion, c.Kind)
	if err != nil {
		return Answer(err), nil
	}
	return e.answer(e.Server.DeleteCollection(context.Background(), r, c.Namespace, c.Selector, c.Options))
}

// Collection is what a deletecollection asks for.
type Collection struct {
	APIVersion, Kind string
	Namespace        string // empty for all
	Selector         labels.Selector
	Options          metav1.DeleteOptions
}

// ParseCollection reads `apiVersion Kind [namespace]` with `selector=` and what
// ParseDelete reads.
func ParseCollection(words []string) (Collection, error) {
	if len(words) < 2 {
		return Collection{}, fmt.Errorf("want apiVersion and kind")
	}
	c := Collection{APIVersion: words[0], Kind: words[1], Selector: labels.Everything()}
	words = words[2:]
	if len(words) > 0 && !strings.Contains(words[0], "=") {
		c.Namespace, words = words[0], words[1:]
	}
	var err error
	if len(words) > 0 && strings.HasPrefix(words[0], "selector=") {
		if c.Selector, err = labels.Parse(strings.TrimPrefix(words[0], "selector=")); err != nil {
			return c, err
		}
		words = words[1:]
	}
	c.Options, err = ParseDelete(words)
	return c, err
}

// ParseDelete reads `policy= orphan= grace= uid= rv= dry` into delete options;
// `dry=` with a value is a dry run of that name instead of All.
func ParseDelete(words []string) (metav1.DeleteOptions, error) {
	var o metav1.DeleteOptions
	for _, word := range words {
		key, value, _ := strings.Cut(word, "=")
		if (key == "uid" || key == "rv") && o.Preconditions == nil {
			o.Preconditions = &metav1.Preconditions{}
		}
		var err error
		switch key {
		case "policy":
			o.PropagationPolicy = new(metav1.DeletionPropagation(value))
		case "orphan":
			var yes bool
			yes, err = strconv.ParseBool(value)
			o.OrphanDependents = &yes
		case "grace":
			o.GracePeriodSeconds, err = parseOptional(key, value)
		case "uid":
			o.Preconditions.UID = new(uid(value))
		case "rv":
			o.Preconditions.ResourceVersion = &value
		case "dry":
			o.DryRun = []string{cmp.Or(value, metav1.DryRunAll)}
		default:
			err = fmt.Errorf("there is no delete option %q", key)
		}
		if err != nil {
			return o, err
		}
	}
	return o, nil
}

// patch sends what ParsePatch reads.
func patch(e *Env, d *datadriven.TestData) (string, error) {
	ref, p, err := e.ParsePatch(Words(d))
	if err != nil {
		return "", err
	}
	return e.answer(e.Server.Patch(context.Background(), ref, p))
}

// ParsePatch reads `merge|strategic TARGET` with what the patch says: uid, rv,
// fin, owners (merge), drop and owners (strategic), labels, deleting.
func (e *Env) ParsePatch(words []string) (object.Ref, object.Patch, error) {
	p := object.Patch{Type: object.StrategicMerge}
	if len(words) == 0 || words[0] != "merge" && words[0] != "strategic" {
		return object.Ref{}, p, fmt.Errorf("want merge or strategic first")
	}
	if words[0] == "merge" {
		p.Type = object.Merge
	}
	ref, rest, err := e.Target(words[1:])
	if err != nil {
		return ref, p, err
	}
	for _, word := range rest {
		key, value, _ := strings.Cut(word, "=")
		if err := setPatch(&p, key, value, e.Names); err != nil {
			return ref, p, err
		}
	}
	return ref, p, nil
}

func setPatch(p *object.Patch, key, value string, names Names) error {
	switch key {
	case "uid":
		p.UID = uid(value)
	case "rv":
		p.ResourceVersion = value
	case "fin":
		p.Finalizers = new(list(value))
	case "drop":
		for _, u := range list(value) {
			p.DeleteOwners = append(p.DeleteOwners, uid(u))
		}
	case "owners":
		owners, err := parseOwners(value, names)
		if err != nil {
			return err
		}
		if p.Type == object.Merge {
			p.Owners = &owners
		} else {
			p.MergeOwners = owners
		}
	case "labels":
		l, err := parseLabels(value)
		if err != nil {
			return err
		}
		p.Labels = maps.Collect(l.All)
	case "deleting":
		at := Start
		if value == "null" {
			at = 0
		} else if value != "" {
			offset, err := parseNumber(key, value)
			if err != nil {
				return err
			}
			at += offset
		}
		p.DeletionTimestamp = &at
	default:
		return fmt.Errorf("a patch has no %q", key)
	}
	return nil
}
