package manifest

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"testing"
)

// seeds adds every file in testdata/in and a few inputs that are hard to read.
func seeds(f *testing.F) {
	files, err := filepath.Glob("testdata/in/*")
	if err != nil || len(files) == 0 {
		f.Fatalf("no files in testdata/in: %v", err)
	}
	for _, name := range files {
		text, err := os.ReadFile(name)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(text)
	}
	for _, text := range hardYAML {
		f.Add([]byte(text))
	}
}

// FuzzRead expects objects or an error from any input, and the same every time.
func FuzzRead(f *testing.F) {
	seeds(f)
	f.Fuzz(func(t *testing.T, input []byte) {
		for _, o := range []Options{{}, {SkipText: true}, {APIVersion: "v1", Kind: "Pod", Namespace: "n"}} {
			a, errA := find(string(input), o)
			b, errB := find(string(input), o)
			sameFound(t, "read twice", a, b, errA, errB)
			for _, x := range a.Objects {
				if x.APIVersion == "" || x.Kind == "" || x.Name == "" {
					t.Fatalf("an object without identity: %+v", x)
				}
			}
			var p *Problem
			if errA != nil && !errors.As(errA, &p) {
				t.Fatalf("not a Problem: %v", errA)
			}
		}
	})
}

// FuzzYAMLFastPath expects the results of the full parser for any YAML.
func FuzzYAMLFastPath(f *testing.F) {
	seeds(f)
	f.Fuzz(func(t *testing.T, input []byte) {
		fast, errFast := find(string(input), Options{})
		full, errFull := findFully(input)
		sameFound(t, "scan and full parser", fast, full, errFast, errFull)

		windows := bytes.ReplaceAll(input, []byte("\n"), []byte("\r\n"))
		if bytes.IndexByte(input, '\r') < 0 && !isJSON(input, false) {
			crlf, errCRLF := find(string(windows), Options{})
			sameFound(t, "LF and CRLF", fast, crlf, errFast, errCRLF)
		}
	})
}
