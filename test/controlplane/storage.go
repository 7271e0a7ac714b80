package main

import (
	"errors"
	"flag"
	"net/url"

	"go.etcd.io/etcd/server/v3/embed"
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
