package main

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"
)

var (
	uuid   = regexp.MustCompile(`[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}`)
	moment = regexp.MustCompile(`\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z`)
	day    = regexp.MustCompile(`^\d{4}-\d\d-\d\d$`)
)

// uids numbers the objects in the order of the dumps.
func (n *normaliser) uids() error {
	words := map[string]string{}
	number := func(uid string) {
		if words[uid] == "" {
			words[uid] = fmt.Sprintf("%08d-0000-4000-8000-%012d", len(words)+1, 0)
			n.known[words[uid]] = true
		}
	}
	err := n.each(func(_ *dump, o object) error {
		uid := text(o, "metadata", "uid")
		if !uuid.MatchString(uid) {
			return fmt.Errorf("its uid is %q", uid)
		}
		number(uid)
		// An API server gives itself one whenever it starts.
		if _, self, ok := strings.Cut(text(o, "spec", "holderIdentity"), "_"); ok && uuid.MatchString(self) {
			number(self)
		}
		return nil
	})
	n.replace(words, true)
	return err
}

// revisions numbers what was written: chapter by chapter, and within a chapter by
// object. What is renewed all the time belongs to the chapter in which a dump was
// taken.
func (n *normaliser) revisions() error {
	type revision struct {
		chapter int
		uid     string
		number  int64
	}
	var all []revision
	seen := map[string]bool{}
	name := func(uid, number string) string { return uid + " " + number }
	err := n.eachRevision(func(d *dump, o, inner object) error {
		uid, written := text(inner, "uid"), text(inner, "resourceVersion")
		number, err := strconv.ParseInt(written, 10, 64)
		if err != nil || seen[name(uid, written)] {
			return err
		}
		seen[name(uid, written)] = true
		r := revision{chapter: n.chapterOf(number), uid: uid, number: number}
		if renewed(o) {
			r.chapter = d.chapter
		}
		all = append(all, r)
		return nil
	})
	if err != nil {
		return err
	}
	slices.SortFunc(all, func(a, b revision) int {
		return cmp.Or(cmp.Compare(a.chapter, b.chapter), cmp.Compare(a.uid, b.uid), cmp.Compare(a.number, b.number))
	})
	numbers := map[string]string{}
	for i, r := range all {
		numbers[name(r.uid, strconv.FormatInt(r.number, 10))] = strconv.Itoa(i + 1)
	}
	return n.eachRevision(func(_ *dump, _, inner object) error {
		inner["resourceVersion"] = numbers[name(text(inner, "uid"), text(inner, "resourceVersion"))]
		return nil
	})
}

// eachRevision calls a function with the metadata of every object, and with every
// mention of another object's uid and version.
func (n *normaliser) eachRevision(visit func(d *dump, o, inner object) error) error {
	return n.each(func(d *dump, o object) error {
		return eachKey(o, func(inner object, k string) error {
			if k != "resourceVersion" {
				return nil
			}
			if text(inner, "uid") == "" {
				return errors.New("the resourceVersion of something that is not named")
			}
			return visit(d, o, inner)
		})
	})
}

// renewed says whether an object is written every few seconds.
func renewed(o object) bool { return text(o, "kind") == "Lease" }

// times rewrites times.
func (n *normaliser) times() error {
	var failed error
	rewrite := func(s string) string {
		if day.MatchString(s) {
			at, err := n.rewritten(s + "T23:59:59Z")
			failed = errors.Join(failed, err)
			n.written[at] = true
			return strings.Split(at, "T")[0]
		}
		if moment.FindString(s) != s || s == "" {
			return s
		}
		at, err := n.rewritten(s)
		failed = errors.Join(failed, err)
		n.written[at] = true
		return at
	}
	err := n.each(func(d *dump, o object) error {
		eachString(o, rewrite)
		if renewed(o) {
			at := n.chapters[d.chapter].at.UTC().Format("2006-01-02T15:04:05.000000Z07:00")
			n.written[at] = true
			if spec, ok := o["spec"].(object); ok {
				spec["renewTime"] = at
			}
		}
		return nil
	})
	return errors.Join(failed, err)
}

// leftovers fails if anything is left that had to be rewritten.
func (n *normaliser) leftovers() error {
	return n.each(func(_ *dump, o object) error {
		var found error
		look := func(s string) string {
			for _, id := range uuid.FindAllString(s, -1) {
				if !n.known[id] {
					found = errors.Join(found, fmt.Errorf("%q: uid %s belongs to nothing that was dumped", s, id))
				}
			}
			for _, t := range moment.FindAllString(s, -1) {
				if !n.written[t] {
					found = errors.Join(found, fmt.Errorf("%q: %s is a time that was not rewritten", s, t))
				}
			}
			for word := range n.replaced {
				if strings.Contains(s, word) {
					found = errors.Join(found, fmt.Errorf("%q: %s was not replaced", s, word))
				}
			}
			if slices.Contains(strings.FieldsFunc(s, punctuation), n.host) && !mentioned(n.host) {
				found = errors.Join(found, fmt.Errorf("%q: %s is the name of this machine", s, n.host))
			}
			return s
		}
		eachString(o, look)
		_ = eachKey(o, func(_ object, key string) error { look(key); return nil })
		return found
	})
}

func punctuation(r rune) bool {
	return !unicode.IsLetter(r) && !unicode.IsDigit(r) && r != '-' && r != '.'
}

// mentioned says whether the story itself has a word, so that its being there says
// nothing about the machine.
func mentioned(word string) bool {
	files, _ := manifests.ReadDir(".") // it is within the program
	for _, f := range files {
		if text, _ := manifests.ReadFile(f.Name()); bytes.Contains(text, []byte(word)) {
			return true
		}
	}
	return word == thisHost
}

// chapter is a part of the story. It begins in a second in which nothing of the
// chapter before happens any more.
type chapter struct {
	// at is when it takes place in the examples.
	at time.Time
	// from is the second in which it really began, and after the last revision of
	// storage that belongs to earlier chapters.
	from  time.Time
	after int64
}

// timeline are the chapters in their order. Whatever happens within a chapter
// happens, in the examples, in one second: what order it really had is a matter of
// chance.
type timeline struct {
	chapters []chapter
	// moments are times that belong to no chapter: when a CronJob was due.
	moments map[int64]time.Time
}

// rewritten is the time of the examples for a time as the API server writes it.
func (l timeline) rewritten(written string) (string, error) {
	t, err := time.Parse(time.RFC3339, written)
	if err != nil {
		return "", err
	}
	at, ok := l.moments[t.Unix()]
	for _, c := range l.chapters {
		if ok {
			break
		}
		if !t.Before(c.from) {
			at = c.at
		}
	}
	if at.IsZero() {
		return "", fmt.Errorf("%s is before the story", written)
	}
	if strings.Contains(written, ".") {
		return at.UTC().Format("2006-01-02T15:04:05.000000Z07:00"), nil
	}
	return at.UTC().Format(time.RFC3339), nil
}

// chapterOf is the number of the chapter in which a revision was written.
func (l timeline) chapterOf(revision int64) int {
	n := 0
	for i, c := range l.chapters {
		if revision > c.after {
			n = i
		}
	}
	return n
}
