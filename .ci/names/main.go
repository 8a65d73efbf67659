// Command names counts function names of one word, which a reader often has to look up, over the product code of the
// module: `go run ./.ci/names`. It prints and refuses nothing; a name is never padded to please it. With -list it names
// them.
package main

import (
	"flag"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"unicode"
)

// count is how many functions a folder declares, and how many of them have a name of one word.
type count struct{ oneWord, all int }

func main() {
	list := flag.Bool("list", false, "name the functions of one word")
	flag.Parse()
	counts := map[string]count{}
	err := filepath.WalkDir(".", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") ||
			path[0] == '.' {
			return err
		}
		return countFile(path, counts, *list)
	})
	if err != nil {
		fmt.Fprintln(os.Stderr, "count names:", err)
		os.Exit(1)
	}
	printTable(counts)
}

// countFile adds the functions of a file to the count of its folder.
func countFile(path string, counts map[string]count, list bool) error {
	file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.SkipObjectResolution)
	if err != nil {
		return fmt.Errorf("parse %s: %w", path, err)
	}
	folder := topFolders(path)
	c := counts[folder]
	for _, d := range file.Decls {
		f, ok := d.(*ast.FuncDecl)
		if !ok {
			continue
		}
		c.all++
		if isOneWord(f.Name.Name) {
			c.oneWord++
			if list {
				fmt.Println(path, f.Name.Name)
			}
		}
	}
	counts[folder] = c
	return nil
}

// topFolders returns the first two folders of a path: "shared/engine".
func topFolders(path string) string {
	parts := strings.Split(filepath.ToSlash(filepath.Dir(path)), "/")
	return strings.Join(parts[:min(2, len(parts))], "/")
}

// isOneWord reports whether no second word begins in a name: "Get" and "mount", not "GetItem" nor "get_item".
func isOneWord(name string) bool {
	return !strings.ContainsFunc(name[1:], func(r rune) bool { return unicode.IsUpper(r) || r == '_' })
}

func printTable(counts map[string]count) {
	var total count
	folders := make([]string, 0, len(counts))
	for f, c := range counts {
		folders = append(folders, f)
		total.oneWord, total.all = total.oneWord+c.oneWord, total.all+c.all
	}
	slices.Sort(folders)
	for _, f := range append(folders, "all") {
		c, ok := counts[f]
		if !ok {
			c = total
		}
		fmt.Printf("%-28s %5d of %5d functions have a name of one word (%2.0f %%)\n", f, c.oneWord, c.all,
			100*float64(c.oneWord)/float64(c.all))
	}
}
