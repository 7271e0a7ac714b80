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

// Content is a hash of an object without the fields that the cluster changes during a deletion. Two
// versions with the same Content express the same intent of the user.
type Content [sha256.Size]byte

// ignoredMetadata are the fields of metadata that Content ignores: the last writers, and fields
// that the collector and a DELETE change, which are compared one by one.
var ignoredMetadata = []string{
	"resourceVersion", "managedFields", "generation", "ownerReferences", "finalizers", "deletionTimestamp", "deletionGracePeriodSeconds",
}

// ContentOf returns the content of an object as sent by the server. It ignores the status, which no
// user wrote.
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
	for _, field := range ignoredMetadata {
		delete(metadata, field)
	}
	text, err := json.Marshal(o)
	return sha256.Sum256(text), err
}

// Contents returns one line for each object, in their order: its uid with the hash of its content.
// If the content is not read, the line has the resourceVersion instead: for a Secret, or without
// permission. The error is that of the context.
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
	runAll(tasks)
	return names, ctx.Err()
}
