package render

import (
	"slices"
	"strconv"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-gc/kubectl-gc/internal/object"
	"github.com/kubectl-gc/kubectl-gc/internal/reason"
	"github.com/kubectl-gc/kubectl-gc/internal/report"
)

func undoText(t *testing.T, u *report.Undo) string {
	t.Helper()
	var b strings.Builder
	if err := UndoText(&b, Style{Width: 100}, u); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func coreRef(kind, name string) object.Ref {
	return object.Ref{APIVersion: "v1", Kind: kind, Namespace: "shop", Name: name}
}

func lostNothing() *report.Lost {
	return &report.Lost{
		Source: report.Source{Type: "cluster"}, Namespace: "shop", Asked: &report.Moment{Time: "2026-11-24T13:59:31Z"},
		From: report.Moment{Revision: 7, Time: "2026-11-24T13:59:31Z"}, To: report.Moment{Revision: 9, Time: "2026-11-24T14:04:31Z"},
	}
}

// TestNothingToUndo: an undo without losses names the searched namespaces and time span, and
// earlier losses.
func TestNothingToUndo(t *testing.T) {
	never := lostNothing()
	never.Namespace, never.Targets = "", []object.Ref{coreRef("ConfigMap", "never")}
	routine := lostNothing()
	routine.Losses = []report.Loss{{Object: coreRef("Pod", "web"), State: report.LossDeleted, Routine: true}}
	then := report.Act{Action: report.BringBack, Minutes: 10, Target: object.Ref{Namespace: "shop"}}.Remedy("brings it back")
	older := report.OlderLosses{Objects: 1, Last: coreRef("ConfigMap", "old"), At: report.Moment{Time: "2026-11-24T13:58:00Z"}, Then: &then}
	two := older
	two.Objects = 2
	for want, u := range map[string]*report.Undo{
		"undo: nothing to do. Nothing was deleted in namespace shop since 13:59:31 UTC (5m ago).\n": {Lost: lostNothing()},
		"undo: nothing to do. cm/never -n shop was not deleted since 13:59:31 UTC (5m ago).\n":      {Lost: never},
		"undo: nothing to do. Everything deleted in namespace shop since 13:59:31 UTC (5m ago) was deleted by\n" +
			"  controllers of Kubernetes. An undo leaves that to them unless you name one object. Details:\n" +
			"  kubectl gc lost -o wide -n shop.\n": {Lost: routine},
		"undo: nothing to do. Nothing was deleted in namespace shop since 13:59:31 UTC (5m ago).\n" +
			"cm/old in namespace shop was deleted at 13:58:00 UTC (6m31s ago), before that. To bring it back:\n  kubectl gc undo --since=10m -n shop\n": {Lost: lostNothing(), Older: &older},
		"undo: nothing to do. Nothing was deleted in namespace shop since 13:59:31 UTC (5m ago).\n" +
			"2 objects were deleted before that, the last one at 13:58:00 UTC (6m31s ago). To bring them back:\n  kubectl gc undo --since=10m -n shop\n": {Lost: lostNothing(), Older: &two},
	} {
		if got := undoText(t, u); got != want {
			t.Errorf("got\n%swant\n%s", got, want)
		}
	}
}

// TestRestoredSecrets: the number of Secrets with content counts only those that are created.
func TestRestoredSecrets(t *testing.T) {
	u := &report.Undo{Bundle: "/b", Lost: lostNothing()}
	for i, name := range []string{"a", "b", "sh.helm.release.v1.shop.v1"} {
		u.Steps = append(u.Steps, report.UndoStep{N: i + 1, Verb: "Create", Object: coreRef("Secret", name), State: report.StepPlanned})
	}
	u.Steps = append(u.Steps, report.UndoStep{N: 4, Verb: "Restore", Object: coreRef("Secret", "stays"), State: report.StepPlanned})
	u.Skipped = []report.UndoSkip{{Object: coreRef("Secret", "taken"), Reason: string(reason.TakenByAnother)}}
	u.Summary = report.UndoSummary{Planned: 4, Skipped: 1}
	if got := undoText(t, u); !strings.Contains(strings.Join(strings.Fields(got), " "), "It has the content of the 3 Secrets to be restored.") {
		t.Error(got)
	}
}

// TestLeftForAReason: skipped objects that need attention are never hidden, however many others
// controllers recreate.
func TestLeftForAReason(t *testing.T) {
	u := &report.Undo{Bundle: "/b"}
	skip := func(kind, name string, code reason.Code) {
		u.Skipped = append(u.Skipped, report.UndoSkip{Object: coreRef(kind, name), Reason: string(code), Message: reason.UndoSkip.Short(code)})
	}
	for i := range 20 {
		skip("Kind"+strconv.Itoa(i), "routine", reason.ControllerMakesIt)
	}
	for i := range 7 {
		skip("Taken"+strconv.Itoa(i), "important", reason.TakenByAnother)
	}
	skip("ConfigMap", "important", reason.CannotTell)
	skip("Secret", "important", reason.StillTerminating)
	u.Summary.Skipped = len(u.Skipped)
	got := undoText(t, u)
	if n := strings.Count(got, "/important"); n != 9 || strings.Contains(got, "/routine") || !strings.Contains(got, "and 20 more: -o wide") {
		t.Errorf("%d are told:\n%s", n, got)
	}
}

// TestProofOfWhatWasJustSaved: the notes explain the flag that a later undo of the backup needs.
func TestProofOfWhatWasJustSaved(t *testing.T) {
	u := &report.Undo{Bundle: "/b", SameCluster: report.ProofJustSaved}
	if got := undoText(t, u); !strings.Contains(got, "--assume-same-cluster") {
		t.Error(got)
	}
}

// TestUndoOfDeletedTwice: earlier versions of a restored object are not listed as skipped. Only a
// plan mentions that the latest one is restored.
func TestUndoOfDeletedTwice(t *testing.T) {
	u := &report.Undo{
		Lost: &report.Lost{}, Summary: report.UndoSummary{Planned: 1, Skipped: 2},
		Steps: []report.UndoStep{{N: 1, Verb: "Create", Object: coreRef("ConfigMap", "a"), State: report.StepPlanned}},
	}
	for _, uid := range []types.UID{"1", "2"} {
		x := report.UndoSkip{Object: coreRef("ConfigMap", "a"), Reason: string(reason.ListedTwice), Message: "a later version of it is restored"}
		x.Object.UID = uid
		u.Skipped = append(u.Skipped, x)
	}
	want := "1 object would be restored\n\nN   DO       OBJECT   OWNERS   RESULT\n1   create   cm/a              pending\n\ncm/a was deleted more than once: the latest version is restored.\n"
	if got := undoText(t, u); !strings.HasPrefix(got, want) || len(u.Skipped) != 2 || u.Summary.Skipped != 2 {
		t.Errorf("got\n%s", got)
	}
	u.Steps[0].State, u.State = report.StepRefused, report.Partial
	if got := undoText(t, u); strings.Contains(got, "comes back") {
		t.Errorf("it was refused, and\n%s", got)
	}
}

// TestUndoThatLacks: the number of objects that can't be restored comes first.
func TestUndoThatLacks(t *testing.T) {
	u := &report.Undo{
		Lost: lostNothing(), Bundle: "/b/one", Summary: report.UndoSummary{Planned: 1, Skipped: 2, Forgotten: 2, NotRestored: 2},
		Steps:   []report.UndoStep{{N: 1, Verb: "Create", Object: coreRef("ConfigMap", "a"), State: report.StepPlanned}},
		Skipped: []report.UndoSkip{{Object: coreRef("ConfigMap", "b"), Reason: string(reason.Forgotten)}, {Object: coreRef("ConfigMap", "c"), Reason: string(reason.Forgotten)}},
		CutOff:  []object.Ref{{APIVersion: "v1", Kind: "Namespace", Name: "shop"}},
	}
	const cut = "Incomplete: ns/shop was already being deleted when the history begins: what was gone by then is unknown, and not restored."
	for state, want := range map[report.RunState]string{
		"":              "Incomplete: 2 of 3 objects cannot be restored, since the server no longer shows what they held. ",
		report.Complete: "Incomplete: 2 of 3 objects were not restored, since the server no longer shows what they held. ",
	} {
		u.State = state
		if got := strings.Join(strings.Fields(undoText(t, u)), " "); !strings.HasPrefix(got, want+cut) || !u.Incomplete() {
			t.Errorf("got\n%s\nwant\n%s%s", got, want, cut)
		}
	}
}

// TestLimitsOfLists: a kind with known lists is not reported as having a later history.
func TestLimitsOfLists(t *testing.T) {
	l := lostNothing()
	l.Limits = []report.HistoryLimit{
		{Resource: "configmaps", Listed: true, From: report.Moment{Time: "2026-11-24T14:01:00Z"}}, {Resource: "pods", From: report.Moment{Time: "2026-11-24T14:02:00Z"}},
	}
	got := limitTexts(Style{}, indexLosses(l))
	want := []string{
		"the history of 1 kind begins later: pods at 14:02:00.",
		"objects created and deleted within a minute or two are unknown for 1 kind: configmaps before 14:01:00.",
	}
	if !slices.Equal(got, want) {
		t.Errorf("%q", got)
	}
}

// TestCauseAcrossNamespaces: the namespace of the owner is next to its name.
func TestCauseAcrossNamespaces(t *testing.T) {
	by := coreRef("Secret", "quickstart")
	const want = "belonged to an owner in another namespace: secret/quickstart in namespace shop"
	if got := causeText(Style{}, report.LossCause{Code: string(reason.OwnerNamespaceMismatch), By: &by}); got != want {
		t.Errorf("%q, want %q", got, want)
	}
}

// TestUndoDifferences: the number of differing objects comes first, and the differing lines if
// values are shown. Long messages of the server are below their row.
func TestUndoDifferences(t *testing.T) {
	now, saved := "a: 1\nb: 2\nc: 3", "a: 1\nb: 4\nc: 3"
	one := "x"
	u := &report.Undo{
		Bundle: "/b", State: report.Partial, Summary: report.UndoSummary{Planned: 2, Made: 1, Differs: 3, Skipped: 2},
		Steps: []report.UndoStep{
			{N: 1, Verb: "Create", Object: coreRef("ConfigMap", "made"), State: report.StepMade},
			{N: 2, Verb: "Create", Object: coreRef("ConfigMap", "faster"), State: report.StepDiffers, Message: "it was created in the meantime, with other content, by somebody else", Differences: []report.FieldDifference{{Path: "data.a", Saved: &one}}},
			{N: 3, Verb: "Overwrite", Object: coreRef("ConfigMap", "overwritten"), State: report.StepRestored, Differences: []report.FieldDifference{{Path: "data.b", Saved: &one}}},
		},
		Skipped: []report.UndoSkip{
			{Object: coreRef("ConfigMap", "settings"), Reason: string(reason.Differs), Message: "it differs", Differences: []report.FieldDifference{{Path: `data["app.conf"]`, Now: &now, Saved: &saved}}},
			{Object: coreRef("Secret", "key"), Reason: string(reason.Differs), Message: "it differs", Differences: []report.FieldDifference{{Path: "data.key", Hidden: true}}},
		},
	}
	text := undoText(t, u)
	for _, want := range []string{
		"Incomplete: 3 objects exist again and differ from what was saved. To overwrite: --overwrite.\n",
		"undo of b: partly done; 1 made, 3 differ\n",
		"2   create      cm/faster                 differs\n    it was created in the meantime, with other content, by somebody else\n",
		"cm/settings in namespace shop\n  data[\"app.conf\"]:\n  - b: 2\n  + b: 4\n",
		"secret/key in namespace shop: data.key\n",
		"cm/faster in namespace shop\n  data.a:\n  + x\n",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in\n%s", want, text)
		}
	}
	if strings.Contains(text, "data.b") {
		t.Errorf("what was overwritten still differs:\n%s", text)
	}
}

// TestUndoNamesWaitingClaims: each PVC that waits for a volume is named before the steps, with the
// patch that releases the volume.
func TestUndoNamesWaitingClaims(t *testing.T) {
	volume := object.Ref{APIVersion: "v1", Kind: "PersistentVolume", Name: "disk"}
	release := report.Act{Action: report.SendPatch, Target: volume, Patch: `[{"op":"remove","path":"/spec/claimRef/uid"}]`}.Remedy("")
	u := &report.Undo{Bundle: "/b", Summary: report.UndoSummary{Planned: 2}}
	for i, n := range []report.UndoNote{
		{Reason: string(reason.VolumeGone), Message: "its volume does not exist any more", Volume: &volume},
		{Reason: string(reason.VolumeReleased), Message: "its volume still belongs to the PVC that was deleted", Volume: &volume, Release: &release},
	} {
		u.Steps = append(u.Steps, report.UndoStep{N: i + 1, Verb: "Create", Object: coreRef("PersistentVolumeClaim", string('a'+rune(i))), State: report.StepPlanned, Notes: []report.UndoNote{n}})
	}
	text, rest, _ := strings.Cut(undoText(t, u), "\nN   DO")
	want := `undo of b: 2 objects would be restored
pvc/a in namespace shop waits for pv/disk: its volume does not exist any more.
pvc/b in namespace shop waits for pv/disk: its volume still belongs to the PVC that was deleted. To
  release it:
  kubectl patch persistentvolume disk --type=json -p '[{"op":"remove","path":"/spec/claimRef/uid"}]'
`
	if text != want || strings.Contains(rest, "volume") {
		t.Errorf("%s\nand then\n%s", text, rest)
	}
}

// TestBackups: the list shows the content of each backup, its time, and whether it was undone.
func TestBackups(t *testing.T) {
	space := object.Ref{APIVersion: "v1", Kind: "Namespace", Name: "shop"}
	var b strings.Builder
	list := &report.Backups{Backups: []report.Backup{
		{Name: "3", Created: "2026-11-23T22:17:24Z", Command: "delete", Objects: 42, Main: &space, Server: "https://a", Undone: "2026-11-23T22:20:00Z"},
		{Name: "2", Created: "2026-11-22T22:17:24Z", Command: "collect", Objects: 1, Main: &space, Server: "https://a", Undone: "2026-11-22T22:20:00Z", Partly: true},
		{Name: "1", Created: "2026-11-21T22:17:24Z", Command: "delete", Server: "https://a"},
		{Name: "0", Unreadable: "it is damaged"},
	}}
	if err := BackupsText(&b, Style{}, list); err != nil {
		t.Fatal(err)
	}
	want := `NAME   WHEN               COMMAND   WHAT                UNDONE                     CLUSTER
3      2026-11-23 22:17   delete    ns/shop and 41 more   2026-11-23 22:20           https://a
2      2026-11-22 22:17   collect   ns/shop             partly, 2026-11-22 22:20   https://a
1      2026-11-21 22:17   delete    nothing             no                         https://a
0      -                  -         -                   -                          it is damaged
`
	if strings.Join(strings.Fields(b.String()), " ") != strings.Join(strings.Fields(want), " ") {
		t.Errorf("%s", b.String())
	}
}
