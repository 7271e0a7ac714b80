package docs

import (
	"bytes"
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/cli-runtime/pkg/genericiooptions"
	"pgregory.net/rapid"
	"sigs.k8s.io/yaml"

	"github.com/kubectl-gc/kubectl-gc/internal/cli"
	"github.com/kubectl-gc/kubectl-gc/internal/diagnose"
	"github.com/kubectl-gc/kubectl-gc/internal/engine"
	"github.com/kubectl-gc/kubectl-gc/internal/health"
	"github.com/kubectl-gc/kubectl-gc/internal/object"
	"github.com/kubectl-gc/kubectl-gc/internal/plan"
	"github.com/kubectl-gc/kubectl-gc/internal/report"
	"github.com/kubectl-gc/kubectl-gc/test/docs/markdown"
	"github.com/kubectl-gc/kubectl-gc/test/scenario"
)

// begins is where a document begins in a text, as JSON or as YAML.
var begins = regexp.MustCompile(`(?m)^(\{\n +"apiVersion": "|apiVersion: )kubectl-gc\.io/`)

// documentsIn are the documents that a text shows, as JSON.
func documentsIn(t *testing.T, text string) [][]byte {
	t.Helper()
	var found [][]byte
	for _, place := range begins.FindAllStringIndex(text, -1) {
		rest := text[place[0]:]
		var raw json.RawMessage
		if strings.HasPrefix(rest, "{") {
			if err := json.NewDecoder(strings.NewReader(rest)).Decode(&raw); err != nil {
				t.Fatal(err)
			}
		} else {
			end := regexp.MustCompile(`(?m)^(-- |----|---$|$|\x60\x60\x60)`).FindStringIndex(rest)
			if end == nil {
				end = []int{len(rest)}
			}
			var err error
			if raw, err = yaml.YAMLToJSON([]byte(rest[:end[0]])); err != nil {
				t.Fatal(err)
			}
		}
		found = append(found, raw)
	}
	return found
}

// TestDocumentsShown: what scripts and pages show of documents is valid. (Those in the
// goldens of internal/render are made up to try printers, and are no answers.)
func TestDocumentsShown(t *testing.T) {
	files, err := filepath.Glob(root + "/cmd/kubectl-gc/testdata/script/*.txtar")
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range pages(t) {
		files = append(files, filepath.Join(root, p.Path))
	}
	shown := 0
	for _, file := range files {
		raw, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, document := range documentsIn(t, string(raw)) {
			shown++
			known, err := strict()
			if err != nil {
				t.Fatal(err)
			}
			if _, err := known.check(document); err != nil {
				t.Errorf("%s: %v\n%s", file, err, document)
			}
		}
	}
	const least = 5 // what there was when this was written
	if shown < least {
		t.Errorf("only %d documents are shown", shown)
	}
}

// TestDocumentsOfExamples: every command that a page or a help text gives a dump
// answers with a valid document.
func TestDocumentsOfExamples(t *testing.T) {
	var lines []markdown.Call
	for _, p := range pages(t) {
		for _, b := range p.Blocks() {
			if steps, err := b.Steps(); err == nil && b.IsShell() && b.Marker.Kind == "" {
				for _, s := range steps {
					lines = append(lines, s.Calls...)
				}
			}
		}
	}
	var visit func(c *cobra.Command)
	visit = func(c *cobra.Command) {
		list, err := markdown.Statements("bash", c.Example)
		if err != nil {
			t.Fatal(err)
		}
		for _, s := range list {
			lines = append(lines, s.Calls...)
		}
		for _, sub := range c.Commands() {
			visit(sub)
		}
	}
	visit(tree())
	seen := map[string]int{}
	if _, err := ofLines(); err != nil { // before the paths to them lead elsewhere
		t.Fatal(err)
	}
	t.Chdir(root)
	for _, line := range lines {
		args, ours := line.OfProgram()
		if !ours || needsCluster(line) || !slices.ContainsFunc(args, isExample) {
			continue
		}
		document := answer(t, args, "json")
		if document == nil {
			continue
		}
		kind := valid(t, strict, document)
		seen[kind]++
		linesAre(t, kind, document, answer(t, args, "jsonl"))
		if kind == "Plan" {
			valid(t, strict, answer(t, append(args, "--steps"), "json"))
		}
	}
	for _, kind := range []string{"Plan", "Explanation", "Diagnosis", "Graph", "Risk", "Checkup"} {
		if seen[kind] == 0 {
			t.Errorf("no example answers with a %s; %v", kind, seen)
		}
	}
}

func isExample(arg string) bool {
	return strings.HasPrefix(strings.TrimPrefix(arg, "--from="), "examples/")
}

// linesAre fails unless lines are what the schema says of each, and together the document.
func linesAre(t *testing.T, kind string, document, lines []byte) {
	t.Helper()
	schemas, err := ofLines()
	if err != nil {
		t.Fatal(err)
	}
	gathered := map[string]any{}
	for i, text := range bytes.Split(bytes.TrimSpace(lines), []byte("\n")) {
		fields, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
		if err != nil {
			t.Fatal(err)
		}
		if err := schemas[kind].Validate(fields); err != nil {
			t.Fatalf("line %d of a %s: %v\n%s", i, kind, err, text)
		}
		entry := fields.(map[string]any)
		if i == 0 {
			gathered = entry
			for list := range entry["lists"].(map[string]any) {
				gathered[list] = []any{}
			}
			delete(gathered, "lists")
			continue
		}
		list := entry["list"].(string)
		delete(entry, "list")
		gathered[list] = append(gathered[list].([]any), entry)
	}
	whole, err := jsonschema.UnmarshalJSON(bytes.NewReader(document))
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(whole, any(gathered)); diff != "" {
		t.Errorf("the lines of a %s are another document (-want +got):\n%s", kind, diff)
	}
}

// answer is what a command answers with for a machine; nil for what is none of our
// documents.
func answer(t *testing.T, args []string, format string) []byte {
	t.Helper()
	command, _, err := find(args)
	if err != nil || command.Flag("output") == nil {
		return nil
	}
	var out bytes.Buffer
	streams := genericiooptions.IOStreams{In: strings.NewReader(""), Out: &out, ErrOut: io.Discard}
	code := cli.Main(t.Context(), slices.Concat([]string{"kubectl-gc"}, args, []string{"--output=" + format}), streams)
	// What needs the files that the lines before it make is run by TestCommands alone.
	if code == 1 || format == "json" && !begins.Match(out.Bytes()) {
		return nil
	}
	return out.Bytes()
}

// TestDocumentsOfDrawnWorlds: whatever is in a cluster, and whatever of it was seen,
// documents are valid.
func TestDocumentsOfDrawnWorlds(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		snap := scenario.DrawWorld(t, scenario.Wild).DrawSnapshot(t, 2)
		if len(snap.Objects) == 0 {
			return // there is nothing to ask about
		}
		target := rapid.SampledFrom(snap.Objects).Draw(t, "target").Ref
		policy := rapid.SampledFrom([]engine.Policy{engine.Background, engine.ForegroundPolicy, engine.OrphanPolicy}).Draw(t, "policy")
		document := func(document runtime.Object, err error) {
			t.Helper()
			if err != nil {
				t.Fatal(err)
			}
			raw, err := json.Marshal(document)
			if err != nil {
				t.Fatal(err)
			}
			valid(t, strict, raw)
		}
		for _, seed := range []plan.Seed{plan.DeleteSeed(policy, target), plan.CollectSeed()} {
			r, err := plan.Simulate(t.Context(), snap, seed, plan.Options{Explore: 1, Record: plan.RecordReads})
			if err != nil {
				t.Fatal(err)
			}
			document(r.Plan, nil)
		}
		document(diagnose.Explain(t.Context(), snap, target, diagnose.ExplanationOptions{}))
		document(diagnose.Graph(t.Context(), snap, diagnose.GraphOptions{}))
		document(diagnose.Check(t.Context(), snap, "", nil))
		document(diagnose.Stuck(t.Context(), snap, &health.Evidence{}, diagnose.StuckQuestion{}))
		document(diagnose.Examine(t.Context(), snap, diagnose.CheckupOptions{}))
		document(diagnose.Rank(t.Context(), snap, diagnose.RiskOptions{Top: 3}))
	})
}

// TestRunAndUndo: the documents of what was written, which no dump answers with.
func TestRunAndUndo(t *testing.T) {
	const digest = "sha256:0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"
	ref := object.Ref{APIVersion: "v1", Kind: "ConfigMap", Namespace: "shop", Name: "a", UID: "u"}
	seed := report.Seed{Verb: "delete", Policy: "Background", Targets: []object.Ref{ref}}
	source := report.Source{Type: "cluster", Context: "c", Server: "https://c"}
	documents := []runtime.Object{}
	for _, state := range report.WriteStates() {
		documents = append(documents, &report.Run{
			Header: report.HeaderOf("Run"), Source: source, Seed: seed, Digest: digest, Bundle: "b", State: report.Partial, Message: "m",
			Writes:      []report.RunWrite{{Object: ref, Verb: "DELETE", State: state, Message: "m"}},
			Surprises:   []report.Surprise{{Object: ref, Verb: "DELETE", Message: "m"}},
			Pending:     []report.Pending{{Object: ref, Finalizers: []string{"f"}, Dependents: []object.Ref{ref}}},
			Differences: []report.Difference{{Object: ref, Predicted: report.Deleted, Reason: report.Survived, Message: "m"}},
		})
	}
	for _, state := range []report.StepState{
		report.StepPlanned, report.StepMade, report.StepRestored, report.StepDiffers, report.StepTaken, report.StepRefused, report.StepContended, report.StepUnknown, report.StepSuperseded, report.StepNotDone,
	} {
		documents = append(documents, &report.Undo{
			Header: report.HeaderOf("Undo"), Source: source, Bundle: "b", Journal: "j", SameCluster: report.ProofClusterUID, Digest: digest, State: report.Complete, Message: "m",
			Steps:   []report.UndoStep{{N: 1, Verb: "Create", Object: ref, UID: "v", References: []object.Ref{ref}, Changes: []report.UndoChange{{Field: "f", Reason: "R", Message: "m"}}, Stripped: []string{"s"}, State: state, Message: "m"}},
			Skipped: []report.UndoSkip{},
		})
	}
	for _, document := range documents {
		raw, err := json.Marshal(document)
		if err != nil {
			t.Fatal(err)
		}
		valid(t, strict, raw)
	}
}
