package condition

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// A second implementation of conditions, written by hand. It shares no code with cel-go. This file parses, and
// plain_test.go evaluates.

// node is an expression: a literal ("number", "text"), a name, or an operator over its arguments.
type node struct {
	op   string // "number", "text", "name", ".", "call", "method", "list", "[]", "?:", "has", or an operator
	text string // of a text, a name or a function
	num  float64
	args []*node
}

// plainParser reads tokens from left to right. An error is a panic of a string, which parsePlain returns.
type plainParser struct {
	tokens []string
	at     int
}

// parsePlain parses a condition.
func parsePlain(text string) (n *node, err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("%s: %v", text, r)
		}
	}()
	p := &plainParser{tokens: tokensOf(text)}
	n = p.ternary()
	if p.peek() != "" {
		panic("unexpected " + p.peek())
	}
	return n, nil
}

// tokensOf splits a condition. A text keeps its opening quote.
func tokensOf(text string) []string {
	var out []string
	for i := 0; i < len(text); {
		n := tokenLength(text[i:])
		if token := text[i : i+n]; strings.TrimSpace(token) != "" {
			out = append(out, token)
		}
		i += n
	}
	return out
}

func tokenLength(s string) int {
	switch c := s[0]; {
	case c == '\'' || c == '"':
		return strings.IndexByte(s[1:], c) + 2 // no rule escapes a quote
	case isWordByte(c):
		n := 1
		for n < len(s) && (isWordByte(s[n]) || s[n] == '.' && c >= '0' && c <= '9') {
			n++
		}
		return n
	case len(s) > 1 && slices.Contains([]string{"&&", "||", "==", "!=", "<=", ">="}, s[:2]):
		return 2
	}
	return 1
}

func isWordByte(c byte) bool {
	return c == '_' || c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z'
}

func (p *plainParser) peek() string {
	if p.at == len(p.tokens) {
		return ""
	}
	return p.tokens[p.at]
}

func (p *plainParser) next() string {
	t := p.peek()
	p.at++
	return t
}

func (p *plainParser) take(token string) bool {
	if p.peek() != token {
		return false
	}
	p.at++
	return true
}

func (p *plainParser) need(token string) {
	if !p.take(token) {
		panic("want " + token + ", have " + p.peek())
	}
}

func (p *plainParser) ternary() *node {
	n := p.binary(0)
	if !p.take("?") {
		return n
	}
	yes := p.binary(0)
	p.need(":")
	return &node{op: "?:", args: []*node{n, yes, p.ternary()}}
}

// levels are the binary operators, from the weakest.
var levels = [][]string{
	{"||"}, {"&&"}, {"==", "!=", "<", "<=", ">", ">=", "in"}, {"+", "-"}, {"*", "/"},
}

func (p *plainParser) binary(level int) *node {
	if level == len(levels) {
		return p.unary()
	}
	n := p.binary(level + 1)
	for slices.Contains(levels[level], p.peek()) {
		op := p.next()
		n = &node{op: op, args: []*node{n, p.binary(level + 1)}}
	}
	return n
}

func (p *plainParser) unary() *node {
	for _, op := range []string{"!", "-"} {
		if p.take(op) {
			return &node{op: "not" + op, args: []*node{p.unary()}}
		}
	}
	return p.member(p.primary())
}

func (p *plainParser) member(n *node) *node {
	for {
		switch {
		case p.take("."):
			name := p.next()
			if p.take("(") {
				n = &node{op: "method", text: name, args: append([]*node{n}, p.list(")")...)}
			} else {
				n = &node{op: ".", text: name, args: []*node{n}}
			}
		case p.take("["):
			n = &node{op: "[]", args: append([]*node{n}, p.list("]")...)}
		default:
			return n
		}
	}
}

func (p *plainParser) list(end string) []*node {
	var out []*node
	for !p.take(end) {
		if len(out) > 0 {
			p.need(",")
		}
		out = append(out, p.ternary())
	}
	return out
}

func (p *plainParser) primary() *node {
	t := p.next()
	switch {
	case t == "(":
		n := p.ternary()
		p.need(")")
		return n
	case t == "[":
		return &node{op: "list", args: p.list("]")}
	case t == "":
		panic("unexpected end")
	case t[0] == '\'' || t[0] == '"':
		return &node{op: "text", text: t[1 : len(t)-1]}
	case t[0] >= '0' && t[0] <= '9':
		num, err := strconv.ParseFloat(t, 64)
		if err != nil {
			panic(err.Error())
		}
		return &node{op: "number", num: num}
	case !isWordByte(t[0]):
		panic("unexpected " + t)
	case p.take("("):
		return &node{op: "call", text: t, args: p.list(")")}
	}
	return &node{op: "name", text: t}
}

// conjuncts splits "a && b && c".
func (n *node) conjuncts() []*node {
	if n.op != "&&" {
		return []*node{n}
	}
	return append(n.args[0].conjuncts(), n.args[1].conjuncts()...)
}

// each calls f with each expression.
func (n *node) each(f func(*node)) {
	f(n)
	for _, a := range n.args {
		a.each(f)
	}
}
