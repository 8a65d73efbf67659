package asl

import (
	"encoding/json"
	"fmt"
	"strings"
)

// maxNesting is how deep calls of intrinsics may be nested.
const maxNesting = 10

// call is an intrinsic with its arguments.
type call struct {
	name string
	fn   function
	args []expr
}

func (c *call) evaluate(sc scope) (any, error) {
	args := make([]any, len(c.args))
	for i, a := range c.args {
		v, err := a.evaluate(sc)
		if err != nil {
			return nil, err
		}
		args[i] = v
	}
	v, err := c.fn.do(args)
	if err != nil {
		return nil, newError(errIntrinsic, "%s: %s", c.name, err)
	}
	return v, nil
}

func (c *call) paths(visit func(*path)) {
	for _, a := range c.args {
		a.paths(visit)
	}
}

func (c *call) steady() bool {
	for _, a := range c.args {
		if !a.steady() {
			return false
		}
	}
	return !c.fn.random
}

// parseCall parses States.Name(argument, …) without further text.
func parseCall(text string) (expr, error) {
	c := &callParser{rest: text}
	e, err := c.call(1)
	if err != nil {
		return nil, fmt.Errorf("intrinsic %q: %w", text, err)
	}
	if strings.TrimSpace(c.rest) != "" {
		return nil, fmt.Errorf("intrinsic %q: text after the last )", text)
	}
	return e, nil
}

// callParser parses the text of an intrinsic from its start.
type callParser struct{ rest string }

func (c *callParser) skipSpace() { c.rest = strings.TrimLeft(c.rest, " ") }

// take removes prefix from the start of the remaining text, and reports whether it was there.
func (c *callParser) take(prefix string) bool {
	rest, ok := strings.CutPrefix(c.rest, prefix)
	c.rest = rest
	return ok
}

func (c *callParser) call(depth int) (expr, error) {
	if depth > maxNesting {
		return nil, fmt.Errorf("more than %d calls within one another", maxNesting)
	}
	name, rest, ok := strings.Cut(c.rest, "(")
	if !ok {
		return nil, fmt.Errorf("%q has no (", c.rest)
	}
	fn, known := functions[name]
	if !known {
		return nil, fmt.Errorf("%s is not one of the intrinsics", name)
	}
	c.rest = rest
	args, err := c.arguments(depth)
	if err != nil {
		return nil, err
	}
	if len(args) < fn.least || len(args) > fn.most {
		return nil, fmt.Errorf("%s takes %d to %d arguments, not %d", name, fn.least, fn.most, len(args))
	}
	return &call{name, fn, args}, nil
}

// arguments parses the arguments and the closing parenthesis.
func (c *callParser) arguments(depth int) ([]expr, error) {
	var args []expr
	c.skipSpace()
	if c.take(")") {
		return nil, nil
	}
	for {
		c.skipSpace()
		a, err := c.argument(depth)
		if err != nil {
			return nil, err
		}
		args = append(args, a)
		c.skipSpace()
		if c.take(")") {
			return args, nil
		}
		if !c.take(",") {
			return nil, fmt.Errorf("expected , or ) before %q", c.rest)
		}
	}
}

func (c *callParser) argument(depth int) (expr, error) {
	switch {
	case c.take("'"):
		return c.quotedText()
	case strings.HasPrefix(c.rest, "States."):
		return c.call(depth + 1)
	}
	token := strings.TrimSpace(c.token())
	if strings.HasPrefix(token, "$") {
		return parsePath(token)
	}
	v, err := decodeJSON([]byte(token))
	if err != nil {
		return nil, fmt.Errorf("argument %q is neither a path, a call, 'text', a number, true, false nor null", token)
	}
	switch v.(type) {
	case nil, bool, json.Number:
		return constant{v}, nil
	}
	return nil, fmt.Errorf("argument %s: text stands between single quotes", token)
}

// token returns the text up to the next comma or closing parenthesis outside of brackets.
func (c *callParser) token() string {
	depth, quote := 0, byte(0)
	for i := range len(c.rest) {
		b := c.rest[i]
		switch {
		case quote != 0:
			if b == quote {
				quote = 0
			}
		case depth > 0 && (b == '\'' || b == '"'):
			quote = b
		case b == '[':
			depth++
		case b == ']':
			depth--
		case depth <= 0 && (b == ',' || b == ')'):
			token := c.rest[:i]
			c.rest = c.rest[i:]
			return token
		}
	}
	token := c.rest
	c.rest = ""
	return token
}

// quotedText parses a string up to its closing quote. A backslash escapes the next character. Before a brace the
// backslash stays in the text, for States.Format.
func (c *callParser) quotedText() (expr, error) {
	var b strings.Builder
	for i := 0; i < len(c.rest); i++ {
		switch ch := c.rest[i]; {
		case ch == '\'':
			c.rest = c.rest[i+1:]
			return constant{b.String()}, nil
		case ch == '\\' && i+1 < len(c.rest):
			i++
			if next := c.rest[i]; next == '{' || next == '}' {
				b.WriteByte('\\')
			}
			b.WriteByte(c.rest[i])
		default:
			b.WriteByte(ch)
		}
	}
	return nil, fmt.Errorf("'%s has no closing quote", c.rest)
}
