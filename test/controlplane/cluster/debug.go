package cluster

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
)

// Ask reads what a controller says about itself, at a path below Debug that begins
// with its name. The controller manager has to run.
func (c *Cluster) Ask(ctx context.Context, path string) ([]byte, http.Header, error) {
	if c.Debug == "" {
		return nil, nil, errors.New("this control plane was started without the option Debug")
	}
	// The controller manager makes its certificate when it starts for the first time.
	ca, err := os.ReadFile(filepath.Join(c.Directory, "manager-certificates", "kube-controller-manager.crt"))
	if err != nil {
		return nil, nil, err
	}
	pool := x509.NewCertPool()
	if !pool.AppendCertsFromPEM(ca) {
		return nil, nil, errors.New("the controller manager has no certificate")
	}
	transport := &http.Transport{TLSClientConfig: &tls.Config{RootCAs: pool, MinVersion: tls.VersionTLS12}}
	defer transport.CloseIdleConnections()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, c.Debug+path, http.NoBody)
	if err != nil {
		return nil, nil, err
	}
	answer, err := transport.RoundTrip(request)
	if err != nil {
		return nil, nil, err
	}
	defer func() { _ = answer.Body.Close() }()
	text, err := io.ReadAll(answer.Body)
	if err != nil {
		return nil, nil, err
	}
	if answer.StatusCode != http.StatusOK {
		return nil, nil, &AnswerError{Request: fmt.Sprintf("GET %s", path), Code: answer.StatusCode, Body: text}
	}
	return text, answer.Header, nil
}
