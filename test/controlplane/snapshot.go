package main

import (
	"context"
	"crypto/rand"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	clientv3 "go.etcd.io/etcd/client/v3"
)

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
