package main

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// local is what of the machine shows in a dump.
type local struct {
	host string
	port string // of the API server
}

// normaliser writes dumps the way they would be written each time. What is left to
// chance or taken from the machine gets another value, the same wherever it stands.
type normaliser struct {
	dumps []*dump
	timeline
	local
	// known are the UUIDs that were given, written the times, and replaced whatever
	// must not be left.
	known, written, replaced map[string]bool
}

// normalise rewrites dumps of one cluster, which are in the order in which they
// were taken. It fails when something is left that would differ the next time.
func normalise(dumps []*dump, line timeline, machine local) error {
	n := &normaliser{dumps: dumps, timeline: line, local: machine,
		known: map[string]bool{}, written: map[string]bool{}, replaced: map[string]bool{}}
	for _, step := range []func() error{
		n.machine, n.dueJobs, n.generatedNames, n.tokens, n.addresses, n.sort, n.uids, n.revisions, n.times, n.leftovers,
	} {
		if err := step(); err != nil {
			return err
		}
	}
	return nil
}

// each calls a function with every object of every dump, in their order.
func (n *normaliser) each(visit func(d *dump, o object) error) error {
	for _, d := range n.dumps {
		for _, o := range d.items() {
			if err := visit(d, o); err != nil {
				return fmt.Errorf("%s: %s %s: %w", d.file, text(o, "kind"), text(o, "metadata", "name"), err)
			}
		}
	}
	return nil
}

// replace puts new words for old ones into all strings: into whole strings, or also
// into parts of them.
func (n *normaliser) replace(words map[string]string, parts bool) {
	old := make([]string, 0, len(words))
	for o, replacement := range words {
		if o != replacement {
			old = append(old, o)
			n.replaced[o] = true
		}
	}
	// A word that another one begins with comes after it.
	slices.SortFunc(old, func(a, b string) int { return cmp.Or(cmp.Compare(len(b), len(a)), cmp.Compare(a, b)) })
	pairs := make([]string, 0, 2*len(old))
	for _, o := range old {
		pairs = append(pairs, o, words[o])
	}
	replacer := strings.NewReplacer(pairs...)
	for _, d := range n.dumps {
		eachString(d.list, func(s string) string {
			if whole, ok := words[s]; ok {
				return whole
			}
			if parts {
				return replacer.Replace(s)
			}
			return s
		})
	}
}

// sort puts objects into the order in which the API server lists them under their
// new names, and what controllers list in any order into that of its text.
func (n *normaliser) sort() error {
	for _, d := range n.dumps {
		kinds := map[string]int{}
		items, _ := d.list["items"].([]any)
		for _, item := range items {
			kind := text(item, "apiVersion") + " " + text(item, "kind")
			if _, ok := kinds[kind]; !ok {
				kinds[kind] = len(kinds)
			}
		}
		slices.SortStableFunc(items, func(a, b any) int {
			return cmp.Or(
				cmp.Compare(kinds[text(a, "apiVersion")+" "+text(a, "kind")], kinds[text(b, "apiVersion")+" "+text(b, "kind")]),
				cmp.Compare(key(a), key(b)))
		})
		for _, item := range items {
			o, _ := item.(object)
			endpoints, _ := o["endpoints"].([]any)
			slices.SortStableFunc(endpoints, func(a, b any) int {
				return cmp.Compare(text(a, "targetRef", "name"), text(b, "targetRef", "name"))
			})
			if text(o, "kind") != "Deployment" {
				continue // the others write theirs in an order of their own
			}
			conditions, _ := at(o, "status", "conditions").([]any)
			slices.SortStableFunc(conditions, func(a, b any) int { return cmp.Compare(text(a, "type"), text(b, "type")) })
		}
	}
	return nil
}

// key is where an object of a kind is stored; lists follow its order.
func key(o any) string {
	if namespace := text(o, "metadata", "namespace"); namespace != "" {
		return namespace + "/" + text(o, "metadata", "name")
	}
	return text(o, "metadata", "name")
}
