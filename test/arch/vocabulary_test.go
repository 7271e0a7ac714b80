package arch

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"
	"unicode"
)

// conventional are the words of Kubernetes' API conventions, of Go's standard library and of
// documents that have no type or field in Kubernetes' API.
var conventional = []string{
	// Kubernetes.
	"audited", "collection", "CRD", "drain", "forbidden", "listed", "listing", "minor", "pending", "reservation", "unreachable", "workload", "write",
	// Go: what a package of the standard library has a type for, or almost.
	"builder", "clock", "compression", "cursor", "debug", "decoder", "edge", "envelope", "error", "exchange", "flag", "input", "interner",
	"listener", "lookup", "memory", "point", "position", "reader", "record", "rect", "save", "saved", "sender", "stored", "syntax", "T", "text", "tree",
	"visit", "work", "writer",
	// Documents.
	"box", "choice", "comparison", "content", "difference", "direction", "document", "drawing", "head", "labelled", "later", "meaning", "measured",
	"measurement", "older", "one", "page", "planned", "printed", "question", "sent", "severity", "style", "summary",
	// What an error says.
	"damage", "dropped", "impossible", "refused", "repeated", "sealed", "stripped", "unexpected", "unread", "unserved",
}

// unnamed are types without a good name yet. Rename one, and delete its line.
var unnamed = map[string]bool{
	"apisim/controllers.Looker": true, "apisim/controllers.Outlook": true, "apisim/controllers.Standing": true,
	"backup.Living": true, "backup.Why": true,
	"draw.Look": true, "health.Conditioned": true, "health.Lateness": true, "health.Openness": true, "health.Shown": true,
	"kube.Feed": true, "kube.Place": true, "kube.Present": true, "plan.Keeper": true,
	"plan/outcome.Word": true, "plan/outcome.Words": true,
	"snapshot/etcd.Place": true,
}

// vocabulary are the words that names of types are made of, in lower case and the singular.
type vocabulary map[string]bool

func (v vocabulary) add(words ...string) {
	for _, w := range words {
		v[singular(strings.ToLower(w))] = true
	}
}

// unknown returns the words of a name that the vocabulary lacks.
func (v vocabulary) unknown(name string) (lacks []string) {
	for _, w := range wordsOf(name) {
		if !v[singular(strings.ToLower(w))] {
			lacks = append(lacks, w)
		}
	}
	return lacks
}

// wordsOf splits a name at its capital letters: PVCFacts has PVC and Facts.
func wordsOf(name string) (words []string) {
	letter, start := []rune(name), 0
	for i := 1; i < len(letter); i++ {
		ends := unicode.IsUpper(letter[i-1]) && i+1 < len(letter) && unicode.IsLower(letter[i+1])
		if unicode.IsUpper(letter[i]) && (ends || !unicode.IsUpper(letter[i-1])) {
			words = append(words, string(letter[start:i]))
			start = i
		}
	}
	return append(words, string(letter[start:]))
}

func singular(w string) string {
	switch {
	case strings.HasSuffix(w, "ss") || strings.HasSuffix(w, "is"):
		return w
	case strings.HasSuffix(w, "ies"):
		return strings.TrimSuffix(w, "ies") + "y"
	case strings.HasSuffix(w, "sses"), strings.HasSuffix(w, "xes"), strings.HasSuffix(w, "ches"):
		return strings.TrimSuffix(w, "es")
	default:
		return strings.TrimSuffix(w, "s")
	}
}

// section returns the part of a page under a heading of the second level.
func section(page, heading string) string {
	_, text, _ := strings.Cut(page, "\n## "+heading+"\n")
	text, _, _ = strings.Cut(text, "\n## ")
	return text
}

// cells returns the cells of the tables in a text, without heads.
func cells(text string) [][]string {
	var rows [][]string
	head := true
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		switch {
		case !strings.HasPrefix(line, "|"):
			head = true
		case strings.HasPrefix(line, "|--"):
			head = false
		case !head:
			rows = append(rows, strings.Split(strings.Trim(line, "| "), " | "))
		}
	}
	return rows
}

var (
	letters = regexp.MustCompile(`[A-Za-z]+`)
	// userTerm is a heading, or what a page prints in bold, in italics or as code.
	userTerm = regexp.MustCompile("(?m)^#+ .*$|\\*[^*\n]+\\*|`[^`\n]+`")
	code     = regexp.MustCompile("`([^`]+)`")
)

// words returns the vocabulary: terms of the glossary, names of packages, terms of the users' page,
// names of types and fields in the API of Kubernetes, and what is conventional.
var words = sync.OnceValues(func() (vocabulary, error) {
	v := vocabulary{}
	v.add(conventional...)
	design, err := os.ReadFile("../../docs/design.md")
	if err != nil {
		return nil, err
	}
	for _, heading := range []string{"Words of the code", "The packages"} {
		for _, row := range cells(section(string(design), heading)) {
			v.add(letters.FindAllString(row[0], -1)...)
		}
	}
	concepts, err := os.ReadFile("../../docs/concepts.md")
	if err != nil {
		return nil, err
	}
	for _, term := range userTerm.FindAllString(string(concepts), -1) {
		for _, w := range letters.FindAllString(term, -1) {
			v.add(wordsOf(w)...)
		}
	}
	return v, addAPI(v)
})

// addAPI adds the names of types and fields in the stable versions of Kubernetes' API.
func addAPI(v vocabulary) error {
	out, err := exec.Command("go", "list", "-m", "-f", "{{.Dir}}", "k8s.io/api", "k8s.io/apimachinery").Output()
	if err != nil {
		return fmt.Errorf("go list: %w", err)
	}
	dirs := strings.Fields(string(out))
	if len(dirs) != 2 {
		return fmt.Errorf("the modules of the API are not in the cache: %q", dirs)
	}
	files, read := token.NewFileSet(), 0
	for _, pattern := range []string{dirs[0] + "/*/v1/types.go", dirs[1] + "/pkg/apis/meta/v1/types.go", dirs[1] + "/pkg/types/*.go"} {
		matches, err := filepath.Glob(pattern)
		if err != nil {
			return err
		}
		for _, name := range matches {
			file, err := parser.ParseFile(files, name, nil, parser.SkipObjectResolution)
			if err != nil {
				return err
			}
			read++
			eachType(file, func(spec *ast.TypeSpec) {
				v.add(wordsOf(spec.Name.Name)...)
				if s, ok := spec.Type.(*ast.StructType); ok {
					for _, f := range s.Fields.List {
						for _, name := range f.Names {
							v.add(wordsOf(name.Name)...)
						}
					}
				}
			})
		}
	}
	if read < 15 {
		return fmt.Errorf("the API of Kubernetes has %d files", read)
	}
	return nil
}

func eachType(file *ast.File, yield func(*ast.TypeSpec)) {
	for _, d := range file.Decls {
		if d, ok := d.(*ast.GenDecl); ok {
			for _, spec := range d.Specs {
				if spec, ok := spec.(*ast.TypeSpec); ok {
					yield(spec)
				}
			}
		}
	}
}

// typeWords reports exported types with a word that is in none of the vocabularies.
func typeWords(sources []source) []string {
	v, err := words()
	if err != nil {
		return []string{err.Error()}
	}
	var bad []string
	eachUnknownType(sources, v, func(s source, spec *ast.TypeSpec, name string) {
		if !unnamed[name] {
			bad = append(bad, fmt.Sprintf("%s: type %s: %s is in no glossary: rename the type, or add a row to docs/design.md",
				s.at(spec), spec.Name.Name, strings.Join(v.unknown(spec.Name.Name), ", ")))
		}
	})
	return bad
}

// eachUnknownType calls yield with each exported type that has a word which the vocabulary lacks, and
// its name as in unnamed.
func eachUnknownType(sources []source, v vocabulary, yield func(s source, spec *ast.TypeSpec, name string)) {
	for _, s := range sources {
		if s.isTest() || !s.in("internal") && !s.in("gctest") {
			continue
		}
		eachType(s.file, func(spec *ast.TypeSpec) {
			if spec.Name.IsExported() && len(v.unknown(spec.Name.Name)) > 0 {
				yield(s, spec, strings.TrimPrefix(s.dir(), "internal/")+"."+spec.Name.Name)
			}
		})
	}
}

// TestUnnamed checks that every type of unnamed still exists and has no good name.
func TestUnnamed(t *testing.T) {
	v, err := words()
	if err != nil {
		t.Fatal(err)
	}
	have := map[string]bool{}
	eachUnknownType(treeOf(t, []string{"internal", "gctest"}), v, func(_ source, _ *ast.TypeSpec, name string) { have[name] = true })
	for name := range unnamed {
		if !have[name] {
			t.Errorf("%s has been renamed or is in the glossary: delete its line", name)
		}
	}
}

// declared are the names of types, functions and methods: engine.Drain, reach.Map.Part.
func declared(sources []source) map[string]bool {
	names := map[string]bool{}
	for _, s := range sources {
		if s.isTest() {
			continue
		}
		eachType(s.file, func(spec *ast.TypeSpec) { names[s.file.Name.Name+"."+spec.Name.Name] = true })
		for _, d := range s.file.Decls {
			if f, ok := d.(*ast.FuncDecl); ok {
				names[s.file.Name.Name+"."+receiver(f)+f.Name.Name] = true
			}
		}
	}
	return names
}

// receiver is the type of a method and a dot.
func receiver(f *ast.FuncDecl) string {
	if f.Recv == nil {
		return ""
	}
	for t := f.Recv.List[0].Type; ; {
		switch x := t.(type) {
		case *ast.StarExpr:
			t = x.X
		case *ast.IndexExpr:
			t = x.X
		case *ast.IndexListExpr:
			t = x.X
		case *ast.Ident:
			return x.Name + "."
		default:
			return ""
		}
	}
}

// strayTerms reports terms of the glossary without a type or function that exists.
func strayTerms(glossary string, have map[string]bool) []string {
	var bad []string
	for _, row := range cells(glossary) {
		var named [][]string
		if len(row) == 3 {
			named = code.FindAllStringSubmatch(row[2], -1)
		}
		if len(named) == 0 {
			bad = append(bad, row[0]+" names no type")
		}
		for _, n := range named {
			if !have[n[1]] {
				bad = append(bad, row[0]+": there is no "+n[1])
			}
		}
	}
	return bad
}

func TestGlossary(t *testing.T) {
	design, err := os.ReadFile("../../docs/design.md")
	if err != nil {
		t.Fatal(err)
	}
	have := declared(treeOf(t, []string{"internal", "gctest"}))
	glossary := section(string(design), "Words of the code")
	for _, problem := range strayTerms(glossary, have) {
		t.Errorf("docs/design.md, words of the code: %s", problem)
	}
	if n := len(cells(glossary)); n < 20 {
		t.Errorf("the glossary has %d rows", n)
	}
	for _, row := range []string{"| a | b | `plan.Zorbling` |", "| a | b | plan |"} {
		if len(strayTerms("|---|\n"+row, have)) != 1 {
			t.Errorf("accepted %s", row)
		}
	}
}

func TestWordsOf(t *testing.T) {
	for name, want := range map[string]string{
		"PVCFacts": "PVC Facts", "ServiceCIDRFacts": "Service CIDR Facts", "IPAddressFacts": "IP Address Facts", "GC": "GC", "T": "T",
		"Owner": "Owner", "collectorState": "collector State", "ID": "ID",
	} {
		if got := strings.Join(wordsOf(name), " "); got != want {
			t.Errorf("%s: %s, want %s", name, got, want)
		}
	}
	for plural, want := range map[string]string{"policies": "policy", "classes": "class", "boxes": "box", "owners": "owner", "progress": "progress", "diagnosis": "diagnosis"} {
		if got := singular(plural); got != want {
			t.Errorf("%s: %s, want %s", plural, got, want)
		}
	}
}
