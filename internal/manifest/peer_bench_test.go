package manifest

import (
	"bytes"
	"encoding/json"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// The peers of Read on the same input: what one would write with the standard
// library, and what kubectl's own machinery does.

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
