package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"go.etcd.io/etcd/server/v3/etcdserver/api/v3client"
)

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
