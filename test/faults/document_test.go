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

const introduction = `# Faults

What the garbage collector does when the server, the network or somebody else does not behave. This
page is written by ` + "`go test ./test/faults -run TestDocument -update`" + `; every row of the first
table is a test: ` + "`go test ./test/faults -run TestFaults/L19`" + `. Rows and invariants have the
numbers of [the specification](spec/faults.md).

The garbage collector under test is the live one, under strict rules: watches, proofs of absence,
requests. It talks HTTP to a simulated API server; between the two the fault happens. What it
did is judged beside the server's store, in the moment in which a request is carried out, by
the true world and not by what the garbage collector says of itself:

| | for every DELETE and PATCH |
|---|---|
| I1, I4 | no object goes, and no reference, whose owner lives at that moment; nothing goes that has no owner |
| I2 | it is pinned to a uid and a resourceVersion (to the uid alone when an owner releases dependents: the uids of the references say the rest) |
| I3 | foregroundDeletion stays on an owner while a blocking dependent is in the store |
| I5 | no grace period is set |
| I7 | the finalizer orphan stays until no dependent refers to the owner; nobody is ever deleted who referred to one that was orphaned from |
| I8 | no finalizer goes but the garbage collector's, none is put on, no reference is put on or made to stop blocking without need |
| I12 | nothing is sent after the end of a run |

Beyond that every row says what has to hold. Where it says that something is kept, garbage of
another kind is collected meanwhile (I11); and when the fault is over, what is garbage goes.
`

const between = `
## Shown elsewhere

| fault | what it is | test |
|---|---|---|
`

const missing = `
## Not shown by a test of its own

| fault | what it is | why |
|---|---|---|
`

// shown is a fault that another test shows.
type shown struct{ id, what, file, test string }

var shownElsewhere = []shown{
	{"L50–L52", "killed at any point of a collect, and run again", "test/controlplane/commands/killed_test.go", "TestCollectKilled"},
	{"L53", "interrupted, as a command", "test/controlplane/commands/collect_test.go", "TestCollectInterrupted"},
	{"L54", "the disk is full when the backup is written", "internal/backup/writer_test.go", "TestDiskFull"},
	{"L55", "the backup is changed during a run", "internal/backup/open_test.go", "TestDamagedLater"},
	{"L56", "the lease of the controller, by its clock", "internal/controller/gate_test.go", "TestLeaseFence"},
	{"L57", "a write that has outlived the lease", "internal/controller/transport_test.go", "TestWriteOutlivesNoLease"},
	{"L57", "the leader stopped in mid-cascade and resumed", "test/controlplane/controller/replicas_test.go", "TestReplicas"},
	{"L58", "replicas of the controller", "test/controlplane/controller/replicas_test.go", "TestReplicas"},
	{"L59", "a clock that jumps, or stands still while the machine sleeps", "internal/controller/gate_test.go", "TestLeaseFenceOnBothClocks"},
	{"L61", "the garbage collector of a real controller manager at work", "test/controlplane/controller/collect_test.go", "TestAnotherCollector"},
	{"L81", "a backup of another cluster", "internal/backup/open_test.go", "TestCheckCluster"},
	{"L83", "a plan beyond --max-deletes", "test/controlplane/commands/collect_test.go", "TestCollectRefused"},
	{"L84", "protected objects in a cascade", "internal/policy/protect_test.go", "TestCheck"},
	{"L90", "finalizers changed before a removal, on a real server", "test/controlplane/finalizers/remove_test.go", "TestChangedMeanwhile"},
	{"L91", "the protection of a PVC that is in use", "test/controlplane/finalizers/remove_test.go", "TestClaimInUse"},
	{"L93", "the finalizer of a CRD that has instances", "test/controlplane/finalizers/remove_test.go", "TestDefinitionWithInstances"},
	{"N08", "anchors, depth and other bombs in text", "internal/manifest/fault_test.go", "TestBombs"},
	{"N18", "a snapshot of some kinds", "internal/snapshot/faults_test.go", "TestN18SomeKindsOnly"},
	{"N23", "bombs of compression", "internal/snapshot/faults_test.go", "TestN23Bombs"},
	{"N24", "hostile archives", "internal/snapshot/faults_test.go", "TestN24HostileTar"},
	{"X01–X03", "control characters and the like in names, in every table", "internal/render/hostile_test.go", "FuzzTable"},
	{"X04", "hostile names in DOT", "internal/render/hostile_test.go", "FuzzDOT"},
	{"X09", "secrets in backups", "internal/backup/writer_test.go", "TestSecrets"},
	{"X10", "modes and planted files", "internal/backup/hostile_test.go", "TestPlantedFiles"},
}

// absent is a fault that no test shows.
type absent struct{ id, what, why string }

var notShown = []absent{
	{"L19", "the first list of a kind is empty, falsely", "there is nothing to compare it with; who refers to its objects asks the server for each of them, but an orphaning would not know of dependents there"},
	{"L19", "a relist leaves out more than 16 objects, some of them falsely", "16 of them are asked for; if those are gone indeed, the list is believed"},
	{"L24", "a watch leaves out an event and goes on", "no client can see that; a deletion is still judged by the server, an orphaning by what was seen"},
	{"L27", "a reference that names the wrong kind or namespace, while a watch says that the living owner with its uid is gone", "two faults at once: what the reference names is absent"},
	{"L74–L76", "very large objects, very many objects", "measured, not asserted: performance.md"},
	{"L82", "a plan applied to a restored clone of its cluster", "a clone has the same identity; its older resourceVersions make every request a conflict"},
	{"L85", "two API servers at different revisions", "the row has one that answers reads ahead of the store; a real pair is not run"},
	{"L92", "a Service with the finalizer of a cloud", "decided by remove-finalizer before anything is sent"},
}

// page is docs/faults.md.
func page() string {
	var b strings.Builder
	b.WriteString(introduction)
	b.WriteString("\n## Rows\n\n| row | what is done | what holds |\n|---|---|---|\n")
	for _, r := range rows {
		fmt.Fprintf(&b, "| `%s` | %s | %s |\n", r.id, r.done, r.holds)
	}
	b.WriteString(between)
	for _, e := range shownElsewhere {
		fmt.Fprintf(&b, "| %s | %s | [%s](../%s) |\n", e.id, e.what, e.test, e.file)
	}
	b.WriteString(missing)
	for _, a := range notShown {
		fmt.Fprintf(&b, "| %s | %s | %s |\n", a.id, a.what, a.why)
	}
	return b.String()
}

// TestDocument holds docs/faults.md to the rows, both ways, and to the tests that it
// names.
func TestDocument(t *testing.T) {
	seen := map[string]bool{}
	id := regexp.MustCompile(`^[LNX][0-9]{2}_[a-z0-9_]+$`)
	for _, r := range rows {
		if seen[r.id] || !id.MatchString(r.id) || r.done == "" || r.holds == "" {
			t.Errorf("row %q is there twice, or does not say enough", r.id)
		}
		seen[r.id] = true
	}
	for _, e := range shownElsewhere {
		text, err := os.ReadFile("../../" + e.file)
		if err != nil || !strings.Contains(string(text), "func "+e.test+"(") {
			t.Errorf("%s: there is no %s in %s", e.id, e.test, e.file)
		}
	}
	if *update {
		if err := os.WriteFile(documentFile, []byte(page()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	have, err := os.ReadFile(documentFile)
	if err != nil {
		t.Fatal(err)
	}
	if string(have) != page() {
		t.Error("docs/faults.md is not what the rows say: run this test with -update")
	}
}
