package reading

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"strings"
	"sync"

	"google.golang.org/protobuf/encoding/protowire"
	"k8s.io/client-go/rest"

	"github.com/kubectl-gc/kubectl-gc/internal/cli/command"
	"github.com/kubectl-gc/kubectl-gc/internal/kube"
	"github.com/kubectl-gc/kubectl-gc/internal/manifest"
	"github.com/kubectl-gc/kubectl-gc/internal/object"
)

// use is what becomes of the body of a list.
type use func(io.Writer, io.Reader) (int64, error)

// fetchTask asks for the very lists that a snapshot asks for, or for their metadata alone
// as the commands do that need no more, compressed as these.
func fetchTask(what use, metadata bool) func(kubeconfig string) (int64, error) {
	return func(kubeconfig string) (int64, error) {
		f := of(kubeconfig).Flags()
		config, err := f.ToRESTConfig()
		if err != nil {
			return 0, err
		}
		client, err := rest.HTTPClientFor(config)
		if err != nil {
			return 0, err
		}
		c, err := command.Connect(f, kube.Options{})
		if err != nil {
			return 0, err
		}
		d, err := c.Discover(context.Background())
		if err != nil {
			return 0, err
		}
		var all sync.WaitGroup
		var mu sync.Mutex
		var bytes int64
		slots := make(chan struct{}, 16)
		for _, r := range d.Resources.All() {
			if !d.Resources.Monitored(r) {
				continue
			}
			all.Go(func() {
				slots <- struct{}{}
				n, failed := fetch(client, config.Host, r, metadata, what)
				<-slots
				mu.Lock()
				defer mu.Unlock()
				bytes, err = bytes+n, errors.Join(err, failed)
			})
		}
		all.Wait()
		return bytes, err
	}
}

// accepted is the form in which a list is asked for.
func accepted(r object.Resource, metadata bool) string {
	switch {
	case !manifest.HasFacts(r.APIVersion(), r.Kind) || metadata && !r.Is(object.CRD):
		return "application/vnd.kubernetes.protobuf;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1"
	case r.Is(object.Pod):
		return "application/vnd.kubernetes.protobuf"
	default:
		return "application/json"
	}
}

func fetch(client *http.Client, host string, r object.Resource, metadata bool, what use) (int64, error) {
	root := "/apis/" + r.Group
	if r.Group == "" {
		root = "/api"
	}
	request, err := http.NewRequest(http.MethodGet, strings.TrimRight(host, "/")+root+"/"+r.Version+"/"+r.Name, http.NoBody)
	if err != nil {
		return 0, err
	}
	request.Header.Set("Accept", accepted(r, metadata))
	answer, err := client.Do(request)
	if err != nil {
		return 0, err
	}
	defer func() { _ = answer.Body.Close() }()
	return what(io.Discard, answer.Body)
}

// scan reads a list and goes through the fields of its objects, as everybody has to who
// wants to know something of them. Nothing is kept.
func scan(_ io.Writer, body io.Reader) (int64, error) {
	text, err := io.ReadAll(body)
	if err != nil {
		return 0, err
	}
	const magic = 4
	switch {
	case len(text) > 0 && text[0] == '{':
		if !json.Valid(text) {
			return 0, errors.New("no JSON")
		}
		return int64(len(text)), nil
	case len(text) < magic:
		return 0, io.ErrUnexpectedEOF
	}
	// Unknown.raw, items, metadata, and owner references.
	return int64(len(text)), walk(text[magic:], []protowire.Number{2, 2, 1, 13})
}

// walk goes through the fields of a message, and into those of a path.
func walk(text []byte, path []protowire.Number) error {
	for len(text) > 0 {
		number, kind, n := protowire.ConsumeTag(text)
		if n < 0 {
			return protowire.ParseError(n)
		}
		text = text[n:]
		if kind == protowire.BytesType {
			field, n := protowire.ConsumeBytes(text)
			if n < 0 {
				return protowire.ParseError(n)
			}
			text = text[n:]
			if len(path) > 0 && number == path[0] {
				if err := walk(field, path[1:]); err != nil {
					return err
				}
			}
			continue
		}
		if n = protowire.ConsumeFieldValue(number, kind, text); n < 0 {
			return protowire.ParseError(n)
		}
		text = text[n:]
	}
	return nil
}
