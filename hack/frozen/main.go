// Command frozen records what the program answers, so that a change of structure can be
// compared with the program before it:
//
//	go run ./hack/frozen questions [-worlds 500] DIR INPUT...
//	go run ./hack/frozen answers -program OLD DIR/questions     > old
//	go run ./hack/frozen answers -program NEW DIR/questions     > new
//	diff old new
//
// The inputs are dumps: files, archives or directories. The questions are command lines
// about the inputs and about drawn worlds. Worlds and questions are written to DIR. An
// answer is the exit code, the sums of stdout and stderr, and the question. Both programs get the same
// questions, whatever the code that draws worlds has become meanwhile.
package main

import (
	"bytes"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
)

func main() {
	err := errors.New("say questions or answers")
	if len(os.Args) > 1 {
		switch os.Args[1] {
		case "questions":
			err = questions(os.Args[2:])
		case "answers":
			err = answers(os.Args[2:])
		}
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "frozen:", err)
		os.Exit(1)
	}
}

func questions(args []string) error {
	flags := flag.NewFlagSet("questions", flag.ExitOnError)
	worlds := flags.Int("worlds", 500, "draw so many worlds")
	seed := flags.Int("seed", 1, "the first of them")
	flags.Parse(args)
	if flags.NArg() == 0 {
		return errors.New("say where the worlds are written")
	}
	dir, inputs := flags.Arg(0), flags.Args()[1:]
	drawn, err := writeWorlds(dir, *seed, *worlds)
	if err != nil {
		return err
	}
	var asked bytes.Buffer
	for _, path := range drawn {
		if err := ask(&asked, path, worldTargets); err != nil {
			return err
		}
	}
	for _, path := range inputs {
		if err := ask(&asked, path, inputTargets); err != nil {
			return err
		}
	}
	return os.WriteFile(filepath.Join(dir, "questions"), asked.Bytes(), 0o644)
}

func answers(args []string) error {
	flags := flag.NewFlagSet("answers", flag.ExitOnError)
	program := flags.String("program", "", "the program that answers")
	flags.Parse(args)
	if *program == "" || flags.NArg() != 1 {
		return errors.New("say -program and one file of questions")
	}
	return answerAll(os.Stdout, *program, flags.Arg(0))
}
