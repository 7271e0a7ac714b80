package manifest

import (
	"bytes"
	"encoding/json"
	"testing"

	"github.com/go-json-experiment/json/jsontext"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// The peers of Read on the same input: a reader with the standard library, and kubectl's own
// decoder.

func BenchmarkPeerPartialObjectMetadata(b *testing.B) {
	input := podList(b, 2000, 50)
	b.SetBytes(int64(len(input)))
	b.ReportAllocs()
	for b.Loop() {
		d := json.NewDecoder(bytes.NewReader(input))
		for {
			token, err := d.Token()
			if err != nil {
				b.Fatal(err)
			}
			if token == "items" {
				break
			}
		}
		if _, err := d.Token(); err != nil {
			b.Fatal(err)
		}
		for d.More() {
			var o metav1.PartialObjectMetadata
			if err := d.Decode(&o); err != nil {
				b.Fatal(err)
			}
		}
	}
}

func BenchmarkPeerUnstructuredList(b *testing.B) {
	input := podList(b, 2000, 50)
	b.SetBytes(int64(len(input)))
	b.ReportAllocs()
	for b.Loop() {
		var l unstructured.UnstructuredList
		if err := l.UnmarshalJSON(input); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkPeerJSONText is the minimum for a reader over jsontext: it descends to our fields, skips
// all others, and keeps nothing.
func BenchmarkPeerJSONText(b *testing.B) {
	input := podList(b, 2000, 50)
	b.SetBytes(int64(len(input)))
	b.ReportAllocs()
	entered := map[string]bool{"items": true, "metadata": true, "labels": true, "annotations": true, "ownerReferences": true, "spec": true, "status": true}
	for b.Loop() {
		if err := walk(jsontext.NewDecoder(bytes.NewReader(input)), entered); err != nil {
			b.Fatal(err)
		}
	}
}

func walk(d *jsontext.Decoder, entered map[string]bool) error {
	if kind := d.PeekKind(); kind != '{' && kind != '[' {
		return d.SkipValue()
	}
	start, err := d.ReadToken()
	if err != nil {
		return err
	}
	for d.PeekKind() != '}' && d.PeekKind() != ']' {
		next := walk
		if start.Kind() == '{' {
			key, err := d.ReadToken()
			if err != nil {
				return err
			}
			if !entered[key.String()] {
				next = func(d *jsontext.Decoder, _ map[string]bool) error { return d.SkipValue() }
			}
		}
		if err := next(d, entered); err != nil {
			return err
		}
	}
	_, err = d.ReadToken()
	return err
}

// BenchmarkPeerJSONTextSkips measures how fast jsontext skips a list.
func BenchmarkPeerJSONTextSkips(b *testing.B) {
	input := podList(b, 2000, 50)
	b.SetBytes(int64(len(input)))
	for b.Loop() {
		if err := jsontext.NewDecoder(bytes.NewReader(input)).SkipValue(); err != nil {
			b.Fatal(err)
		}
	}
}
