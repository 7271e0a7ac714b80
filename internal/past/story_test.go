package past_test

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-gc/kubectl-gc/internal/object"
	"github.com/kubectl-gc/kubectl-gc/internal/past"
	"github.com/kubectl-gc/kubectl-gc/test/scenario"
)

// TestStories replays events in small clusters and checks their attribution. With -rewrite it
// writes the results. A story consists of
//
//	cluster              the objects, one per line
//	delete OBJECT …      a client deletes; a policy may follow
//	write OBJECT …       a client creates or replaces an object
//	collect              the garbage collector acts
//	settle               the garbage collector acts, and the controllers in between
//	begin                the history begins here
//	log                  the audit log has these requests, one per line (see logged)
//	lost [hidden=NAME]   the attribution; objects with the name are unknown
func TestStories(t *testing.T) {
	datadriven.Walk(t, "testdata/stories", func(t *testing.T, path string) {
		story := &story{}
		datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string {
			text, err := story.tell(d)
			if err != nil {
				d.Fatalf(t, "%v", err)
			}
			return text
		})
	})
}

type story struct {
	names scenario.Names
	stage *stage
	log   *past.AuditLog
}

func (s *story) tell(d *datadriven.TestData) (string, error) {
	words := scenario.Words(d)
	switch d.Cmd {
	case "cluster":
		s.names = scenario.Names{}
		objects, err := scenario.ParseWorld(d.Input, s.names)
		s.stage, s.log = newStage(objects), nil
		return "", err
	case "delete":
		o, err := scenario.ParseDelete(words[3:])
		if err != nil {
			return "", err
		}
		return answer(s.stage.Delete(context.Background(), coordinates(words), o)), nil
	case "write":
		return s.write(words)
	case "collect":
		return "", s.stage.settle(nil)
	case "settle":
		return "", s.stage.settle(s.stage.controllers)
	case "begin":
		s.stage.begin()
		return "", nil
	case "log":
		s.log = &past.AuditLog{}
		for line := range strings.Lines(d.Input) {
			s.log.Requests = append(s.log.Requests, logged(strings.Fields(line)))
		}
		return "", nil
	case "lost":
		hidden := strings.TrimPrefix(strings.Join(words, " "), "hidden=")
		p := s.stage.past(func(r object.Ref) bool { return r.Name == hidden })
		p.Log = s.log
		return tell(past.Trace(p)), nil
	}
	return "", fmt.Errorf("there is no directive %q", d.Cmd)
}

func (s *story) write(words []string) (string, error) {
	o, err := scenario.ParseObject(words, s.names)
	if err != nil {
		return "", err
	}
	s.names.Learn(o)
	if _, absent := s.stage.Get(context.Background(), o.Ref); absent != nil {
		_, err = s.stage.Create(context.Background(), o)
	} else {
		_, err = s.stage.Update(context.Background(), o)
	}
	return answer(err), nil
}

func coordinates(words []string) object.Ref {
	r := object.Ref{APIVersion: words[0], Kind: words[1], Name: words[2]}
	if namespace, name, ok := strings.Cut(words[2], "/"); ok {
		r.Namespace, r.Name = namespace, name
	}
	return r
}

func answer(err error) string {
	if err != nil {
		return scenario.Answer(err) + "\n"
	}
	return ""
}

// logged returns a request in an audit log: USER VERB RESOURCE NAMESPACE/NAME, and then policy=P,
// or policy= if it named none; uid=U, labels=SELECTOR, agent=A, as=USER; at=SECONDS after the fixed
// time of the story; removed.
func logged(words []string) past.AuditedRequest {
	r := past.AuditedRequest{Verb: past.Verb(words[1]), Resource: schema.ParseGroupResource(words[2]), Received: scenario.Start * 1_000_000}
	r.User, r.Labels, r.Fields = words[0], labels.Everything(), fields.Everything()
	r.Namespace, r.Name, _ = strings.Cut(words[3], "/")
	for _, word := range words[4:] {
		switch key, value, _ := strings.Cut(word, "="); key {
		case "policy":
			r.Options = &past.DeleteOptions{Policy: metav1.DeletionPropagation(value)}
		case "uid":
			r.UIDs = append(r.UIDs, types.UID(value))
		case "labels":
			r.Labels, _ = labels.Parse(value)
		case "agent":
			r.Agent = value
		case "as":
			r.Impersonated = value
		case "at":
			n, _ := strconv.Atoi(value)
			r.Received += int64(n) * 1_000_000
		case "removed":
			r.Removed = true
		}
	}
	r.Answered = r.Received + 1000
	return r
}
