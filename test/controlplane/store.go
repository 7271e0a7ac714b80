package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"

	clientv3 "go.etcd.io/etcd/client/v3"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/serializer/protobuf"
	"k8s.io/kubernetes/pkg/api/legacyscheme"
)

// root is where the API server keeps what it stores.
const root = "/registry/"

// store puts an object into storage, past the API server, in the bytes that the
// API server itself would have stored. It is the way to states that no request
// leads to: given UIDs, given deletion timestamps, finalizers that exclude each
// other.
func (p *plane) store(ctx context.Context, key string, manifest []byte) error {
	value, err := encode(manifest)
	if err != nil {
		return fmt.Errorf("%s: %w", key, err)
	}
	_, err = p.storage.Put(ctx, root+key, string(value))
	return err
}

// wipe removes everything below a prefix from storage.
func (p *plane) wipe(ctx context.Context, prefix string) error {
	if prefix == "" {
		return fmt.Errorf("a prefix is wanted")
	}
	_, err := p.storage.Delete(ctx, root+prefix, clientv3.WithPrefix())
	return err
}

// encode writes kinds that the API server knows in protobuf, with their defaults,
// and custom resources in JSON.
func encode(manifest []byte) ([]byte, error) {
	o, kind, err := legacyscheme.Codecs.UniversalDeserializer().Decode(manifest, nil, nil)
	if runtime.IsNotRegisteredError(err) {
		return encodeCustom(manifest)
	}
	if err != nil {
		return nil, err
	}
	legacyscheme.Scheme.Default(o)
	encoder := legacyscheme.Codecs.EncoderForVersion(
		protobuf.NewSerializer(legacyscheme.Scheme, legacyscheme.Scheme), kind.GroupVersion())
	return runtime.Encode(encoder, o)
}

func encodeCustom(manifest []byte) ([]byte, error) {
	decoder := json.NewDecoder(bytes.NewReader(manifest))
	decoder.UseNumber()
	var o map[string]any
	if err := decoder.Decode(&o); err != nil {
		return nil, err
	}
	b, err := json.Marshal(o)
	return append(b, '\n'), err
}
