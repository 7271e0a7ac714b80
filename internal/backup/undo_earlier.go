package backup

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-gc/kubectl-gc/internal/backup/undo"
	"github.com/kubectl-gc/kubectl-gc/internal/kube"
	"github.com/kubectl-gc/kubectl-gc/internal/object"
)

const (
	// journals is the directory in a backup that holds the journals of its undos.
	journals = "undo"
	// Annotation is set on every object that an undo creates.
	Annotation = undo.Annotation
	// madeAs is the start of the message of a result that confirms a creation.
	madeAs = "made with uid "
	// thereAs is the start of the message if the creation was not needed, because the object
	// existed already.
	thereAs = "there with uid "
)

// createdEarlier returns the UIDs of objects that earlier undos of the backup created, by their old
// UIDs. If a journal has no answer to a creation, the annotation of the object decides.
func createdEarlier(ctx context.Context, client *kube.Client, path string, memory Memory) (map[types.UID]types.UID, error) {
	earlier, err := undosOf(path, memory)
	if err != nil || len(earlier) == 0 {
		return nil, err
	}
	again := map[types.UID]types.UID{}
	for _, b := range earlier { // the last creation wins
		if err := readEarlierJournal(ctx, client, b, again); err != nil {
			return nil, err
		}
	}
	return again, nil
}

// undosOf returns the undo journals of a backup, the earliest first and without the bodies of their
// requests. Undos that were never sealed sent nothing and are left out.
func undosOf(path string, memory Memory) ([]*Backup, error) {
	at := filepath.Join(path, journals)
	info, err := os.Lstat(at)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, nil
	case err != nil:
		return nil, err
	case !info.IsDir():
		return nil, fmt.Errorf("%s is not a directory of the backup: what earlier undos created is unknown", at)
	}
	dirs, err := os.ReadDir(at)
	if err != nil {
		return nil, err
	}
	var earlier []*Backup
	for _, d := range dirs {
		b, err := Open(filepath.Join(at, d.Name()), memory)
		if errors.Is(err, ErrUnsealed) {
			continue // it sent no request
		} else if err != nil {
			return nil, fmt.Errorf("the journal of an earlier undo: %w", err)
		}
		if err := b.Close(); err != nil {
			return nil, err
		}
		for i := range b.Journal {
			b.Journal[i].Intent.Body = nil // whole objects, which are not needed here
		}
		earlier = append(earlier, b)
	}
	slices.SortStableFunc(earlier, func(a, b *Backup) int { return a.Head.Created.Compare(b.Head.Created) })
	return earlier, nil
}

// readEarlierJournal adds the creations of one earlier undo to again.
func readEarlierJournal(ctx context.Context, client *kube.Client, b *Backup, again map[types.UID]types.UID) error {
	intents := map[int]object.Ref{}
	for i := range b.Journal {
		switch r := &b.Journal[i]; r.Kind {
		case Intended:
			if r.Intent.Verb == http.MethodPost {
				intents[r.Seq] = r.Intent.Object
			}
		case Answered:
			ref, post := intents[r.Of]
			if uid, ok := uidIn(r.Result.Message); ok && post && r.Result.Outcome == Confirmed {
				again[ref.UID] = uid
			}
		case Sealed, Saved, Ended:
		}
	}
	for _, r := range b.Unanswered() {
		if r.Intent.Verb != http.MethodPost {
			continue
		}
		uid, err := findRestored(ctx, client, r.Intent.Object)
		if err != nil {
			return fmt.Errorf("checking whether an earlier undo has created %s: %w", r.Intent.Object, err)
		}
		if uid != "" {
			again[r.Intent.Object.UID] = uid
		}
	}
	return nil
}

// uidIn returns the UID in the message of a result that confirms a creation.
func uidIn(message string) (types.UID, bool) {
	for _, before := range []string{madeAs, thereAs} {
		if uid, ok := strings.CutPrefix(message, before); ok {
			return types.UID(uid), true
		}
	}
	return "", false
}

// findRestored returns the UID of the object at the coordinates if an undo created it to replace
// the one with ref.UID; empty if not.
func findRestored(ctx context.Context, client *kube.Client, ref object.Ref) (types.UID, error) {
	raw, o, err := client.Raw(ctx, ref)
	if apierrors.IsNotFound(err) {
		return "", nil
	} else if err != nil {
		return "", err
	}
	var body struct {
		Metadata struct {
			Annotations map[string]string `json:"annotations"`
		} `json:"metadata"`
	}
	if err := json.Unmarshal(raw, &body); err != nil {
		return "", err
	}
	if body.Metadata.Annotations[Annotation] != string(ref.UID) {
		return "", nil
	}
	return o.UID, nil
}
