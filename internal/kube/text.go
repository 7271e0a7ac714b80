package kube

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/url"
	"strings"
)

// errElsewhere is the error for a URL of another server.
var errElsewhere = errors.New("the URL is not one of this API server")

// Serves reports whether a URL belongs to this API server.
func (c *Client) Serves(u *url.URL) bool {
	return u.Scheme == c.base.Scheme && u.Host == c.base.Host
}

// Text returns the response to a GET of a URL of this API server, such as a proxy to a pod. The
// caller must close it.
func (c *Client) Text(ctx context.Context, u *url.URL) (io.ReadCloser, error) {
	path, ok := pathBelow(c.base, u)
	if !ok || !c.Serves(u) {
		return nil, errElsewhere
	}
	a, err := c.send(ctx, request{verb: http.MethodGet, path: path, query: u.Query(), accept: "*/*"})
	if err != nil {
		return nil, err
	}
	return a.body, nil
}

// pathBelow returns the unescaped path segments of a URL below the path of base.
func pathBelow(base, u *url.URL) (path []string, ok bool) {
	rest, ok := strings.CutPrefix(u.EscapedPath(), base.EscapedPath()+"/")
	if !ok {
		return nil, false
	}
	for segment := range strings.SplitSeq(rest, "/") {
		plain, err := url.PathUnescape(segment)
		if err != nil || plain == "." || plain == ".." {
			return nil, false
		}
		path = append(path, plain)
	}
	return path, true
}
