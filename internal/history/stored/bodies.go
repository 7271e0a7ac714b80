package stored

import (
	"context"
	"fmt"
	"strings"

	"github.com/kubectl-gc/kubectl-gc/internal/etcd"
	"github.com/kubectl-gc/kubectl-gc/internal/history"
	"github.com/kubectl-gc/kubectl-gc/internal/object"
)

// Bodies passes objects to take as they are stored, in their stored version, except CRDs. An API
// server would convert some of them and fill in defaults. Objects that cannot be read are
// encrypted, or of a type that this program does not know.
func (r *Record) Bodies(ctx context.Context, c history.Collection, take func(raw []byte) error) error {
	res, err := r.resources.For(c.APIVersion, c.Kind)
	if err != nil {
		return err
	}
	at := int64(c.Revision)
	if at < r.stored.Oldest || at > r.stored.Newest {
		return fmt.Errorf("revision %d is not in the file, which holds %d to %d", c.Revision, r.stored.Oldest, r.stored.Newest)
	}
	gr := object.Storage(res.GroupResource())
	unread := &history.UnreadError{}
	for _, s := range r.shelves {
		if s.gr != gr {
			continue
		}
		for _, key := range s.keys {
			place, ok := asked(key, c)
			if !ok {
				continue
			}
			if err := ctx.Err(); err != nil {
				return err
			}
			raw, err := r.body(s, key, at)
			if err != nil {
				unread.Objects = append(unread.Objects, object.Ref{APIVersion: c.APIVersion, Kind: c.Kind, Namespace: place.Namespace, Name: place.Name})
				unread.Whys = append(unread.Whys, err)
				continue
			}
			if raw == nil {
				continue
			}
			if err := take(raw); err != nil {
				return err
			}
		}
	}
	if len(unread.Objects) > 0 {
		return unread
	}
	return nil
}

// asked reports whether a key belongs to a requested object.
func asked(key string, c history.Collection) (etcd.Place, bool) {
	if c.Name != "" && !strings.HasSuffix(key, "/"+c.Name) || c.Namespace != "" && !strings.Contains(key, "/"+c.Namespace+"/") {
		return etcd.Place{}, false
	}
	place, _ := etcd.PlaceOf(key)
	return place, (c.Name == "" || place.Name == c.Name) && (c.Namespace == "" || place.Namespace == c.Namespace)
}

// body returns the content of a key at a revision; nil if it was empty.
func (r *Record) body(s *shelf, key string, at int64) ([]byte, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	c, ok := r.stored.At(key, at)
	if !ok {
		return nil, nil
	}
	raw, err := r.stored.Text(key, c)
	if err == nil && s.gr == object.CRD.GroupResource() {
		return served(raw)
	}
	return raw, err
}
