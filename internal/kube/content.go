package kube

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/kubectl-gc/kubectl-gc/internal/object"
)

// Content stands for all of an object but what the cluster itself writes while it
// deletes: two versions with the same Content are what the same person wanted.
type Content [sha256.Size]byte

// notContent are the fields of metadata that do not belong to the content: who wrote last,
// and what the collector and a DELETE change, which is compared field by field.
var notContent = []string{
	"resourceVersion", "managedFields", "generation", "ownerReferences", "finalizers", "deletionTimestamp", "deletionGracePeriodSeconds",
}

// ContentOf returns the content of an object as the server sent it. The status does not
// belong to it, for no user asked for it.
func ContentOf(raw []byte) (Content, error) {
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber()
	var o map[string]any
	if err := d.Decode(&o); err != nil {
		return Content{}, err
	}
	delete(o, "status")
	metadata, ok := o["metadata"].(map[string]any)
	if !ok {
		return Content{}, errors.New("it has no metadata")
	}
	for _, field := range notContent {
		delete(metadata, field)
	}
	text, err := json.Marshal(o)
	return sha256.Sum256(text), err
}

// Contents names the content of each object, in the order given: its uid, and a hash of it.
// An object of which the content is not read is named with its version instead: a Secret,
// and one that may not be read. Its error is that of the context.
func (c *Client) Contents(ctx context.Context, objects []*object.Object) ([]string, error) {
	names := make([]string, len(objects))
	tasks := make([]func(), len(objects))
	for i, o := range objects {
		names[i] = fmt.Sprintf("version %s %s", o.UID, o.ResourceVersion)
		tasks[i] = func() {
			if o.Is(object.Secret) || ctx.Err() != nil {
				return
			}
			raw, now, err := c.Raw(ctx, o.Ref)
			if apierrors.IsNotFound(err) || err == nil && now.UID != o.UID {
				names[i] = fmt.Sprintf("gone %s", o.UID)
			} else if err != nil {
				return
			} else if content, err := ContentOf(raw); err == nil {
				names[i] = fmt.Sprintf("content %s %x", o.UID, content)
			}
		}
	}
	besides(tasks)
	return names, ctx.Err()
}
