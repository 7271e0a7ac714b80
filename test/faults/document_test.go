package faults

import (
	"flag"
	"fmt"
	"os"
	"regexp"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "write docs/faults.md")

const documentFile = "../../docs/faults.md"

// shown is a fault that another test shows.
type shown struct{ number, file, test string }

var shownElsewhere = []shown{
	{"L50", "test/controlplane/commands/killed_test.go", "TestCollectKilled"},
	{"L51", "test/controlplane/commands/killed_test.go", "TestCollectKilled"},
	{"L52", "test/controlplane/commands/killed_test.go", "TestCollectKilled"},
	{"L53", "test/controlplane/commands/collect_test.go", "TestCollectInterrupted"},
	{"L54", "internal/backup/writer_test.go", "TestDiskFull"},
	{"L55", "internal/backup/open_test.go", "TestDamagedLater"},
	{"L56", "internal/controller/gate_test.go", "TestLeaseFence"},
	{"L57", "internal/controller/gate_test.go", "TestWriteOutlivesNoLease"},
	{"L57", "test/controlplane/controller/replicas_test.go", "TestReplicas"},
	{"L58", "test/controlplane/controller/replicas_test.go", "TestReplicas"},
	{"L59", "internal/controller/gate_test.go", "TestLeaseFenceOnBothClocks"},
	{"L61", "test/controlplane/controller/collect_test.go", "TestAnotherCollector"},
	{"L81", "internal/backup/open_test.go", "TestCheckCluster"},
	{"L83", "test/controlplane/commands/collect_test.go", "TestCollectRefused"},
	{"L83", "internal/controller/gate_test.go", "TestSafetyLimit"},
	{"L84", "internal/apply/protect_test.go", "TestCheck"},
	{"L90", "test/controlplane/finalizers/remove_test.go", "TestChangedMeanwhile"},
	{"L91", "test/controlplane/finalizers/remove_test.go", "TestClaimInUse"},
	{"L93", "test/controlplane/finalizers/remove_test.go", "TestDefinitionWithInstances"},
	{"N01", "internal/snapshot/faults_test.go", "TestN01EmptyInputs"},
	{"N02", "internal/snapshot/faults_test.go", "TestN02Truncated"},
	{"N02", "internal/manifest/fault_test.go", "TestTruncation"},
	{"N06", "test/bombs/json_test.go", "TestJSON"},
	{"N08", "internal/manifest/fault_test.go", "TestBombs"},
	{"N08", "test/bombs/yaml_test.go", "TestYAML"},
	{"N11", "internal/snapshot/faults_test.go", "TestN11MissingUID"},
	{"N18", "internal/snapshot/faults_test.go", "TestN18SomeKindsOnly"},
	{"N19", "internal/snapshot/faults_test.go", "TestN19TwoClusters"},
	{"N22", "internal/manifest/limits_test.go", "FuzzMemory"},
	{"N22", "test/bombs/stored_test.go", "TestStored"},
	{"N23", "internal/snapshot/faults_test.go", "TestN23Bombs"},
	{"N23", "test/bombs/packed_test.go", "TestPacked"},
	{"N23", "test/bombs/packed_test.go", "TestContainers"},
	{"N24", "internal/snapshot/faults_test.go", "TestN24HostileTar"},
	{"N25", "internal/snapshot/faults_test.go", "TestN25OddDirectory"},
	{"N26", "internal/snapshot/faults_test.go", "TestN26FileChanges"},
	{"N28", "internal/snapshot/faults_test.go", "TestN28ForeignFiles"},
	{"N31", "internal/backup/open_test.go", "TestEveryByteCounts"},
	{"X01", "internal/render/hostile_test.go", "FuzzTable"},
	{"X01", "internal/render/hostile_test.go", "FuzzTree"},
	{"X02", "internal/render/hostile_test.go", "FuzzTable"},
	{"X03", "internal/render/hostile_test.go", "FuzzTable"},
	{"X04", "internal/render/hostile_test.go", "FuzzDOT"},
	{"X05", "internal/draw/svg_test.go", "FuzzSVG"},
	{"X06", "internal/draw/mermaid_test.go", "FuzzMermaid"},
	{"X06", "internal/render/markdown_test.go", "FuzzMarkdown"},
	{"X09", "internal/backup/writer_test.go", "TestSecrets"},
	{"X10", "internal/backup/hostile_test.go", "TestPlantedFiles"},
	{"X10", "internal/backup/hostile_test.go", "TestPlacesThatAreNotOurs"},
	{"X10", "internal/backup/hostile_test.go", "TestUmask"},
	{"X10", "internal/backup/writer_test.go", "TestModes"},
	{"X11", "test/controlplane/controller/collect_test.go", "TestQuarantine"},
	{"X11", "test/controlplane/commands/promises_test.go", "TestGarbageIsProtected"},
	{"X13", "internal/backup/open_test.go", "TestEveryByteCounts"},
	{"X13", "internal/backup/open_test.go", "TestCheckCluster"},
	{"X15", "internal/manifest/metadata_test.go", "TestProtectingAnnotations"},
	{"X19", "internal/kube/absence_test.go", "TestRedirect"},
	{"X25", "internal/report/remedy_test.go", "TestCommandLine"},
	{"X26", "internal/kube/request_test.go", "TestEndlessFrame"},
	{"X26", "internal/kube/request_test.go", "TestSilence"},
}

// tableRow is the row of a fault in docs/faults.md. Its last cell is written by this test.
var tableRow = regexp.MustCompile(`(?m)^(\| ([LNX]\d{2}) \|(?:[^|\n]*\|){2})[^|\n]*\|$`)

// withTests returns docs/faults.md with the last cells written anew.
func withTests(page string) string {
	return tableRow.ReplaceAllStringFunc(page, func(line string) string {
		found := tableRow.FindStringSubmatch(line)
		return strings.TrimSuffix(found[1]+" "+testsOf(found[2]), " ") + " |"
	})
}

// testsOf returns the tests that show a fault, as Markdown.
func testsOf(number string) string {
	var tests []string
	for _, r := range rows {
		if strings.HasPrefix(r.id, number+"_") {
			tests = append(tests, "`"+r.id+"`")
		}
	}
	for _, e := range shownElsewhere {
		if e.number == number {
			tests = append(tests, fmt.Sprintf("[%s](../%s)", e.test, e.file))
		}
	}
	return strings.Join(tests, ", ")
}

// TestDocument compares the last column of docs/faults.md with the tests, and finds tests of faults
// that the page does not have.
func TestDocument(t *testing.T) {
	text, err := os.ReadFile(documentFile)
	if err != nil {
		t.Fatal(err)
	}
	have := string(text)
	seen := map[string]bool{}
	id := regexp.MustCompile(`^[LNX][0-9]{2}_[a-z0-9_]+$`)
	for _, r := range rows {
		if seen[r.id] || !id.MatchString(r.id) || r.done == "" || r.holds == "" {
			t.Errorf("row %q occurs twice, or does not say enough", r.id)
		}
		seen[r.id] = true
		if !strings.Contains(have, "\n| "+r.id[:3]+" |") {
			t.Errorf("docs/faults.md has no row for %s", r.id)
		}
	}
	for _, e := range shownElsewhere {
		text, err := os.ReadFile("../../" + e.file)
		if err != nil || !strings.Contains(string(text), "func "+e.test+"(") {
			t.Errorf("%s: there is no %s in %s", e.number, e.test, e.file)
		}
		if !strings.Contains(have, "\n| "+e.number+" |") {
			t.Errorf("docs/faults.md has no row for %s", e.number)
		}
	}
	want := withTests(have)
	if *update {
		if err := os.WriteFile(documentFile, []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
	} else if have != want {
		t.Error("the last column of docs/faults.md does not name the tests: run this test with -update")
	}
}
