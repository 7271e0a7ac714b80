package oracle

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"os"
	"strings"
	"sync"
	"time"

	"github.com/kubectl-gc/kubectl-gc/test/controlplane/cluster"
)

// write is what the API server has written down of one write.
type write struct {
	AuditID      string
	Stage        string
	RequestURI   string
	Verb         string
	User         struct{ Username string }
	ObjectRef    struct{ Resource, Namespace, Name, UID, APIGroup, Subresource string }
	Response     struct{ Code int }         `json:"responseStatus"`
	Request      json.RawMessage            `json:"requestObject"`
	Received     time.Time                  `json:"requestReceivedTimestamp"`
	Impersonated *struct{ Username string } `json:"impersonatedUser"`
}

// rehearsed reports whether nothing is stored.
func (w *write) rehearsed() bool {
	if strings.Contains(w.RequestURI, "dryRun=All") {
		return true
	}
	var o struct{ DryRun []string }
	return w.Verb == "delete" && json.Unmarshal(w.Request, &o) == nil && len(o.DryRun) > 0
}

// done reports whether the server has done it.
func (w *write) done() bool { return w.Response.Code >= 200 && w.Response.Code < 300 }

// cutOff reports whether the server gave up to answer, as whoever asked was gone: it may have
// done it all the same.
func (w *write) cutOff() bool { return w.Response.Code == http.StatusGatewayTimeout }

func (w *write) key() key {
	for _, k := range kinds {
		if r := k.resource(); r.Resource == w.ObjectRef.Resource && r.Group == w.ObjectRef.APIGroup {
			if k.name == "Namespace" {
				return key{k.name, "", w.ObjectRef.Name}
			}
			return key{k.name, w.ObjectRef.Namespace, w.ObjectRef.Name}
		}
	}
	return key{w.ObjectRef.Resource + "." + w.ObjectRef.APIGroup, w.ObjectRef.Namespace, w.ObjectRef.Name}
}

func (w *write) String() string {
	text := strings.ToUpper(w.Verb) + " " + w.key().String()
	if w.ObjectRef.Subresource != "" {
		text += "/" + w.ObjectRef.Subresource
	}
	return text
}

// records follow what the API server writes down.
type records struct {
	mu sync.Mutex
	// open are the writes of each user that were received, by their id; done those that
	// were answered, in this order.
	open   map[string]map[string]bool
	done   map[string][]*write
	moment map[string]func(received bool, w *write)
}

// follow reads the records until the context ends.
func follow(ctx context.Context, path string, fail func(error)) (*records, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	r := &records{open: map[string]map[string]bool{}, done: map[string][]*write{}, moment: map[string]func(bool, *write){}}
	go func() {
		defer func() { _ = file.Close() }()
		if err := r.read(ctx, bufio.NewReaderSize(file, 1<<20)); err != nil {
			fail(err)
		}
	}()
	return r, nil
}

func (r *records) read(ctx context.Context, in *bufio.Reader) error {
	tick := time.NewTicker(3 * time.Millisecond)
	defer tick.Stop()
	var line []byte
	for {
		part, err := in.ReadBytes('\n')
		line = append(line, part...)
		switch {
		case errors.Is(err, io.EOF):
			select {
			case <-ctx.Done():
				return nil
			case <-tick.C:
			}
			continue
		case err != nil:
			return err
		}
		var w write
		if err := json.Unmarshal(line, &w); err != nil {
			return err
		}
		line = nil
		r.take(&w)
	}
}

const accountPrefix = "system:serviceaccount:" + accounts + ":"

func (r *records) take(w *write) {
	user, ok := strings.CutPrefix(w.User.Username, accountPrefix)
	if !ok {
		return
	}
	r.mu.Lock()
	received := w.Stage == "RequestReceived"
	switch {
	case received && r.open[user] == nil:
		r.open[user] = map[string]bool{w.AuditID: true}
	case received:
		r.open[user][w.AuditID] = true
	default:
		delete(r.open[user], w.AuditID)
		r.done[user] = append(r.done[user], w)
	}
	moment := r.moment[user]
	r.mu.Unlock()
	if moment != nil {
		moment(received, w)
	}
}

// tell has a function be told of every write of a user.
func (r *records) tell(user string, moment func(received bool, w *write)) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.moment[user] = moment
}

// of waits until everything that a user has sent is answered, and returns all of it. A
// write is in the records before anything is done about it; what is read lags behind
// by the time of a look, which the sentinel outlasts.
func (s *stage) writesOf(ctx context.Context, user string) ([]*write, error) {
	if err := s.sentinel(ctx, user); err != nil {
		return nil, err
	}
	var all []*write
	err := cluster.Await(ctx, "all writes of "+user+" are answered", func(context.Context) (bool, error) {
		s.records.mu.Lock()
		defer s.records.mu.Unlock()
		all = nil
		seen := false
		for _, w := range s.records.done[user] {
			if w.ObjectRef.Name == sentinelName(user) {
				seen = true
				continue
			}
			all = append(all, w)
		}
		return seen && len(s.records.open[user]) == 0, nil
	})
	if err != nil {
		return nil, err
	}
	s.records.mu.Lock()
	s.records.done[user] = nil
	s.records.mu.Unlock()
	return all, nil
}
