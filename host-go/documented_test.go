package apportion

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"slices"
	"testing"
)

func TestEveryExportedNameSaysWhatItIs(t *testing.T) {
	files := token.NewFileSet()
	check := func(at token.Pos, name string, docs ...*ast.CommentGroup) {
		isSaid := slices.ContainsFunc(docs, func(doc *ast.CommentGroup) bool { return doc != nil })
		if ast.IsExported(name) && !isSaid {
			t.Errorf("%s: %s has no comment", files.Position(at), name)
		}
	}
	for _, folder := range []string{".", "structured"} {
		paths, err := filepath.Glob(filepath.Join(folder, "*.go"))
		if err != nil || len(paths) == 0 {
			t.Fatal(paths, err)
		}
		for _, path := range paths {
			if isTest, _ := filepath.Match("*_test.go", filepath.Base(path)); isTest {
				continue
			}
			file, err := parser.ParseFile(files, path, nil, parser.ParseComments)
			if err != nil {
				t.Fatal(err)
			}
			ast.Inspect(file, func(node ast.Node) bool {
				switch node := node.(type) {
				case *ast.FuncDecl:
					isMethodOfInterface := node.Recv != nil && slices.Contains([]string{"Error", "Unwrap"}, node.Name.Name)
					if !isMethodOfInterface {
						check(node.Pos(), node.Name.Name, node.Doc)
					}
					return false
				case *ast.TypeSpec:
					return node.Name.IsExported()
				case *ast.GenDecl:
					for _, spec := range node.Specs {
						switch spec := spec.(type) {
						case *ast.TypeSpec:
							check(spec.Pos(), spec.Name.Name, node.Doc, spec.Doc)
						case *ast.ValueSpec:
							check(spec.Pos(), spec.Names[0].Name, node.Doc, spec.Doc)
						}
					}
				case *ast.StructType:
					for _, field := range node.Fields.List {
						for _, name := range field.Names {
							check(field.Pos(), name.Name, field.Doc, field.Comment)
						}
					}
				}
				return true
			})
		}
	}
}
