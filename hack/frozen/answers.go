package main

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime"
	"strings"
)

// answerAll writes the answers in the order of the questions; some are asked at once.
func answerAll(w io.Writer, program, path string) error {
	text, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	asked := strings.Split(strings.TrimSpace(string(text)), "\n")
	answers := make([]chan string, len(asked))
	for i := range answers {
		answers[i] = make(chan string, 1)
	}
	free := make(chan struct{}, runtime.GOMAXPROCS(0))
	go func() {
		for i, question := range asked {
			free <- struct{}{}
			go func() {
				answers[i] <- answer(program, question)
				<-free
			}()
		}
	}()
	out := bufio.NewWriter(w)
	for _, a := range answers {
		fmt.Fprintln(out, <-a)
	}
	return out.Flush()
}

// answer asks one question, without the environment of the user.
func answer(program, question string) string {
	cmd := exec.Command(program, strings.Fields(question)...)
	cmd.Env = []string{"HOME=/nonexistent", "COLUMNS=120"}
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	err := cmd.Run()
	if exit := (*exec.ExitError)(nil); err != nil && !errors.As(err, &exit) {
		return fmt.Sprintf("%v: %s", err, question)
	}
	return fmt.Sprintf("%d %s %s %s", cmd.ProcessState.ExitCode(), sum(stdout.Bytes()), sum(stderr.Bytes()), question)
}

// sum is enough of a hash to tell answers apart.
func sum(text []byte) string { return fmt.Sprintf("%x", sha256.Sum256(text))[:16] }
