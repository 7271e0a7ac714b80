package render

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/cockroachdb/datadriven"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-gc/kubectl-gc/internal/object"
	"github.com/kubectl-gc/kubectl-gc/internal/past"
	"github.com/kubectl-gc/kubectl-gc/internal/reason"
	"github.com/kubectl-gc/kubectl-gc/internal/report"
)

// TestLost runs testdata/lost: the command builds an account from its story, the arguments select
// the question, and the answer is printed as the goldens are.
func TestLost(t *testing.T) {
	datadriven.Walk(t, "testdata/lost", func(t *testing.T, path string) {
		var doc *report.Lost
		datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string {
			switch d.Cmd {
			case "story":
				doc = past.LostDocument(storyOf(t, d.Input), questionOf(t, d))
				return ""
			}
			if d.Cmd == "print" {
				return printed(t, d.CmdArgs[0].Key+joined(d.CmdArgs[0].Vals), doc)
			}
			return shown(t, d, doc)
		})
	})
}

func questionOf(t *testing.T, d *datadriven.TestData) past.LostQuestion {
	t.Helper()
	q := past.LostQuestion{Source: report.Source{Type: "cluster", Context: "prod", Server: "https://prod.example.com"}, Undo: d.HasArg("undo")}
	if d.HasArg("file") {
		q.Source, q.File = report.Source{Type: "files", Files: []string{"snapshot.db"}}, "--from=snapshot.db"
	}
	if d.HasArg("namespace") {
		d.ScanArgs(t, "namespace", &q.Namespace)
	}
	if d.HasArg("revision") {
		d.ScanArgs(t, "revision", &q.SinceRevision)
	}
	if d.HasArg("since") {
		var text string
		d.ScanArgs(t, "since", &text)
		since, err := time.ParseDuration(text)
		if err != nil {
			t.Fatal(err)
		}
		q.Since = since
	}
	if d.HasArg("of") {
		var text string
		d.ScanArgs(t, "of", &text)
		q.Objects = []object.Ref{storyRef(text)}
	}
	return q
}

// story is an account that is built from these lines:
//
//	history FROM TO                              times of day; -23:59:00 is on the day before
//	request TIME POLICY OBJECT…                  uncertain with "?" after the policy
//	took    TIME CODE BY OBJECT…                 a loss of the last request; BY may be "-"
//	went    TIME CODE BY OBJECT…                 a loss without a request
//	or      CODE BY                              an alternative cause of the last loss
//	of      OWNER                                the controller of the last loss
//	made    TIME OBJECT OWNER                    an object created by a controller
//	again   TIME OBJECT                          an object that exists again with another UID
//	limit   RESOURCE TIME WHY…                   no time with "-"
//	log     TIME TIME NAME…                      the audit log spans these times
//	remade  TIME VERSION SCOPE                   the last loss, a CRD, was recreated
//	sent    USER AS AGENT ADDRESSES POLICY       the log entry of the last request or loss
//	against CODE BY                              a cause of the last loss that the log contradicts
//	blind                                        times are unknown
//
// An object is VERSION,KIND,NAMESPACE,NAME; the name web*6 means six of them. A prefix
// means that it exists: "~" is Terminating, "+" has lost the owner BY.
type story struct {
	a     *past.Account
	clock []past.Moment
	last  int
}

const day = "2026-11-24T"

func (s *story) at(text string) past.Moment {
	clock, before := strings.CutPrefix(text, "-")
	t, err := time.Parse(time.RFC3339, day+clock+"Z")
	if err != nil {
		panic(err)
	}
	if before {
		t = t.AddDate(0, 0, -1)
	}
	m := past.Moment{Revision: uint64(t.Unix() - 1795478400 + 100_000), Time: t.Unix()}
	s.clock = append(s.clock, m)
	return m
}

func storyOf(t *testing.T, text string) *past.Account {
	t.Helper()
	s := &story{a: &past.Account{Past: &past.Record{Resources: &object.Resources{}}}, last: -1}
	custom := object.Resource{Group: "example.com", Version: "v1", Name: "databases", Kind: "Database", Namespaced: true, Verbs: object.AllVerbs, Custom: true}
	s.a.Past.Resources.Add(custom)
	for line := range strings.Lines(text) {
		if words := strings.Fields(line); len(words) > 0 {
			s.tell(words)
		}
	}
	s.a.Past.Clock = past.NewClock(s.clock)
	for i := range s.a.Requests {
		for j := range s.a.Losses {
			if s.a.Losses[j].Cause.Request == i {
				s.a.Requests[i].Explains++
			}
		}
	}
	return s.a
}

func (s *story) tell(words []string) {
	switch words[0] {
	case "history":
		s.a.Past.From, s.a.Past.To = s.at(words[1]), s.at(words[2])
	case "request":
		policy, certain := strings.CutSuffix(words[2], "?")
		r := past.Request{At: s.at(words[1]), Certain: !certain}
		r.Policy = metav1.DeletionPropagation(policy)
		s.last = len(s.a.Requests)
		first := len(s.a.Losses)
		s.lose(r.At, string(reason.Requested), "-", s.last, words[3:])
		for i := range s.a.Losses[first:] {
			s.a.Losses[first+i].Policy = r.Policy
			r.Losses = append(r.Losses, first+i)
		}
		s.a.Requests = append(s.a.Requests, r)
	case "took":
		s.lose(s.at(words[1]), words[2], words[3], s.last, words[4:])
	case "went":
		s.lose(s.at(words[1]), words[2], words[3], -1, words[4:])
	case "or":
		l := &s.a.Losses[len(s.a.Losses)-1]
		l.Or = append(l.Or, past.Cause{Code: reason.Code(words[1]), By: storyRef(words[2]), Request: -1})
	case "of":
		o := s.a.Losses[len(s.a.Losses)-1].Object
		o.Owners = append(o.Owners, controlledBy(words[1]))
		s.a.Past.Changes = append(s.a.Past.Changes, past.Change{Type: object.Deleted, Object: o, Revision: s.a.Losses[len(s.a.Losses)-1].Gone})
	case "made":
		o := &object.Object{Ref: storyRef(words[2]), Owners: []object.OwnerReference{controlledBy(words[3])}}
		s.a.Past.Changes = append(s.a.Past.Changes, past.Change{Type: object.Added, Object: o, Revision: s.at(words[1]).Revision})
	case "again":
		o := &object.Object{Ref: storyRef(words[2])}
		o.UID = "again"
		s.a.Past.Changes = append(s.a.Past.Changes, past.Change{Type: object.Added, Object: o, Revision: s.at(words[1]).Revision})
	case "remade":
		before := s.a.Losses[len(s.a.Losses)-1].Object
		o, crd := before.Clone(), *before.Definition()
		o.UID += "-again"
		crd.Versions, crd.Namespaced = versionsOf(words[2]), words[3] == "Namespaced"
		o.Edit().Facts = &crd
		s.a.Past.Changes = append(s.a.Past.Changes, past.Change{Type: object.Added, Object: o, Revision: s.at(words[1]).Revision})
		s.a.Past.Resources.Add(object.Resource{Group: crd.Group, Version: words[2], Name: crd.Plural, Kind: crd.Kind, Namespaced: crd.Namespaced, Verbs: object.AllVerbs, Custom: true})
	case "limit":
		group, version, name := "", "v1", words[1]
		if before, after, dotted := strings.Cut(words[1], "."); dotted {
			name, group = before, after
		}
		l := past.Limit{Resource: object.Resource{Group: group, Version: version, Name: name, Kind: limitKinds[name], Namespaced: true}, Why: strings.Join(words[3:], " ")}
		if words[2] != "-" {
			l.From = s.at(words[2])
		}
		s.a.Past.Limits = append(s.a.Past.Limits, l)
	case "log", "sent", "against":
		s.hear(words)
	case "blind":
		s.clock = nil
		s.a.Past.From.Time, s.a.Past.To.Time, s.a.Past.Timeless = 0, 0, true
		for i := range s.a.Requests {
			s.a.Requests[i].At.Time = 0
		}
	default:
		panic("no such word: " + words[0])
	}
}

// hear adds entries of the audit log. A word of "-" is empty.
func (s *story) hear(words []string) {
	for i, word := range words {
		words[i] = strings.NewReplacer("_", " ", `\e`, "\x1b", `\u`, "\u202e").Replace(strings.TrimPrefix(word, "-"))
	}
	last := &s.a.Losses[max(0, len(s.a.Losses)-1)]
	switch words[0] {
	case "log":
		s.a.Past.Log = &past.AuditLog{}
		if words[1] != "" {
			s.a.Past.Log.First, s.a.Past.Log.Last = s.moment(words[1])*1e6, s.moment(words[2])*1e6
		}
		if len(words) > 3 {
			s.a.Past.Log.Truncated = words[3:]
		}
	case "against":
		last.Contradicts = &past.Cause{Code: reason.Code(words[1]), By: storyRef(words[2]), Request: -1}
	case "sent":
		r := &past.AuditedRequest{ID: "8f1c", Verb: past.Delete, Sender: past.Sender{User: words[1], Impersonated: words[2], Agent: words[3]}}
		r.Received = int64(last.Began-100_000+1795478400) * 1e6
		if words[4] != "" {
			r.Addresses = strings.Split(words[4], ",")
		}
		if words[5] != "?" {
			r.Options = &past.DeleteOptions{Policy: metav1.DeletionPropagation(words[5])}
		}
		last.Sent, last.Match = r, past.ByUID
		if k := last.Cause.Request; k >= 0 && s.a.Requests[k].Losses[len(s.a.Requests[k].Losses)-1] == len(s.a.Losses)-1 {
			s.a.Requests[k].Sent = append(s.a.Requests[k].Sent, r)
		}
	}
}

// moment parses a time of day outside of the history.
func (s *story) moment(text string) int64 {
	clock := s.clock
	defer func() { s.clock = clock }()
	return s.at(text).Time
}

func (s *story) lose(at past.Moment, code, by string, request int, objects []string) {
	for _, text := range objects {
		sign := text[0]
		for _, ref := range storyRefs(strings.TrimLeft(text, "~+")) {
			l := past.Loss{
				Object: &object.Object{Ref: ref}, Began: at.Revision, Gone: at.Revision, Policy: metav1.DeletePropagationBackground,
				Cause: past.Cause{Code: reason.Code(code), By: storyRef(by), Request: request},
			}
			switch sign {
			case '~':
				l.Gone = 0
			case '+':
				l.Gone, l.Orphaned, l.Owners = 0, true, []object.Ref{l.Cause.By}
			}
			if ref.Is(object.CRD) {
				name, group, _ := strings.Cut(ref.Name, ".")
				l.Object.Edit().Facts = &object.CRDFacts{Group: group, Plural: name, Kind: strings.ToUpper(name[:1]) + name[1:len(name)-1], Namespaced: true, Versions: versionsOf("v1")}
			}
			s.a.Losses = append(s.a.Losses, l)
		}
	}
}

func versionsOf(name string) []object.CRDVersion {
	return []object.CRDVersion{{Name: name, Served: true, Storage: true}}
}

// limitKinds maps the resources of limits to their kinds.
var limitKinds = map[string]string{"configmaps": "ConfigMap", "databases": "Database", "gadgets": "Gadget", "leases": "Lease"}

func controlledBy(text string) object.OwnerReference {
	ref := storyRef(text)
	return object.OwnerReference{APIVersion: ref.APIVersion, Kind: ref.Kind, Name: ref.Name, UID: ref.UID, Controller: object.True}
}

func storyRef(text string) object.Ref {
	if text == "-" {
		return object.Ref{}
	}
	return storyRefs(text)[0]
}

// storyRefs returns the objects of a word. Underscores mean blanks, and \e and \r mean characters
// that control a terminal.
func storyRefs(text string) []object.Ref {
	text = strings.NewReplacer("_", " ", `\e`, "\x1b", `\r`, "\r", `\u`, "\u202e").Replace(text)
	f := strings.Split(text, ",")
	ref := object.Ref{APIVersion: f[0], Kind: f[1], Namespace: f[2], Name: f[3]}
	name, many, several := strings.Cut(ref.Name, "*")
	if !several {
		ref.UID = types.UID("uid-" + ref.Name)
		return []object.Ref{ref}
	}
	var refs []object.Ref
	for i := range int(many[0]-'0')*10 + int(many[1]-'0') {
		r := ref
		r.Name = name + "-" + string(rune('a'+i/26)) + string(rune('a'+i%26))
		r.UID = types.UID("uid-" + r.Name)
		refs = append(refs, r)
	}
	return slices.Clip(refs)
}

// TestLostFits: however much is lost, the answer fits on a screen. Only commands may be wider.
func TestLostFits(t *testing.T) {
	for _, requests := range []int{0, 1, 2, 5, 40, 400} {
		s := &story{a: &past.Account{Past: &past.Record{Resources: &object.Resources{}}}, last: -1}
		s.tell(strings.Fields("history 13:00:00 14:00:00"))
		for i := range requests {
			name := "v1,ConfigMap,shop," + strings.Repeat("name", 20) + string(rune('a'+i%26))
			s.tell([]string{"request", "13:30:00", "Foreground?", name})
			s.tell([]string{"or", "Controller", name})
			for kind := range 20 {
				s.tell([]string{"took", "13:30:01", "OwnerGone", name, "example.com/v1,Kind" + strings.Repeat(string(rune('A'+kind)), 9) + ",shop,w*20"})
			}
		}
		for i := range 10 {
			name := "v1,Pod,space" + string(rune('a'+i)) + "," + strings.Repeat("name", 20) + "*03"
			s.tell([]string{"went", "13:40:00", "OwnerReplaced", name, name})
			s.tell([]string{"limit", "kind" + string(rune('a'+i)), "13:50:00", "expired"})
			s.tell([]string{"limit", "forbidden" + string(rune('a'+i)), "-", "is forbidden"})
		}
		s.a.Past.Clock = past.NewClock(s.clock)
		doc := past.LostDocument(s.a, past.LostQuestion{Source: report.Source{Type: "cluster"}, Since: 2 * time.Hour, Undo: true})
		for _, columns := range []int{0, 80, 200} {
			style := Style{Width: columns}
			var b strings.Builder
			if err := LostText(&b, style, doc); err != nil {
				t.Fatal(err)
			}
			lines := strings.Split(strings.TrimSuffix(b.String(), "\n"), "\n")
			if len(lines) > maxScreenLines {
				t.Errorf("%d requests in %d columns: %d lines\n%s", requests, columns, len(lines), b.String())
			}
			for _, line := range lines {
				if width(line) > maxScreenWidth && !strings.Contains(line, "kubectl gc") {
					t.Errorf("%d requests in %d columns: %q", requests, columns, line)
				}
			}
		}
	}
}
