// Package compaction tries on a real control plane that compacts its storage all the time what
// is said of the past: what the server still knows, where that begins, and when it was.
package compaction

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/kubectl-gc/kubectl-gc/test/controlplane/cluster"
	"github.com/kubectl-gc/kubectl-gc/test/extent"
)

// interval is how often the storage is compacted: the server remembers once to twice as much.
var interval = time.Duration(extent.Of(20, 60)) * time.Second

var plane *cluster.Cluster

func TestMain(m *testing.M) { os.Exit(cluster.Main(m, &plane, cluster.Compaction(interval))) }

const configMaps = "/api/v1/namespaces/default/configmaps"

// object is what a test reads of one.
type object struct {
	Metadata struct {
		Name, UID       string
		ResourceVersion string
		OwnerReferences []struct{ UID string }
	}
}

func (o *object) revision() uint64 {
	n, err := strconv.ParseUint(o.Metadata.ResourceVersion, 10, 64)
	if err != nil {
		panic(err)
	}
	return n
}

// span is between when something was, by the clock of this machine, which is that of the server.
type span struct{ from, to time.Time }

// off is by how many seconds a time is outside of the span. Times are shown in whole seconds.
func (s span) off(seconds int64) float64 {
	at := float64(seconds)
	from, to := float64(s.from.UnixMilli())/1000-1, float64(s.to.UnixMilli())/1000
	return max(from-at, at-to, 0)
}

// end is the delete of an object that really was.
type end struct {
	name, uid string
	// owner is the uid of the object that it went with; empty where it was asked for itself.
	owner    string
	at       span
	revision uint64
}

// truth is what really was.
type truth struct {
	mu   sync.Mutex
	ends map[string]*end
	// writes are when revisions were, in their order.
	writes []write
}

type write struct {
	revision uint64
	at       span
}

// when is when a revision was: between the writes around it that are known.
func (h *truth) when(revision uint64) (span, bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	var s span
	for _, w := range h.writes {
		if w.revision <= revision {
			s.from = w.at.from
		}
		if w.revision >= revision && s.to.IsZero() {
			s.to = w.at.to
		}
	}
	return s, !s.from.IsZero() && !s.to.IsZero()
}

// make creates a ConfigMap.
func (h *truth) make(ctx context.Context, name string, owner *object) (*object, error) {
	metadata := map[string]any{"name": name}
	if owner != nil {
		metadata["ownerReferences"] = []map[string]any{{"apiVersion": "v1", "kind": "ConfigMap", "name": owner.Metadata.Name, "uid": owner.Metadata.UID}}
	}
	body, err := json.Marshal(map[string]any{"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata})
	if err != nil {
		return nil, err
	}
	began := time.Now()
	text, err := plane.Do(ctx, http.MethodPost, configMaps, "application/json", body)
	if err != nil {
		return nil, err
	}
	o := &object{}
	if err := json.Unmarshal(text, o); err != nil {
		return nil, err
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	h.writes = append(h.writes, write{o.revision(), span{began, time.Now()}})
	return o, nil
}

// remove deletes a ConfigMap. At which revision it went is seen by those who watch.
func (h *truth) remove(ctx context.Context, o *object) error {
	h.mu.Lock()
	e := &end{name: o.Metadata.Name, uid: o.Metadata.UID, at: span{from: time.Now()}}
	h.ends[e.uid] = e
	h.mu.Unlock()
	_, err := plane.Do(ctx, http.MethodDelete, configMaps+"/"+o.Metadata.Name, "", nil)
	h.mu.Lock()
	e.at.to = time.Now()
	h.mu.Unlock()
	return err
}

// watch notes what goes, and when, until the context ends. What nobody here has deleted went with
// its owner.
func (h *truth) watch(ctx context.Context, from string) error {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, plane.URL+configMaps+"?watch=1&timeoutSeconds=3600&resourceVersion="+from, http.NoBody)
	if err != nil {
		return err
	}
	request.Header.Set("Authorization", "Bearer "+plane.Token)
	answer, err := plane.Client().Do(request)
	if err != nil {
		return err
	}
	defer func() { _ = answer.Body.Close() }()
	lines := bufio.NewScanner(answer.Body)
	for lines.Scan() {
		var event struct {
			Type   string
			Object object
		}
		if err := json.NewDecoder(bytes.NewReader(lines.Bytes())).Decode(&event); err != nil {
			return err
		}
		switch event.Type {
		case "DELETED":
			h.note(&event.Object)
		case "ERROR":
			return fmt.Errorf("%s", lines.Bytes())
		}
	}
	return ctx.Err()
}

func (h *truth) note(o *object) {
	h.mu.Lock()
	defer h.mu.Unlock()
	e := h.ends[o.Metadata.UID]
	if e == nil {
		e = &end{name: o.Metadata.Name, uid: o.Metadata.UID, at: span{from: time.Now().Add(-time.Second), to: time.Now()}}
		for _, owner := range o.Metadata.OwnerReferences {
			e.owner = owner.UID
		}
		h.ends[e.uid] = e
	}
	e.revision = o.revision()
	h.writes = append(h.writes, write{e.revision, span{time.Now().Add(-time.Second), time.Now()}})
}
