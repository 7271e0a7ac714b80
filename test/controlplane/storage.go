package main

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/base64"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"net/url"
	"os"
	"path/filepath"

	clientv3 "go.etcd.io/etcd/client/v3"
	"go.etcd.io/etcd/server/v3/embed"
	"go.etcd.io/etcd/server/v3/etcdserver/api/v3client"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/serializer/protobuf"
	"k8s.io/kubernetes/pkg/api/legacyscheme"
)

// storage is etcd, with the flags that envtest gives it, until a signal arrives.
func storage(args []string) error {
	flags := flag.NewFlagSet("etcd", flag.ContinueOnError)
	dir := flags.String("data-dir", "", "where to store")
	clients := flags.String("listen-client-urls", "", "the address for clients")
	flags.String("advertise-client-urls", "", "the same address")
	peers := flags.String("listen-peer-urls", "", "the address for peers, of which there are none")
	if err := flags.Parse(args); err != nil {
		return err
	}
	c, err := url.Parse(*clients)
	p, errPeers := url.Parse(*peers)
	if err := errors.Join(err, errPeers); err != nil {
		return err
	}
	ctx, stop := interruptible()
	defer stop()
	config := etcdConfig(*dir, *c, *p)
	config.LogOutputs = []string{embed.StdErrLogOutput}
	e, err := embed.StartEtcd(config)
	if err != nil {
		return err
	}
	defer e.Close()
	select {
	case <-ctx.Done():
		return nil
	case err := <-e.Err():
		return err
	}
}

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

// snapshot writes what etcd sends to who asks for a snapshot of it: the database and its
// checksum.
func (p *plane) snapshot(ctx context.Context, file string) error {
	client, err := clientv3.New(clientv3.Config{Context: ctx, Endpoints: []string{"http://" + p.etcd.Clients[0].Addr().String()}})
	if err != nil {
		return err
	}
	defer func() { _ = client.Close() }()
	r, err := client.Snapshot(ctx)
	if err != nil {
		return err
	}
	defer func() { _ = r.Close() }()
	f, err := os.Create(file)
	if err != nil {
		return err
	}
	_, err = io.Copy(f, r)
	return errors.Join(err, f.Close())
}

// encrypting are the arguments with which the API server encrypts some kinds. What is there
// already it can still read.
func (p *plane) encrypting() ([]string, error) {
	key := make([]byte, 32)
	_, _ = rand.Read(key) // it never fails
	config := fmt.Sprintf(`{"apiVersion": "apiserver.config.k8s.io/v1", "kind": "EncryptionConfiguration", "resources": [{
"resources": ["secrets", "configmaps"],
"providers": [{"aescbc": {"keys": [{"name": "first", "secret": %q}]}}, {"identity": {}}]}]}`, base64.StdEncoding.EncodeToString(key))
	file := filepath.Join(p.dir, "encryption.json")
	return []string{"--encryption-provider-config=" + file}, os.WriteFile(file, []byte(config), 0o600)
}

// backup copies the whole storage while nothing runs over it, and goes on.
func (p *plane) backup(ctx context.Context) error {
	p.halt()
	if err := os.RemoveAll(p.copied()); err != nil {
		return err
	}
	if err := os.CopyFS(p.copied(), os.DirFS(p.stored())); err != nil {
		return err
	}
	return p.resume(ctx)
}

// restore puts the copy in the place of the storage, as people do after a disaster:
// its revisions begin again where they were then. A controller manager goes on
// running.
func (p *plane) restore(ctx context.Context) error {
	if _, err := os.Stat(p.copied()); err != nil {
		return fmt.Errorf("there is no backup: %w", err)
	}
	p.halt()
	if err := os.RemoveAll(p.stored()); err != nil {
		return err
	}
	if err := os.CopyFS(p.stored(), os.DirFS(p.copied())); err != nil {
		return err
	}
	return p.resume(ctx)
}

// stored is where etcd keeps what it stores, and copied where a backup is.
func (p *plane) stored() string { return filepath.Join(p.dir, "etcd") }
func (p *plane) copied() string { return filepath.Join(p.dir, "etcd-backup") }

// halt stops the API server and etcd.
func (p *plane) halt() {
	p.server.stop()
	_ = p.storage.Close()
	p.etcd.Close()
}

// resume starts both again, at the address that clients know.
func (p *plane) resume(ctx context.Context) (err error) {
	if p.etcd, err = startEtcd(ctx, p.stored()); err != nil {
		return fmt.Errorf("etcd: %w", err)
	}
	p.storage = v3client.New(p.etcd.Server)
	return p.startServer(ctx, p.port)
}
