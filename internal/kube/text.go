package kube

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/url"
	"strings"
)

// errElsewhere says that a URL is not one of this server.
var errElsewhere = errors.New("the URL is not one of this API server")

// Serves reports whether a URL leads to this API server.
func (c *Client) Serves(u *url.URL) bool {
	return u.Scheme == c.base.Scheme && u.Host == c.base.Host
}

// Text reads what the API server answers at a URL of its own, such as that of a proxy
// to a pod. The answer is closed by the caller.
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

// pathBelow are the segments of the path of a URL below that of another.
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
