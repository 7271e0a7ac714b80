package stuck

import (
	"encoding/json"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/google/go-cmp/cmp"
)

// saved compares the answers of the cluster with those of a snapshot that is taken right before.
func (s *stage) saved(all []*situation) {
	s.Helper()
	file := filepath.Join(s.TempDir(), "cluster.gz")
	s.renew(all)
	code, _, errOut := run("snapshot", "--to", file)
	if code != 0 {
		s.Fatalf("snapshot: code %d: %s", code, errOut)
	}
	s.Log(strings.TrimSpace(errOut))
	questions := []string{"stuck -A"}
	for i, one := range all {
		if one.As != "" || len(one.Ask) == 0 {
			continue
		}
		questions = append(questions, "stuck "+strings.Join(one.Ask, " ")+" -n "+one.Name)
		if i%8 == 0 { // each reads the whole cluster
			questions = append(questions, "dry-run delete namespace/"+one.Name, "dry-run delete "+one.Ask[0]+" -n "+one.Name)
		}
	}
	for i, question := range questions {
		if i%5 == 0 {
			s.renew(all)
		}
		words := append(strings.Fields(question), "-o", "json")
		wantCode, want, wantErr := run(words...)
		code, got, gotErr := run(append(words, "--from", file)...)
		if diff := cmp.Diff(timeless(want), timeless(got)); diff != "" || code != wantCode {
			s.Errorf("%s: exit codes %d and %d (-cluster +snapshot):\n%s%s%s", question, wantCode, code, diff, wantErr, gotErr)
		}
	}
	s.Logf("%d answers compared", 2*len(questions))
}

// renew renews the leases of all that run, which would expire while many questions are asked.
func (s *stage) renew(all []*situation) {
	s.Helper()
	for _, one := range all {
		s.alive(one, true)
	}
}

// moment is a time in an answer.
var moment = regexp.MustCompile(`\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ`)

// timeless is an answer as JSON without what it was taken from, and without what changes while somebody
// asks: when a lease was renewed, how long something has lasted, and the digest of a plan, into which the
// content of the targets goes.
func timeless(text string) any {
	var answer map[string]any
	if err := json.Unmarshal([]byte(moment.ReplaceAllString(text, "TIME")), &answer); err != nil {
		return text
	}
	delete(answer, "source")
	delete(answer, "digest")
	without(answer, "forSeconds")
	return answer
}

// without removes a field wherever it is.
func without(value any, field string) {
	switch v := value.(type) {
	case map[string]any:
		delete(v, field)
		for _, inner := range v {
			without(inner, field)
		}
	case []any:
		for _, inner := range v {
			without(inner, field)
		}
	}
}
