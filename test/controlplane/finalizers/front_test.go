package finalizers

import (
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
)

// between serves the API server under another URL, and is told of every request
// before it is passed on.
func (s *stage) between(before func(method, path string)) string {
	s.Helper()
	target, err := url.Parse(plane.URL)
	if err != nil {
		s.Fatal(err)
	}
	proxy := &httputil.ReverseProxy{
		Transport: plane.Client().Transport,
		Rewrite: func(r *httputil.ProxyRequest) {
			r.SetURL(target)
			r.Out.Header.Set("Authorization", "Bearer "+plane.Token)
		},
		FlushInterval: -1,
	}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		before(r.Method, r.URL.Path)
		proxy.ServeHTTP(w, r)
	}))
	s.Cleanup(server.Close)
	return server.URL
}
