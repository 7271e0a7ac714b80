package arch

import (
	"strings"
	"testing"
)

// sample is a file that exists in memory only.
type sample struct{ path, text string }

// rule is one rule of the house. Check reports every violation in a tree; it
// finds at least one in breaks and none in keeps.
type rule struct {
	name   string
	check  func([]source) []string
	breaks []sample
	keeps  []sample
}

var long = "package engine\n" + strings.Repeat("\n", maxLines)

var rules = []rule{
	{
		"import table", importTable,
		[]sample{
			{"internal/apisim/a.go", "package apisim\nimport _ \"" + module + "internal/engine\""},
			{"internal/render/a.go", "package render\nimport _ \"" + module + "internal/plan\""},
			{"internal/graph/a.go", "package graph\nimport _ \"example.com/library\""},
			{"internal/plan/a.go", "package plan\nimport _ \"" + module + "test/scenario\""},
			{"internal/novel/a.go", "package novel"},
		},
		[]sample{
			{"internal/engine/a.go", "package engine\nimport (\n_ \"" + module + "internal/graph\"\n_ \"" + module + "internal/object\"\n_ \"k8s.io/apimachinery/pkg/types\"\n)"},
			{"internal/apisim/a_test.go", "package apisim\nimport _ \"" + module + "test/scenario\""},
		},
	},
	{
		"command imports cli", commandImports,
		[]sample{{"cmd/kubectl-gc/main.go", "package main\nimport _ \"" + module + "internal/plan\""}},
		[]sample{{"cmd/kubectl-gc/main.go", "package main\nimport _ \"" + module + "internal/cli\""}},
	},
	{
		"client-go", clientGo,
		[]sample{
			{"internal/plan/a.go", "package plan\nimport _ \"k8s.io/client-go/rest\""},
			{"internal/plan/a_test.go", "package plan\nimport _ \"k8s.io/client-go/dynamic\""},
			{"cmd/kubectl-gc/main.go", "package main\nimport _ \"k8s.io/client-go/rest\""},
		},
		[]sample{
			{"internal/kube/a.go", "package kube\nimport _ \"k8s.io/client-go/rest\""},
			{"cmd/kubectl-gc/main.go", "package main\nimport _ \"k8s.io/client-go/plugin/pkg/client/auth\""},
		},
	},
	{
		"one account", oneAccount,
		[]sample{
			{"internal/apply/a.go", "package apply\nfunc f(p *report.Plan) int { return len(p.Effects) }"},
			{"internal/apply/a.go", "package apply\nfunc f(e T) bool { return e.AlreadyHappening }"},
			{"internal/cli/writing.go", "package cli\nvar f = plan.EffectOn"},
		},
		[]sample{
			{"internal/apply/a.go", "package apply\nfunc f(p *report.Plan) int { for range p.Account() { }; return 0 }"},
			{"internal/cli/explain.go", "package cli\nfunc f(p *report.Plan) int { return len(p.Effects) }"},
			{"internal/apply/a_test.go", "package apply\nfunc f(e T) bool { return e.AlreadyHappening }"},
		},
	},
	{
		"no goroutine", goStatements,
		[]sample{{"internal/engine/a.go", "package engine\nfunc f() { if true { go f() } }"}},
		[]sample{
			{liveDriver, "package engine\nfunc f() { go f() }"},
			{"internal/kube/a.go", "package kube\nfunc f() { go f() }"},
		},
	},
	{
		"pure imports", pureImports,
		[]sample{
			{"internal/engine/a.go", "package engine\nimport _ \"sync\""},
			{"internal/plan/a.go", "package plan\nimport _ \"time\""},
			{"internal/diagnose/b.go", "package diagnose\nimport _ \"math/rand\""},
			{"internal/render/a.go", "package render\nimport _ \"os\""},
		},
		[]sample{
			{"internal/apisim/a.go", "package apisim\nimport _ \"sync\""},
			{"internal/manifest/a.go", "package manifest\nimport _ \"time\""},
			{"internal/engine/explore.go", "package engine\nimport _ \"math/rand/v2\""},
			{"internal/engine/a_test.go", "package engine\nimport _ \"os\""},
			{"internal/snapshot/a.go", "package snapshot\nimport _ \"os\""},
		},
	},
	{
		"chance is seeded", chance,
		[]sample{
			{"internal/engine/explore.go", "package engine\nimport \"math/rand/v2\"\nvar x = rand.IntN(3)"},
			{"internal/plan/a.go", "package plan\nimport \"math/rand/v2\"\nvar x = rand.IntN(3)"},
			{"internal/engine/explore.go", "package engine\nimport dice \"math/rand\"\nvar x = dice.Intn(3)"},
		},
		[]sample{
			{"internal/engine/explore.go", "package engine\nimport \"math/rand/v2\"\nvar x *rand.Rand"},
			{"internal/plan/a.go", "package plan\nimport \"math/rand/v2\"\nvar x = rand.New(rand.NewPCG(1, 2))"},
		},
	},
	{
		"no clock", clock,
		[]sample{{"internal/manifest/a.go", "package manifest\nimport \"time\"\nvar x = time.Now()"}},
		[]sample{
			{"internal/manifest/a.go", "package manifest\nimport \"time\"\nvar x, _ = time.Parse(time.RFC3339, \"\")"},
			{"internal/cli/a.go", "package cli\nimport \"time\"\nvar x = time.Now()"},
		},
	},
	{
		"no sleeping test", sleeps,
		[]sample{{"internal/cli/a_test.go", "package cli\nimport \"time\"\nfunc f() { time.Sleep(1) }"}},
		[]sample{{"internal/cli/a_test.go", "package cli\nimport \"time\"\nvar x = time.Second"}},
	},
	{
		"no printing", prints,
		[]sample{{"internal/engine/a.go", "package engine\nimport \"fmt\"\nfunc f() { fmt.Println() }"}},
		[]sample{
			{"internal/engine/a.go", "package engine\nimport \"fmt\"\nvar x = fmt.Sprint()"},
			{"internal/cli/a.go", "package cli\nimport \"fmt\"\nfunc f() { fmt.Println() }"},
		},
	},
	{
		"no exit", exits,
		[]sample{{"internal/cli/a.go", "package cli\nimport \"os\"\nfunc f() { os.Exit(1) }"}},
		[]sample{{"cmd/kubectl-gc/main.go", "package main\nimport \"os\"\nfunc main() { os.Exit(1) }"}},
	},
	{
		"numbers stay in comments", numbersPrinted,
		[]sample{
			{"internal/diagnose/a.go", "package diagnose\nvar x = \"this never ends by itself. (Q1)\""},
			{"internal/cli/a.go", "package cli\nvar x = `See §3.18.`"},
			{"cmd/kubectl-gc/main.go", "package main\nvar x = \"S104\""},
		},
		[]sample{
			{"internal/diagnose/a.go", "package diagnose\n// f is Q1.\nvar x = \"SHA256, S3 and U+00A0\""},
			{"internal/diagnose/a_test.go", "package diagnose\nvar x = \"S104\""},
			{"test/faults/a.go", "package faults\nvar x = \"L01\""},
		},
	},
	{
		"words of types", typeWords,
		[]sample{
			{"internal/engine/a.go", "package engine\n// Zorbling is made up.\ntype Zorbling int"},
			{"gctest/a.go", "package gctest\n// Words can be made up.\ntype (\n\t// PodFate is one.\n\tPodFate struct{}\n)"},
		},
		[]sample{
			{"internal/engine/a.go", "package engine\n// OwnerReferences are in the API, in the singular, and an error is one in Go.\ntype OwnerReferencesError int"},
			{"internal/engine/b.go", "package engine\ntype zorbling int"},
			{"internal/engine/a_test.go", "package engine\ntype Zorbling int"},
		},
	},
	{
		"old words", oldWords,
		[]sample{
			{"internal/cli/a.go", "package cli\nvar x = \"kept for ever\""},
		},
		[]sample{
			{"internal/cli/a.go", "package cli\n\n// f keeps it for ever.\nfunc f() string { return \"kept forever\" }"},
			{"internal/cli/a_test.go", "package cli\nvar x = \"kept for ever\""},
		},
	},
	{
		"length", length,
		[]sample{{"internal/engine/a.go", long}, {"internal/engine/a_test.go", long}},
		[]sample{{"internal/engine/a.go", "// Code generated by x. DO NOT EDIT.\n\n" + long}, {"internal/engine/b.go", strings.TrimSuffix(long, "\n")}},
	},
	{
		"naming", naming,
		[]sample{
			{"internal/util/a.go", "package util"},
			{"internal/engine/types.go", "package engine"},
			{"internal/engine/graph_helper.go", "package engine"},
			{"internal/engine/helpers_test.go", "package engine"},
		},
		[]sample{{"internal/engine/queue.go", "package engine"}},
	},
	{
		"nothing unfinished", unfinished,
		[]sample{{"internal/engine/a.go", "package engine\n\n// TODO: more"}, {"internal/engine/b.go", "package engine\n\n/* FIXME */"}},
		[]sample{{"internal/engine/a.go", "package engine\n\n// The word TODO within a sentence is not a mark."}},
	},
	{
		"package comments", packageDocs,
		[]sample{{"internal/engine/a.go", "package engine"}},
		[]sample{{"internal/engine/a.go", "package engine"}, {"internal/engine/doc.go", "// Package engine collects.\npackage engine"}},
	},
	{
		"comments", docs,
		[]sample{
			{"internal/engine/a.go", "package engine\nfunc F() {}"},
			{"internal/engine/b.go", "package engine\ntype T int"},
			{"internal/engine/c.go", "package engine\n// T is one.\ntype T int\nfunc (T) M() {}"},
			{"internal/engine/d.go", "package engine\nconst (\n\tA = 1\n)"},
			{"internal/engine/e.go", "package engine\n// Two types.\ntype (\n\tT int\n\tU int\n)"},
		},
		[]sample{
			{"internal/engine/a.go", "package engine\n// F is one.\nfunc F() {}\nfunc f() {}\ntype t int\nfunc (t) String() string { return \"\" }"},
			{"internal/engine/b.go", "package engine\n// The letters.\nconst (\n\tA = 1\n\tB = 2\n)"},
		},
	},
}

// TestHouse tries every rule on the repository.
func TestHouse(t *testing.T) {
	sources := tree(t)
	if len(sources) == 0 {
		t.Fatal("no Go file found: the rules would hold for an empty tree")
	}
	for _, r := range rules {
		t.Run(r.name, func(t *testing.T) {
			for _, violation := range r.check(sources) {
				t.Error(violation)
			}
		})
	}
}

// TestRulesCanFail tries every rule on sources that break it and on sources
// that keep it.
func TestRulesCanFail(t *testing.T) {
	for _, r := range rules {
		t.Run(r.name, func(t *testing.T) {
			if len(r.breaks) == 0 || len(r.keeps) == 0 {
				t.Fatal("the rule was never seen to fail, or never to hold")
			}
			for _, s := range r.breaks {
				if len(r.check([]source{parse(t, s.path, s.text)})) == 0 {
					t.Errorf("accepted %s: %.120q", s.path, s.text)
				}
			}
			var kept []source
			for _, s := range r.keeps {
				kept = append(kept, parse(t, s.path, s.text))
			}
			for _, violation := range r.check(kept) {
				t.Errorf("refused %s", violation)
			}
		})
	}
}
