// Command vuln looks for known vulnerabilities that the program can reach. They
// are listed in a database that is asked over the network. Where it cannot be
// reached nothing is checked: that is said, and with -required it is an error.
package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"strings"
	"time"
)

// patience is how long the database has for its first answer.
const patience = 5 * time.Second

func main() {
	required := flag.Bool("required", false, "fail where the database cannot be reached")
	flag.Parse()
	database := os.Getenv("GOVULNDB")
	if database == "" {
		database = "https://vuln.go.dev"
	}
	if err := run(context.Background(), database, *required, os.Stdout, govulncheck); err != nil {
		fmt.Fprintln(os.Stderr, "vuln:", err)
		os.Exit(1)
	}
}

// run checks if the database answers.
func run(ctx context.Context, database string, required bool, out io.Writer, check func(context.Context) error) error {
	err := answers(ctx, database)
	switch {
	case err == nil:
		return check(ctx)
	case required:
		return fmt.Errorf("known vulnerabilities cannot be checked: %w", err)
	}
	_, err = fmt.Fprintf(out, "vuln: NOT CHECKED for known vulnerabilities: %v\n", err)
	return err
}

// answers reports whether the database can be asked.
func answers(ctx context.Context, database string) error {
	ctx, stop := context.WithTimeout(ctx, patience)
	defer stop()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, strings.TrimSuffix(database, "/")+"/index/db.json", nil)
	if err != nil {
		return err
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return err
	}
	defer func() { _ = response.Body.Close() }()
	if response.StatusCode != http.StatusOK {
		return fmt.Errorf("%s answers %s", request.URL, response.Status)
	}
	return nil
}

func govulncheck(ctx context.Context) error {
	command := exec.CommandContext(ctx, "go", "tool", "-modfile=tools/go.mod", "govulncheck", "./...")
	command.Stdout, command.Stderr = os.Stdout, os.Stderr
	return command.Run()
}
