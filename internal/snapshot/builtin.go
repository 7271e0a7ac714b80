package snapshot

import (
	_ "embed"
	"strings"
	"sync"

	"github.com/kubectl-gc/kubectl-gc/internal/object"
)

//go:embed builtin.txt
var builtinTable string

// BuiltinResources returns the resources that the API server of Kubernetes 1.37 offers by default,
// without custom resources. It is the fallback for dumps without discovery documents.
// (spec §11.2, U2)
func BuiltinResources() *object.Resources {
	rs := &object.Resources{}
	for line := range strings.Lines(builtinTable) {
		f := strings.Fields(line)
		if len(f) != 7 || strings.HasPrefix(line, "#") {
			continue
		}
		verbs := object.AllVerbs
		if f[4] != "*" {
			verbs = object.VerbsOf(commaList(f[4]))
		}
		group, version := object.SplitAPIVersion(f[0])
		rs.Add(object.Resource{
			Group: group, Version: version, Name: f[1], Kind: f[2], Singular: strings.ToLower(f[2]),
			Namespaced: f[3] == "namespaced", Verbs: verbs,
			ShortNames: commaList(f[5]), Categories: commaList(f[6]),
		})
	}
	return rs
}

// builtinResources returns the shared BuiltinResources, which must not be changed.
var builtinResources = sync.OnceValue(BuiltinResources)

func commaList(s string) []string {
	if s == "-" {
		return nil
	}
	return strings.Split(s, ",")
}
