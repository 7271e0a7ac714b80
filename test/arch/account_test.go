package arch

import (
	"go/ast"
	"slices"
)

// readsAccount are the packages, and single files, that guard, ask, count, copy, wait or
// compare: they read the account of a run, and never what becomes of single objects in
// a plan.
var readsAccount = []string{
	"internal/apply", "internal/backup", "internal/controller",
	"internal/cli/writing.go", "internal/cli/writing_confirm.go", "internal/cli/writing_guards.go",
	"internal/cli/collect.go", "internal/cli/delete.go", "internal/cli/remove_finalizer.go",
}

// behindTheAccount are the names of what the account is made of.
var behindTheAccount = []string{"AlreadyHappening", "Effects", "EffectOn"}

// oneAccount reports a second way to answer what a run does.
func oneAccount(sources []source) []string {
	var bad []string
	for _, s := range sources {
		if s.isTest() || !slices.Contains(readsAccount, s.dir()) && !slices.Contains(readsAccount, s.path) {
			continue
		}
		ast.Inspect(s.file, func(n ast.Node) bool {
			if sel, ok := n.(*ast.SelectorExpr); ok && slices.Contains(behindTheAccount, sel.Sel.Name) {
				bad = append(bad, s.at(sel)+": "+sel.Sel.Name+": what a run does is said by the account of the plan (report.Plan.Account) alone")
			}
			return true
		})
	}
	return bad
}
