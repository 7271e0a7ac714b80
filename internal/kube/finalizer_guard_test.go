package kube

import (
	"fmt"
	"testing"

	"k8s.io/apimachinery/pkg/types"
)

// TestAskedIsBounded: the number of remembered owners is limited.
func TestAskedIsBounded(t *testing.T) {
	p := &finalizerGuard{epoch: 2, asked: map[types.UID]bool{}}
	for i := range 2*maxAsked + 1 {
		uid := types.UID(fmt.Sprint(i))
		if p.again(uid) || !p.again(uid) {
			t.Fatal("the first is to be refused, and the second not")
		}
		if len(p.asked) > maxAsked {
			t.Fatalf("%d are remembered", len(p.asked))
		}
	}
}
