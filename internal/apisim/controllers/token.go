package controllers

import (
	"context"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-gc/kubectl-gc/internal/object"
)

// TokensName names the controller that deletes the tokens of ServiceAccounts.
const TokensName = "serviceaccount-token-controller"

// TokensAssumption must hold for the deletion of a token.
const TokensAssumption = "the tokens controller runs, as it does unless it is switched off"

// Tokens returns the controller that deletes the token Secrets of deleted ServiceAccounts: none has
// the name in the Secret's annotation, or only one with another UID. An account that is being
// deleted counts until it is gone. Owner references don't matter.
//
// A Secret stays while it is unknown whether it is a token or whether its account is gone: the
// accounts of the namespace are not covered, or the account of that name has another UID but is
// older than the Secret, so that the two were read at different times.
//
// The controller's writes to tokens are left out, and so is the removal of a deleted token from its
// account's list. Neither causes or prevents a deletion, and a plan derives the latter.
//
// Upstream: pkg/controller/serviceaccount/tokens_controller.go syncServiceAccount, syncSecret.
// Rule: spec §7.1, S246–S248.
func Tokens(c Coverage) Controller {
	return &tokens{
		identity: identity{name: TokensName, assumption: TokensAssumption},
		coverage: c,
		seen:     map[types.UID]bool{},
	}
}

type tokens struct {
	identity

	coverage Coverage
	// seen are the tokens that had their account in an earlier pass.
	seen map[types.UID]bool
}

// Step deletes the tokens of deleted accounts.
func (t *tokens) Step(ctx context.Context, w World, send Send) (bool, error) {
	p := t.begin(ctx, w, send)
	list := objectsThat(w, object.Secret.GroupResource(), func(o *object.Object) bool { return o.Token() != nil && !o.BeingDeleted() })
	if len(list) == 0 {
		return p.end()
	}
	accounts := map[coordinates]*object.Object{}
	for _, o := range w.ObjectsOf(object.ServiceAccount.GroupResource(), "") {
		accounts[coordinates{o.Namespace, o.Name}] = o
	}
	for _, o := range list {
		if ctx.Err() != nil {
			break
		}
		if account := accounts[coordinates{o.Namespace, o.Token().Account}]; t.gone(p, o, account) {
			t.delete(p, o)
		}
	}
	return p.end()
}

// gone reports whether the account of a token is known to be gone, and records a wait if that is
// unknown. account is the one of that name, or nil.
func (t *tokens) gone(p *pass, token, account *object.Object) bool {
	of := token.Token()
	owner, _ := token.ImplicitOwner()
	switch {
	case account != nil && of.Of(account.Name, account.UID):
		t.seen[token.UID] = true
		return false
	case t.seen[token.UID]:
		return true
	case account == nil:
		return !p.unseen(t.coverage, token.Ref, object.ServiceAccount, owner.Ref(), token.Created)
	case account.Created != 0 && account.Created == token.Created:
		return !p.unseen(t.coverage, token.Ref, object.ServiceAccount, owner.Ref(), token.Created)
	case account.Created != 0 && account.Created < token.Created:
		p.wait(Wait{Object: token.Ref, Reason: NotShown, Resource: object.ServiceAccount.Resource(), Why: "does not show its account: the account of that name has another uid and is older"})
		return false
	default:
		return true
	}
}

// delete deletes a Secret if it is known to be a token.
func (t *tokens) delete(p *pass, token *object.Object) {
	if !token.Token().Sure {
		p.wait(Wait{Object: token.Ref, Reason: NotShown, Why: "its type, which says whether it is a token, is not in the snapshot"})
		return
	}
	err := p.delete(token, metav1.DeleteOptions{Preconditions: &metav1.Preconditions{UID: &token.UID}})
	p.refused(token.Ref, object.Resource{}, err)
}
