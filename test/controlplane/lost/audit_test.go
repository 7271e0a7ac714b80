package lost

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"io"
	"os"
	"strings"
	"time"

	"github.com/kubectl-gc/kubectl-gc/test/controlplane/cluster"
)

// record is a write in the audit log.
type record struct {
	Stage, Verb      string
	User             struct{ Username string }
	ImpersonatedUser struct{ Username string }
	ObjectRef        struct{ Resource, Namespace, Name, Subresource string }
	ResponseStatus   struct{ Code int }
	RequestReceived  time.Time `json:"requestReceivedTimestamp"`
	Answered         time.Time `json:"stageTimestamp"`
}

// writes are the creations and deletions that were done, by place; deletions of collections are
// those of a place without a name.
type writes map[place][]*record

// place is a resource and the coordinates of an object.
type place struct{ resource, namespace, name string }

func (t *thing) place() place { return place{t.kind.plural, t.namespace, t.name} }

// place is where the object of a record is. That of a namespace is recorded as within itself.
func (r *record) place() place {
	if r.ObjectRef.Resource == namespaceKind.plural {
		return place{r.ObjectRef.Resource, "", r.ObjectRef.Name}
	}
	return place{r.ObjectRef.Resource, r.ObjectRef.Namespace, r.ObjectRef.Name}
}

func readLog() (writes, error) {
	f, err := os.Open(plane.AuditLog())
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }()
	by := writes{}
	lines := bufio.NewScanner(f)
	lines.Buffer(nil, 1<<24)
	for lines.Scan() {
		r := &record{}
		if err := json.Unmarshal(lines.Bytes(), r); err != nil {
			return nil, err
		}
		if r.Stage == "ResponseComplete" && (r.Verb == "create" || strings.HasPrefix(r.Verb, "delete")) && r.ResponseStatus.Code < 300 && r.ObjectRef.Subresource == "" {
			by[r.place()] = append(by[r.place()], r)
		}
	}
	return by, lines.Err()
}

// began reports whether a delete began the deletion of its object: it was the first that was
// done since the object was made. It is open where another one was under way at the same time.
func (l writes) began(own *record) (mine, open bool) {
	at := own.place()
	var made time.Time
	for _, r := range l[at] {
		if r.Verb == "create" && r.RequestReceived.Before(own.Answered) && r.RequestReceived.After(made) {
			made = r.RequestReceived
		}
	}
	all := append([]*record{}, l[at]...)
	if at.namespace != "" {
		all = append(all, l[place{at.resource, at.namespace, ""}]...)
	}
	for _, r := range all {
		switch {
		case r == own || r.Verb == "create" || r.Answered.Before(made):
		case r.Answered.Before(own.RequestReceived):
			return false, false
		case r.RequestReceived.Before(own.Answered):
			open = true
		}
	}
	return true, open
}

// calm waits until nobody has changed anything for some seconds, or for a minute. In a namespace
// that cannot go pods are made, and collections deleted, again and again, and nothing changes; one
// that can is left alone for five seconds at first.
func calm(ctx context.Context) error {
	const long, enough = 7 * time.Second, time.Minute
	f, err := os.Open(plane.AuditLog())
	if err != nil {
		return err
	}
	defer func() { _ = f.Close() }()
	if _, err := f.Seek(0, io.SeekEnd); err != nil {
		return err
	}
	began := time.Now()
	since := began
	return cluster.Await(ctx, "nobody changes anything any more", func(context.Context) (bool, error) {
		text, err := io.ReadAll(f)
		if err != nil {
			return false, err
		}
		for line := range bytes.Lines(text) {
			if bytes.Contains(line, []byte(`"code":20`)) && !bytes.Contains(line, []byte(`"verb":"deletecollection"`)) {
				since = time.Now()
			}
		}
		return time.Since(since) > long || time.Since(began) > enough, nil
	})
}
