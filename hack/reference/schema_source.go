package main

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"reflect"
	"regexp"
	"strconv"
	"strings"
)

// source is what the comments and constants of packages say of its types.
type source struct {
	// types are the comments of types, with those of their constants.
	types map[string]string
	// fields are the comments of fields, by type and name of the field in Go.
	fields map[string]string
	// constants are the values of a type of text, in their order.
	constants map[string][]string
}

func readSource(directories ...string) (source, error) {
	s := source{map[string]string{}, map[string]string{}, map[string][]string{}}
	var names []string
	for _, d := range directories {
		files, err := filepath.Glob(d + "/*.go")
		if err != nil {
			return s, err
		}
		names = append(names, files...)
	}
	said := map[string][]string{}
	for _, name := range names {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		file, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.ParseComments|parser.SkipObjectResolution)
		if err != nil {
			return s, err
		}
		for _, d := range file.Decls {
			if d, ok := d.(*ast.GenDecl); ok {
				if err := s.read(d, said); err != nil {
					return s, err
				}
			}
		}
	}
	for name, sentences := range said {
		s.types[name] = strings.TrimSpace(s.types[name] + " " + strings.Join(sentences, " "))
	}
	return s, nil
}

// read takes what a declaration says. Said are the sentences about constants, by type.
func (s source) read(d *ast.GenDecl, said map[string][]string) error {
	for _, spec := range d.Specs {
		switch spec := spec.(type) {
		case *ast.TypeSpec:
			s.types[spec.Name.Name] = flat(d.Doc)
			if t, ok := spec.Type.(*ast.StructType); ok {
				s.structure(spec.Name.Name, t)
			}
		case *ast.ValueSpec:
			t, ok := spec.Type.(*ast.Ident)
			if !ok || d.Tok != token.CONST {
				continue
			}
			literal, ok := spec.Values[0].(*ast.BasicLit)
			if !ok {
				return fmt.Errorf("constant %s is no literal", spec.Names[0].Name)
			}
			value, err := strconv.Unquote(literal.Value)
			if err != nil {
				return err
			}
			s.constants[t.Name] = append(s.constants[t.Name], value)
			if sentence, ok := strings.CutPrefix(flat(spec.Doc), spec.Names[0].Name+":"); ok {
				said[t.Name] = append(said[t.Name], value+":"+sentence)
			}
		}
	}
	return nil
}

// structure takes the comments of fields. One comment may speak of the fields below
// it, too. Where it names a field, it is called as in JSON.
func (s source) structure(name string, t *ast.StructType) {
	var words []string
	called := map[string]string{}
	comments := ""
	for _, f := range t.Fields.List {
		if len(f.Names) != 1 || f.Tag == nil {
			continue
		}
		tag, err := strconv.Unquote(f.Tag.Value)
		if err != nil {
			panic("reference: the parser knows a tag that is no text: " + f.Tag.Value)
		}
		called[f.Names[0].Name], _, _ = strings.Cut(reflect.StructTag(tag).Get("json"), ",")
		words = append(words, f.Names[0].Name)
	}
	form := regexp.MustCompile(`\b(` + strings.Join(words, "|") + `)\b`)
	for _, f := range t.Fields.List {
		if len(f.Names) != 1 {
			continue
		}
		own := flat(f.Doc)
		if own != "" {
			comments = own
		}
		if own == "" && regexp.MustCompile(`\b`+f.Names[0].Name+`\b`).MatchString(comments) {
			own = comments
		}
		s.fields[name+"."+f.Names[0].Name] = form.ReplaceAllStringFunc(own, func(word string) string { return called[word] })
	}
}

// flat is a comment on one line.
func flat(c *ast.CommentGroup) string { return strings.Join(strings.Fields(c.Text()), " ") }
