package kube

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"time"

	jsonv2 "github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
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
	return c.pages(ctx, at, by, limit, jsonType, &bodyReader{readList: readList{at: at}, take: take})
}

// bodyReader reads the pages of a list of whole objects.
type bodyReader struct {
	readList
	take func([]byte) error
	// failed is the error of an item.
	failed error
}

// bodyItems are the items of a list. They are passed on while they are read.
type bodyItems bool

// page reads one page. The kind of the list, which may come after the items, must be the requested
// one.
func (rd *bodyReader) page(a *answer) (listMeta, error) {
	if a.media != jsonType {
		return listMeta{}, fmt.Errorf("its type is %s", quote(a.media))
	}
	var list struct {
		Kind       string `json:"kind"`
		APIVersion string `json:"apiVersion"`
		Metadata   struct {
			ResourceVersion string `json:"resourceVersion"`
			Continue        string `json:"continue"`
		} `json:"metadata"`
		Items bodyItems `json:"items"`
	}
	d := jsontext.NewDecoder(a.body, jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))
	err := jsonv2.UnmarshalDecode(d, &list, jsonv2.WithUnmarshalers(jsonv2.UnmarshalFromFunc(rd.items)))
	if err != nil {
		return listMeta{}, cmp.Or(rd.failed, unexpectedEOF(err))
	}
	if _, err := d.ReadToken(); !errors.Is(err, io.EOF) {
		return listMeta{}, errors.Join(err, errors.New("something follows the list"))
	}
	if r := rd.at.Resource; list.Kind != r.Kind+"List" || list.APIVersion != r.APIVersion() || !list.Items {
		return listMeta{}, fmt.Errorf("it is a %s of %s", quote(list.Kind), quote(list.APIVersion))
	}
	return listMeta{resourceVersion: list.Metadata.ResourceVersion, more: list.Metadata.Continue}, nil
}

// items reads the items. null is an empty list, as Go encodes it.
func (rd *bodyReader) items(d *jsontext.Decoder, found *bodyItems) error {
	*found = true
	start, err := d.ReadToken()
	if err != nil || start.Kind() == jsontext.KindNull {
		return err
	}
	if start.Kind() != jsontext.KindBeginArray {
		rd.failed = fmt.Errorf("its items are not an array but begin with %s", quote(start.String()))
		return rd.failed
	}
	for d.PeekKind() != jsontext.KindEndArray {
		item, err := d.ReadValue()
		if err != nil {
			return err
		}
		if rd.failed = rd.item(item.Clone()); rd.failed != nil {
			return rd.failed
		}
	}
	_, err = d.ReadToken()
	return err
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

// unexpectedEOF turns io.EOF within a message into io.ErrUnexpectedEOF.
func unexpectedEOF(err error) error {
	if errors.Is(err, io.EOF) {
		return io.ErrUnexpectedEOF
	}
	return err
}
