package main

import (
	"bytes"
	"fmt"
	"text/template"
)

// render fills the template as krew-release-bot does: it knows one function,
// which takes an address that is a template too, and answers with two lines of
// which the second is indented by four.
func render(text, version string, sum func(url string) (string, error)) ([]byte, error) {
	tag := struct{ TagName string }{version}
	place := func(address, tagName string) (string, error) {
		url, err := fill("address", address, nil, struct{ TagName string }{tagName})
		if err != nil {
			return "", err
		}
		hash, err := sum(string(url))
		if err != nil {
			return "", err
		}
		return fmt.Sprintf("uri: %s\n    sha256: %s", url, hash), nil
	}
	return fill(".krew.yaml", text, template.FuncMap{"addURIAndSha": place}, tag)
}

func fill(name, text string, functions template.FuncMap, data any) ([]byte, error) {
	t, err := template.New(name).Option("missingkey=error").Funcs(functions).Parse(text)
	if err != nil {
		return nil, err
	}
	var out bytes.Buffer
	if err := t.Execute(&out, data); err != nil {
		return nil, err
	}
	return out.Bytes(), nil
}
