package kube

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"time"
)

// bodies lists the whole objects of a place in pages, and passes each as JSON to take while the
// rest still arrives. take owns the bytes. A nil error means that the list was complete. An expired
// list restarts from the beginning: take then gets objects twice, and may have got objects that are
// gone.
func (c *Client) bodies(ctx context.Context, at Place, by Selection, take func([]byte) error) error {
	for try := 1; ; try++ {
		_, _, err := c.bodiesOnce(ctx, at, by, take)
		if refusal, ok := errors.AsType[receiverError](err); ok {
			return refusal.error
		}
		if err == nil || !isExpired(err) || by.Revision > 0 || try == listTries || ctx.Err() != nil {
			return err
		}
	}
}

// bodiesOnce lists once from the beginning. It returns the resourceVersion of the list and the
// server's time of the response.
func (c *Client) bodiesOnce(ctx context.Context, at Place, by Selection, take func([]byte) error) (revision string, date time.Time, err error) {
	limit := c.chunk
	if limit == 0 {
		limit = pageSize
	}
	return c.pages(ctx, at, by, limit, jsonType, &bodyReader{readList{at: at}, take})
}

// bodyReader reads the pages of a list of whole objects.
type bodyReader struct {
	readList
	take func([]byte) error
}

// page reads one page. The kind of the list, which may come after the items, must be the requested
// one.
func (rd *bodyReader) page(a *answer) (listMeta, error) {
	if a.media != jsonType {
		return listMeta{}, fmt.Errorf("its type is %s", quote(a.media))
	}
	d := json.NewDecoder(a.body)
	if err := expectDelimiter(d, '{'); err != nil {
		return listMeta{}, err
	}
	var list struct {
		kind, apiVersion string
		meta             struct {
			ResourceVersion string `json:"resourceVersion"`
			Continue        string `json:"continue"`
		}
		items bool
	}
	for d.More() {
		key, err := d.Token()
		if err != nil {
			return listMeta{}, unexpectedEOF(err)
		}
		switch key {
		case "kind":
			err = d.Decode(&list.kind)
		case "apiVersion":
			err = d.Decode(&list.apiVersion)
		case "metadata":
			err = d.Decode(&list.meta)
		case "items":
			list.items = true
			err = rd.items(d)
		default:
			var other json.RawMessage
			err = d.Decode(&other)
		}
		if err != nil {
			return listMeta{}, unexpectedEOF(err)
		}
	}
	if err := expectDelimiter(d, '}'); err != nil {
		return listMeta{}, err
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return listMeta{}, errors.Join(err, errors.New("something follows the list"))
	}
	if r := rd.at.Resource; list.kind != r.Kind+"List" || list.apiVersion != r.APIVersion() || !list.items {
		return listMeta{}, fmt.Errorf("it is a %s of %s", quote(list.kind), quote(list.apiVersion))
	}
	return listMeta{resourceVersion: list.meta.ResourceVersion, more: list.meta.Continue}, nil
}

// items reads the items. null is an empty list, as Go encodes it.
func (rd *bodyReader) items(d *json.Decoder) error {
	start, err := d.Token()
	if err != nil || start == nil {
		return err
	}
	if start != json.Delim('[') {
		return fmt.Errorf("its items are not an array but begin with %s", quote(fmt.Sprint(start)))
	}
	for d.More() {
		var item json.RawMessage
		if err := d.Decode(&item); err != nil {
			return err
		}
		if err := rd.item(item); err != nil {
			return err
		}
	}
	return expectDelimiter(d, ']')
}

// item passes one object to take if it belongs to the list. The server omits kind and apiVersion in
// lists of built-in kinds.
func (rd *bodyReader) item(raw []byte) error {
	var o struct {
		Kind, APIVersion string
		Metadata         struct{ Namespace string }
	}
	if err := json.Unmarshal(raw, &o); err != nil {
		return err
	}
	r := rd.at.Resource
	if o.Kind != "" && o.Kind != r.Kind || o.APIVersion != "" && o.APIVersion != r.APIVersion() {
		return fmt.Errorf("it holds a %s of %s", quote(o.Kind), quote(o.APIVersion))
	}
	if rd.at.Namespace != "" && o.Metadata.Namespace != rd.at.Namespace {
		return fmt.Errorf("it holds an object of namespace %s", quote(o.Metadata.Namespace))
	}
	rd.objects++
	if err := rd.take(raw); err != nil {
		return receiverError{err}
	}
	return nil
}

// expectDelimiter reads a bracket.
func expectDelimiter(d *json.Decoder, want json.Delim) error {
	got, err := d.Token()
	if err != nil {
		return unexpectedEOF(err)
	}
	if got != want {
		return fmt.Errorf("it has %s instead of %s", quote(fmt.Sprint(got)), want)
	}
	return nil
}

// unexpectedEOF turns io.EOF within a message into io.ErrUnexpectedEOF.
func unexpectedEOF(err error) error {
	if errors.Is(err, io.EOF) {
		return io.ErrUnexpectedEOF
	}
	return err
}
