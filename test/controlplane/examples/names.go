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
