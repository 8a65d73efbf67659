// Command googlesql analyses queries with GoogleSQL, the parser and the type checker that BigQuery has. It reads tables
// and queries as JSON from standard input, and writes what it finds as JSON. It is a module of its own, because it
// takes minutes to compile.
package main

import (
	"encoding/json"
	"fmt"
	"os"

	"github.com/goccy/go-googlesql"
)

type column struct {
	Name   string   `json:"name"`
	Type   string   `json:"type"`
	Mode   string   `json:"mode"`
	Fields []column `json:"fields"`
}

type request struct {
	Table   string   `json:"table"` // the name that the queries have for it
	Columns []column `json:"columns"`
	Queries []string `json:"queries"`
}

// result is the analysis of a query: an error, or the types of its columns by their names.
type result struct {
	Error   string            `json:"error"`
	Columns map[string]string `json:"columns"`
	Tree    string            `json:"tree"` // with literals folded
}

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run() error {
	var in []request
	if err := json.NewDecoder(os.Stdin).Decode(&in); err != nil {
		return err
	}
	if err := googlesql.Init(); err != nil {
		return err
	}
	out := [][]result{}
	for _, r := range in {
		a, err := newAnalyzer(r)
		if err != nil {
			return err
		}
		results := []result{}
		for _, sql := range r.Queries {
			results = append(results, a.analyse(sql))
		}
		out = append(out, results)
	}
	return json.NewEncoder(os.Stdout).Encode(out)
}

type analyzer struct {
	catalog *googlesql.SimpleCatalog
	options *googlesql.AnalyzerOptions
	types   *googlesql.TypeFactory
}

func newAnalyzer(r request) (*analyzer, error) {
	language, err := newLanguage()
	if err != nil {
		return nil, err
	}
	a := &analyzer{}
	if a.catalog, err = googlesql.NewSimpleCatalog("bigquery", nil); err != nil {
		return nil, err
	}
	err = a.catalog.AddBuiltinFunctionsAndTypes(&googlesql.BuiltinFunctionOptions{LanguageOptions: language})
	if err != nil {
		return nil, err
	}
	if a.options, err = googlesql.NewAnalyzerOptions2(); err != nil {
		return nil, err
	}
	if err = a.options.SetLanguage(language); err != nil {
		return nil, err
	}
	if err = a.options.SetFoldLiteralCast(true); err != nil {
		return nil, err
	}
	if a.types, err = googlesql.NewTypeFactory(); err != nil {
		return nil, err
	}
	return a, a.addTable(r)
}

// newLanguage returns the released features of the language in the mode of products for customers, in which there is no
// FLOAT32 and no INT32.
func newLanguage() (*googlesql.LanguageOptions, error) {
	language, err := googlesql.NewLanguageOptions()
	if err != nil {
		return nil, err
	}
	if err = language.EnableMaximumLanguageFeatures(); err != nil {
		return nil, err
	}
	return language, language.SetProductMode(googlesql.ProductModeProductExternal)
}

func (a *analyzer) addTable(r request) error {
	table, err := googlesql.NewSimpleTable(r.Table, 0)
	if err != nil {
		return err
	}
	for _, c := range r.Columns {
		of, err := a.typeOf(c)
		if err != nil {
			return err
		}
		pseudo := c.Name == "_PARTITIONTIME"
		added, err := googlesql.NewSimpleColumn(r.Table, c.Name, of, pseudo, !pseudo)
		if err != nil {
			return err
		}
		if err := table.AddColumn2(added, false); err != nil {
			return err
		}
	}
	return a.catalog.AddTable(table)
}

var kinds = map[string]googlesql.TypeKind{
	"STRING": googlesql.TypeKindTypeString, "FLOAT": googlesql.TypeKindTypeDouble,
	"FLOAT64": googlesql.TypeKindTypeDouble, "NUMERIC": googlesql.TypeKindTypeNumeric,
	"TIMESTAMP": googlesql.TypeKindTypeTimestamp, "BOOLEAN": googlesql.TypeKindTypeBool,
	"DATE": googlesql.TypeKindTypeDate, "INTEGER": googlesql.TypeKindTypeInt64,
}

func (a *analyzer) typeOf(c column) (googlesql.Googlesql_TypeNode, error) {
	one, err := a.elementOf(c)
	if err != nil || c.Mode != "REPEATED" {
		return one, err
	}
	return a.types.MakeArrayType2(one)
}

// elementOf returns the type of a column, or of the elements of a repeated one.
func (a *analyzer) elementOf(c column) (googlesql.Googlesql_TypeNode, error) {
	if c.Type != "RECORD" {
		kind, known := kinds[c.Type]
		if !known {
			return nil, fmt.Errorf("column %s: %q is no type that is known here", c.Name, c.Type)
		}
		return a.types.MakeSimpleType(kind)
	}
	var fields []*googlesql.StructField
	for _, f := range c.Fields {
		of, err := a.typeOf(f)
		if err != nil {
			return nil, err
		}
		fields = append(fields, &googlesql.StructField{Name: f.Name, Type_: of})
	}
	return a.types.MakeStructType2(fields)
}

func (a *analyzer) analyse(sql string) result {
	out, err := googlesql.AnalyzeStatement(sql, a.options, a.catalog, a.types)
	if err != nil {
		return result{Error: err.Error()}
	}
	statement, err := out.ResolvedStatement()
	if err != nil {
		return result{Error: err.Error()}
	}
	query, ok := statement.(*googlesql.ResolvedQueryStmt)
	if !ok {
		return result{Error: fmt.Sprintf("a %T, not a query", statement)}
	}
	r := result{Columns: map[string]string{}}
	if r.Tree, err = query.DebugString(); err == nil {
		err = addColumns(r.Columns, query)
	}
	if err != nil {
		return result{Error: err.Error()}
	}
	return r
}

// addColumns adds the types of the query's columns.
func addColumns(to map[string]string, query *googlesql.ResolvedQueryStmt) error {
	size, err := query.OutputColumnListSize()
	for i := int32(0); i < size && err == nil; i++ {
		var c *googlesql.ResolvedOutputColumn
		if c, err = query.OutputColumnList2(i); err == nil {
			err = addColumn(to, c)
		}
	}
	return err
}

func addColumn(to map[string]string, c *googlesql.ResolvedOutputColumn) error {
	name, err := c.Name()
	if err != nil {
		return err
	}
	resolved, err := c.Column()
	if err != nil {
		return err
	}
	of, err := resolved.Type()
	if err != nil {
		return err
	}
	to[name], err = of.DebugString(false)
	return err
}
