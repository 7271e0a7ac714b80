package main

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

const (
	mit = `MIT License

Copyright (c) 2026 Somebody

Permission is hereby granted, free of charge, to any person obtaining a copy of this software and associated documentation files (the "Software"), to deal in the Software without restriction, including without limitation the rights to use, copy, modify, merge, publish, distribute, sublicense, and/or sell copies of the Software, and to permit persons to whom the Software is furnished to do so, subject to the following conditions:

The above copyright notice and this permission notice shall be included in all copies or substantial portions of the Software.

THE SOFTWARE IS PROVIDED "AS IS", WITHOUT WARRANTY OF ANY KIND, EXPRESS OR IMPLIED, INCLUDING BUT NOT LIMITED TO THE WARRANTIES OF MERCHANTABILITY, FITNESS FOR A PARTICULAR PURPOSE AND NONINFRINGEMENT. IN NO EVENT SHALL THE AUTHORS OR COPYRIGHT HOLDERS BE LIABLE FOR ANY CLAIM, DAMAGES OR OTHER LIABILITY, WHETHER IN AN ACTION OF CONTRACT, TORT OR OTHERWISE, ARISING FROM, OUT OF OR IN CONNECTION WITH THE SOFTWARE OR THE USE OR OTHER DEALINGS IN THE SOFTWARE.
`
	zeroBSD = `Copyright (C) 2026 by Somebody

Permission to use, copy, modify, and/or distribute this software for any purpose with or without fee is hereby granted.

THE SOFTWARE IS PROVIDED "AS IS" AND THE AUTHOR DISCLAIMS ALL WARRANTIES WITH REGARD TO THIS SOFTWARE INCLUDING ALL IMPLIED WARRANTIES OF MERCHANTABILITY AND FITNESS. IN NO EVENT SHALL THE AUTHOR BE LIABLE FOR ANY SPECIAL, DIRECT, INDIRECT, OR CONSEQUENTIAL DAMAGES OR ANY DAMAGES WHATSOEVER RESULTING FROM LOSS OF USE, DATA OR PROFITS, WHETHER IN AN ACTION OF CONTRACT, NEGLIGENCE OR OTHER TORTIOUS ACTION, ARISING OUT OF OR IN CONNECTION WITH THE USE OR PERFORMANCE OF THIS SOFTWARE.
`
)

func moduleOf(t *testing.T, files map[string]string) module {
	t.Helper()
	dir := t.TempDir()
	for name, text := range files {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return module{"example.com/m", "v1.0.0", dir}
}

func TestNotice(t *testing.T) {
	apache, err := os.ReadFile("../../LICENSE")
	if err != nil {
		t.Fatal(err)
	}
	n, err := noticeOf(moduleOf(t, map[string]string{
		"LICENSE": mit, "LICENSE-APACHE": string(apache), "NOTICE": "made by Somebody\n", "license.go": "package license\n",
	}))
	if err != nil {
		t.Fatal(err)
	}
	if want := []string{"Apache-2.0", "MIT"}; !slices.Equal(n.licences, want) {
		t.Errorf("licences %q, want %q", n.licences, want)
	}
	text := string(page([]notice{n, {module{"example.com/n", "v2.0.0", ""}, []string{"MIT"}, n.texts[:1]}}))
	for _, want := range []string{
		"example.com/m v1.0.0 (Apache-2.0, MIT)\n", "example.com/n v2.0.0 (MIT)\n",
		"example.com/m\nexample.com/n\n", "made by Somebody", "Copyright (c) 2026 Somebody",
	} {
		if strings.Count(text, want) != 1 {
			t.Errorf("%q is not in the page once", want)
		}
	}
}

func TestRefused(t *testing.T) {
	for _, c := range []struct {
		name  string
		files map[string]string
		want  string
	}{
		{"nothing", nil, "no licence was found"},
		{"a notice alone", map[string]string{"NOTICE": mit}, "no licence was found"},
		{"words", map[string]string{"LICENSE": "Do what you like with this.\n"}, "only 0 % of LICENSE"},
		{"more words than licence", map[string]string{"LICENSE": mit + strings.Repeat("except on Sundays, when nothing is granted at all ", 60)}, "of LICENSE is a licence that is known"},
		{"a licence that is not allowed", map[string]string{"LICENSE": zeroBSD}, "0BSD is not allowed"},
		{"one of two", map[string]string{"LICENSE": mit, "COPYING": zeroBSD}, "0BSD is not allowed"},
	} {
		t.Run(c.name, func(t *testing.T) {
			if _, err := noticeOf(moduleOf(t, c.files)); err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("error %v, want %q in it", err, c.want)
			}
		})
	}
}

func TestCollect(t *testing.T) {
	modules := map[string]module{}
	err := collect([]byte(`
		{"ImportPath": "fmt"}
		{"ImportPath": "main", "Module": {"Path": "example.com/main", "Main": true}}
		{"ImportPath": "a/b", "Module": {"Path": "a", "Version": "v1.0.0", "Dir": "/a"}}
		{"ImportPath": "c/d", "Module": {"Path": "c", "Version": "v1.0.0", "Dir": "/c", "Replace": {"Path": "e", "Version": "v2.0.0", "Dir": "/e"}}}
	`), modules)
	if err != nil {
		t.Fatal(err)
	}
	if len(modules) != 2 || modules["a"] != (module{"a", "v1.0.0", "/a"}) || modules["c"] != (module{"c", "v2.0.0", "/e"}) {
		t.Errorf("modules %v", modules)
	}
	if err := collect([]byte(`{"ImportPath": `), modules); err == nil {
		t.Error("half of an answer was accepted")
	}
}
