package lost

import (
	"bufio"
	"context"
	"encoding/json"
	"os"
	"strings"
	"time"

	"github.com/kubectl-gc/kubectl-gc/test/controlplane/cluster"
)

// record is a write in the audit log.
type record struct {
	AuditID, Stage, Verb string
	User                 struct{ Username string }
	ObjectRef            struct{ Resource, APIGroup, Namespace, Name, Subresource string }
	ResponseStatus       struct{ Code int }
	RequestReceived      time.Time `json:"requestReceivedTimestamp"`
	Answered             time.Time `json:"stageTimestamp"`
}

// deletes are the deletes in the audit log that were done, of single objects and of
// collections.
func deletes() ([]*record, error) {
	f, err := os.Open(plane.AuditLog())
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }()
	var list []*record
	lines := bufio.NewScanner(f)
	lines.Buffer(nil, 1<<24)
	for lines.Scan() {
		r := &record{}
		if err := json.Unmarshal(lines.Bytes(), r); err != nil {
			return nil, err
		}
		if r.Stage == "ResponseComplete" && strings.HasPrefix(r.Verb, "delete") && r.ResponseStatus.Code < 300 {
			list = append(list, r)
		}
	}
	return list, lines.Err()
}

// calm waits until nobody has written anything for some seconds, or for a minute.
func calm(ctx context.Context) error {
	const long, enough = 4 * time.Second, time.Minute
	began := time.Now()
	size, since := int64(-1), began
	return cluster.Await(ctx, "nobody writes any more", func(context.Context) (bool, error) {
		info, err := os.Stat(plane.AuditLog())
		if err != nil {
			return false, err
		}
		if info.Size() != size {
			size, since = info.Size(), time.Now()
		}
		return time.Since(since) > long || time.Since(began) > enough, nil
	})
}
