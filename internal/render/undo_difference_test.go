package render

import (
	"strings"
	"testing"

	"github.com/kubectl-gc/kubectl-gc/internal/reason"
	"github.com/kubectl-gc/kubectl-gc/internal/report"
)

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
		"2   create   cm/faster            differs\n    it was created in the meantime, with other content, by somebody else\n",
		"cm/settings in namespace shop\n  data[\"app.conf\"]:\n  - b: 2\n  + b: 4\n",
		"secret/key in namespace shop: data.key\n",
		"cm/faster in namespace shop\n  data.a:\n  + x\n",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in\n%s", want, text)
		}
	}
}

// TestUndoNamesWaitingClaims: each PVC that waits for a volume is named before the steps, with the
// patch that releases the volume.
func TestUndoNamesWaitingClaims(t *testing.T) {
	volume := report.Ref{APIVersion: "v1", Kind: "PersistentVolume", Name: "disk"}
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
	space := report.Ref{APIVersion: "v1", Kind: "Namespace", Name: "shop"}
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
