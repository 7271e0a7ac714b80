package main

import (
	"cmp"
	"crypto/sha256"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"
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

// alphabet are the letters of which the API server makes names.
const alphabet = "bcdfghjklmnpqrstvwxz2456789"

// suffix is what a name ends with, chosen by what it is made from.
func suffix(length int, from ...string) string {
	sum := sha256.Sum256([]byte(strings.Join(from, " ")))
	letters := make([]byte, length)
	for i := range letters {
		letters[i] = alphabet[int(sum[i])%len(alphabet)]
	}
	return string(letters)
}

const (
	thisHost    = "control-plane"
	apiServer   = "apiserver.kubernetes.io/identity"
	certificate = "-----BEGIN CERTIFICATE-----\nVGhlIGNlcnRpZmljYXRlIG9mIHRoZSBjbHVzdGVyIHN0YW5kcyBoZXJlLg==\n-----END CERTIFICATE-----\n"
)

// machine rewrites what of the machine shows: its name, the name that a lease is
// given after it, the address of the API server, and the certificate that it made.
func (n *normaliser) machine() error {
	words := map[string]string{"127.0.0.1:" + n.port: "192.168.0.10:6443"}
	_ = n.each(func(_ *dump, o object) error {
		if labels, ok := at(o, "metadata", "labels").(object); ok && text(o, "kind") == "Lease" && labels[apiServer] != nil {
			labels["kubernetes.io/hostname"] = thisHost
			words[text(o, "metadata", "name")] = "apiserver-" + suffix(26, thisHost)
		}
		return nil
	})
	n.replace(words, true)
	var err error
	for _, d := range n.dumps {
		eachString(d.list, func(s string) string {
			if strings.HasPrefix(s, "-----BEGIN CERTIFICATE-----") {
				return certificate
			}
			return s
		})
		err = errors.Join(err, eachKey(d.list, func(o object, key string) error {
			if number, ok := o[key].(float64); ok && fmt.Sprint(int64(number)) == n.port {
				if key != "targetPort" {
					return fmt.Errorf("%s: %s is the port of the API server", d.file, key)
				}
				o[key] = float64(6443)
			}
			return nil
		}))
	}
	return err
}

// dueJobs renames Jobs that are called after the minute in which they were due.
func (n *normaliser) dueJobs() error {
	const annotation = "batch.kubernetes.io/cronjob-scheduled-timestamp"
	words := map[string]string{}
	err := n.each(func(_ *dump, o object) error {
		due, ok := at(o, "metadata", "annotations", annotation).(string)
		if !ok {
			return nil
		}
		really, err := time.Parse(time.RFC3339, due)
		if err != nil {
			return err
		}
		rewritten, err := n.rewritten(due)
		if err != nil {
			return err
		}
		told, err := time.Parse(time.RFC3339, rewritten)
		if err != nil {
			return err
		}
		name := text(o, "metadata", "name")
		prefix, ok := strings.CutSuffix(name, fmt.Sprint(really.Unix()/60))
		if !ok {
			return fmt.Errorf("it is not called after %s", due)
		}
		words[name] = prefix + fmt.Sprint(told.Unix()/60)
		return nil
	})
	n.replace(words, true)
	return err
}

// random is what the API server appends to a prefix.
var random = regexp.MustCompile(`^[` + alphabet + `]{5}$`)

// generatedNames gives names to what the API server has named. Which of several
// that are made of one template gets which is decided by where they run.
func (n *normaliser) generatedNames() error {
	type named struct{ name, order string }
	groups := map[string][]named{}
	seen := map[string]bool{}
	var order []string
	err := n.each(func(_ *dump, o object) error {
		name, prefix := text(o, "metadata", "name"), text(o, "metadata", "generateName")
		uid := text(o, "metadata", "uid")
		if prefix == "" || seen[uid] || !random.MatchString(strings.TrimPrefix(name, prefix)) {
			return nil
		}
		seen[uid] = true
		group := text(o, "kind") + " " + text(o, "metadata", "namespace") + " " + prefix
		if groups[group] == nil {
			order = append(order, group)
		}
		groups[group] = append(groups[group], named{name, text(o, "spec", "nodeName") + " " + text(o, "status", "podIP")})
		return nil
	})
	if err != nil {
		return err
	}
	words := map[string]string{}
	for _, group := range order {
		members := groups[group]
		slices.SortFunc(members, func(a, b named) int { return cmp.Compare(a.order, b.order) })
		for i, m := range members {
			if i > 0 && members[i-1].order == m.order {
				return fmt.Errorf("%s and %s differ in nothing but chance", members[i-1].name, m.name)
			}
			words[m.name] = m.name[:len(m.name)-5] + suffix(5, group, fmt.Sprint(i))
		}
	}
	n.replace(words, true)
	return nil
}

var tokenVolume = regexp.MustCompile(`^kube-api-access-[` + alphabet + `]{5}$`)

// tokens renames the volumes with the token of a pod's service account.
func (n *normaliser) tokens() error {
	return n.each(func(_ *dump, o object) error {
		if text(o, "kind") != "Pod" {
			return nil
		}
		name := "kube-api-access-" + suffix(5, key(o))
		eachString(o, func(s string) string {
			if tokenVolume.MatchString(s) && s != name {
				n.replaced[s] = true
				return name
			}
			return s
		})
		return nil
	})
}

// addresses gives Services addresses in their order. The API server's own, the
// first one, is never left to chance.
func (n *normaliser) addresses() error {
	words := map[string]string{}
	given := map[string]string{}
	err := n.each(func(_ *dump, o object) error {
		address := text(o, "spec", "clusterIP")
		if text(o, "kind") != "Service" || address == "" || address == "None" || address == "10.0.0.1" {
			return nil
		}
		if other, ok := given[address]; ok && other != key(o) {
			return fmt.Errorf("%s had the address before", other)
		}
		if _, ok := given[address]; !ok {
			given[address] = key(o)
			words[address] = fmt.Sprintf("10.0.0.%d", 10+len(given))
		}
		return nil
	})
	n.replace(words, false)
	for _, address := range words { // may be the one that another had
		delete(n.replaced, address)
	}
	return err
}

// at is the value at a path, nil if there is none.
func at(value any, path ...string) any {
	for _, step := range path {
		o, _ := value.(object)
		value = o[step]
	}
	return value
}

// text is the string at a path, empty if there is none.
func text(value any, path ...string) string {
	s, _ := at(value, path...).(string)
	return s
}

// eachString puts for every string of a document, keys excepted, what a function
// says, in the order of the keys.
func eachString(value any, rewrite func(string) string) any {
	switch v := value.(type) {
	case string:
		return rewrite(v)
	case []any:
		for i := range v {
			v[i] = eachString(v[i], rewrite)
		}
	case object:
		for _, k := range keys(v) {
			v[k] = eachString(v[k], rewrite)
		}
	}
	return value
}

// eachKey calls a function with every key of a document and its object.
func eachKey(value any, visit func(o object, key string) error) error {
	switch v := value.(type) {
	case []any:
		for _, element := range v {
			if err := eachKey(element, visit); err != nil {
				return err
			}
		}
	case object:
		for _, k := range keys(v) {
			if err := visit(v, k); err != nil {
				return err
			}
			if err := eachKey(v[k], visit); err != nil {
				return err
			}
		}
	}
	return nil
}

func keys(o object) []string {
	list := make([]string, 0, len(o))
	for k := range o {
		list = append(list, k)
	}
	slices.Sort(list)
	return list
}
