package condition

import (
	"fmt"
	"slices"

	"cel.dev/cel-go/common/ast"
	"cel.dev/cel-go/common/operators"
	"cel.dev/cel-go/common/types"

	"lamplighter.dev/shared/domain/rule"
)

// walk visits a parsed condition before its types are checked. It refuses unknown names, and rewrites what differs
// from plain CEL: whole numbers become doubles, and has(m.x) becomes a value that may be unknown.
type walk struct {
	*Condition
	tree   *ast.AST
	make   ast.ExprFactory
	groups map[string]*layout
	local  []string        // variables of the loops around the present expression
	used   map[string]bool // parameters
	err    error           // the first
}

func newWalk(c *Condition, tree *ast.AST) *walk {
	return &walk{
		Condition: c, tree: tree, make: ast.NewExprFactory(), used: map[string]bool{},
		groups: map[string]*layout{
			"res": c.schema.facts, "m": c.schema.metrics, "org": c.schema.org, "p": c.params.layout,
		},
	}
}

// check visits the whole condition and returns the first error.
func (w *walk) check() error {
	w.visit(w.tree.Expr())
	for _, name := range w.params.names() {
		if w.err == nil && !w.used[name] {
			return invalid(w.Rule, "parameter %s is not used; use p.%s in the condition, or remove the parameter", name,
				name)
		}
	}
	return w.err
}

// fail notes the first error, with the place of an expression.
func (w *walk) fail(id int64, format string, args ...any) {
	if w.err != nil {
		return
	}
	at := w.tree.SourceInfo().GetStartLocation(id)
	w.err = invalid(w.Rule, "%s: %s", place(at.Line(), at.Column()), fmt.Sprintf(format, args...))
}

// place names a line and a column, both from 1.
func place(line, column int) string { return fmt.Sprintf("line %d, column %d", line, column+1) }

func (w *walk) visit(e ast.Expr) {
	switch e.Kind() { //nolint:exhaustive // the other kind is no expression
	case ast.CallKind:
		w.visitCall(e)
	case ast.ComprehensionKind:
		w.visitLoop(e)
	case ast.IdentKind:
		w.visitName(e)
	case ast.ListKind:
		w.visitAll(e.AsList().Elements())
	case ast.LiteralKind:
		w.visitLiteral(e)
	case ast.SelectKind:
		w.visitSelect(e)
	case ast.MapKind, ast.StructKind:
		w.fail(e.ID(), "a condition makes no maps and no messages; compare the facts themselves")
	}
}

// visitLiteral makes a whole number a double.
func (w *walk) visitLiteral(e ast.Expr) {
	switch v := e.AsLiteral().(type) {
	case types.Int:
		e.SetKindCase(w.make.NewLiteral(e.ID(), types.Double(v)))
	case types.Double, types.String, types.Bool:
	default:
		w.fail(e.ID(), "a value of type %s cannot be used; there are numbers, texts, true and false",
			v.Type().TypeName())
	}
}

func (w *walk) visitAll(all []ast.Expr) {
	for _, e := range all {
		w.visit(e)
	}
}

func (w *walk) visitCall(e ast.Expr) {
	call := e.AsCall()
	if name := call.FunctionName(); !isFunction(name) {
		w.fail(e.ID(), "%s", unknownFunction(name))
	}
	if call.IsMemberFunction() {
		w.visit(call.Target())
	}
	args := call.Args()
	switch call.FunctionName() {
	case operators.LogicalOr:
		w.absorbs = true
	case operators.Index:
		if args[1].Kind() == ast.LiteralKind {
			args = args[:1] // the number of an element stays whole
		}
	}
	w.visitAll(args)
}

// visitLoop visits exists, all and the like.
func (w *walk) visitLoop(e ast.Expr) {
	loop := e.AsComprehension()
	w.absorbs = true
	if name := loop.IterVar(); w.groups[name] != nil || name == now {
		w.fail(e.ID(), "the variable %q hides the values of that name; use another name", name)
	}
	w.visit(loop.IterRange())
	w.visit(loop.AccuInit())
	w.local = append(w.local, loop.IterVar(), loop.AccuVar())
	w.visitAll([]ast.Expr{loop.LoopCondition(), loop.LoopStep(), loop.Result()})
	w.local = w.local[:len(w.local)-2]
}

// now is the name of the time of an evaluation.
const now = "now"

// visitName visits a name that stands alone.
func (w *walk) visitName(e ast.Expr) {
	name := e.AsIdent()
	switch {
	case name == now || slices.Contains(w.local, name):
	case w.groups[name] != nil:
		w.fail(e.ID(), "%s stands alone; name a value of it, such as %s.%s", name, name, w.example(name))
	default:
		w.fail(e.ID(), "name %q is unknown%s; known are res, m, p, org and now", show(name),
			rule.Nearest(name, slices.Concat(groupNames, []string{now})))
	}
}

func (w *walk) example(group string) string {
	if fields := w.groups[group].fields; len(fields) > 0 {
		return fields[0].Name
	}
	return "x"
}

// visitSelect visits "res.state" and has(m.x).
func (w *walk) visitSelect(e ast.Expr) {
	s := e.AsSelect()
	group, isGroup := "", s.Operand().Kind() == ast.IdentKind
	if isGroup {
		group = s.Operand().AsIdent()
	}
	l := w.groups[group]
	if !isGroup || l == nil || slices.Contains(w.local, group) {
		w.visit(s.Operand())
		return
	}
	name := s.FieldName()
	at, declared := l.number[name]
	if !declared {
		w.refuse(s.Operand().ID(), group, name)
		return
	}
	w.note(group, name)
	kind := l.fields[at].Kind
	if s.IsTestOnly() {
		kind = presence
	}
	e.SetKindCase(w.make.NewSelect(e.ID(), s.Operand(), slotName(at, kind)))
}

// refuse notes that a value is not declared.
func (w *walk) refuse(id int64, group, name string) {
	near := rule.Nearest(name, w.groups[group].names())
	name = show(name)
	switch group {
	case "res":
		w.fail(id, "fact %q is not declared for %s%s", name, w.Type, near)
	case "m":
		w.fail(id, "metric %q is not declared for %s%s", name, w.Type, near)
	case "p":
		w.fail(id, "parameter %q is not declared%s; add it to params", name, near)
	default:
		w.fail(id, "setting %q of the organization is unknown%s", name, near)
	}
}

// note notes that the condition reads a value.
func (w *walk) note(group, name string) {
	switch group {
	case "res":
		w.Facts = appendNew(w.Facts, name)
	case "m":
		w.Metrics = appendNew(w.Metrics, name)
	case "p":
		w.used[name] = true
	}
}

func appendNew(to []string, name string) []string {
	if slices.Contains(to, name) {
		return to
	}
	return append(to, name)
}
