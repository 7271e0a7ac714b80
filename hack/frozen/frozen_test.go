package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestQuestions: the same seed asks the same of the same worlds, and of each whatever is
// refused.
func TestQuestions(t *testing.T) {
	written := func() (string, string) {
		dir := t.TempDir()
		paths, err := writeWorlds(dir, 7, 2)
		if err != nil {
			t.Fatal(err)
		}
		paths = append(paths, filepath.Join(dir, "none"))
		var asked, worlds strings.Builder
		for _, path := range paths {
			if err := ask(&asked, path, worldTargets); err != nil {
				t.Fatal(err)
			}
			text, err := os.ReadFile(path)
			if err != nil && filepath.Base(path) != "none" {
				t.Fatal(err)
			}
			worlds.Write(text)
		}
		return strings.ReplaceAll(asked.String(), dir, "DIR"), worlds.String()
	}
	asked, worlds := written()
	again, worldsAgain := written()
	if asked != again || worlds != worldsAgain {
		t.Error("another run asks something else")
	}
	for _, want := range []string{
		"check -o json --from DIR/world-7.json\n", "stuck --from DIR/world-8.json\n", "--cascade=foreground --from DIR/world-8.json\n", "graph -A --from DIR/none\n",
	} {
		if !strings.Contains(asked, want) {
			t.Errorf("nobody asks %q in\n%s", want, asked)
		}
	}
}

// TestAnswers: an answer for each question, in their order, with what the program says and
// how it ends.
func TestAnswers(t *testing.T) {
	file := filepath.Join(t.TempDir(), "questions")
	if err := os.WriteFile(file, []byte("a\nb\nc\nd\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	program := filepath.Join(t.TempDir(), "program")
	if err := os.WriteFile(program, []byte("#!/bin/sh\n[ $1 = c ] && exit 3\necho $1\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	var out strings.Builder
	if err := answerAll(&out, program, file); err != nil {
		t.Fatal(err)
	}
	none := sum(nil)
	var want strings.Builder
	for _, q := range []string{"a", "b", "c", "d"} {
		code, said := "0", sum([]byte(q+"\n"))
		if q == "c" {
			code, said = "3", none
		}
		want.WriteString(strings.Join([]string{code, said, none, q}, " ") + "\n")
	}
	if out.String() != want.String() {
		t.Errorf("answers\n%s\nwant\n%s", &out, &want)
	}
}
