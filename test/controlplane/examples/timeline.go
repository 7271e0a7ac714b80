package main

import (
	"fmt"
	"strings"
	"time"
)

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
