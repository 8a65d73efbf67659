package table

import (
	"encoding/json"
	"strconv"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

// expression gathers the placeholders of a call's expressions. Every name is a placeholder, as DynamoDB reserves hundreds.
type expression struct {
	names  map[string]string
	values attributes
	known  map[string]string // attribute → its placeholder
	now    int64
}

// newExpression begins expressions that see the time now, in Unix seconds.
func newExpression(now int64) *expression {
	return &expression{names: map[string]string{}, values: attributes{}, known: map[string]string{}, now: now}
}

// attr returns the placeholder of an attribute.
func (x *expression) attr(name string) string {
	if p, ok := x.known[name]; ok {
		return p
	}
	p := "#" + strconv.Itoa(len(x.names))
	x.names[p], x.known[name] = name, p
	return p
}

// field returns the placeholder of a field's attribute.
func (x *expression) field(name string) string { return x.attr(attributeName(name)) }

// value returns the placeholder of a value.
func (x *expression) value(v types.AttributeValue) string {
	p := ":" + strconv.Itoa(len(x.values))
	x.values[p] = v
	return p
}

// json returns the placeholder of anything that has JSON.
func (x *expression) json(v any) (string, error) {
	raw, err := json.Marshal(v)
	if err != nil {
		return "", err
	}
	a, err := valueAttribute(raw)
	return x.value(a), err
}

// clock returns the placeholder of the time now.
func (x *expression) clock() string {
	if _, ok := x.values[":now"]; !ok {
		x.values[":now"] = numberAttribute(x.now)
	}
	return ":now"
}

// isLive holds of an item that has not expired, and of an absent one.
func (x *expression) isLive() string {
	e := x.attr(expiresAttr)
	return "(attribute_not_exists(" + e + ") OR " + e + " > " + x.clock() + ")"
}

// isExpired holds of an item that has expired.
func (x *expression) isExpired() string { return x.attr(expiresAttr) + " <= " + x.clock() }

// valueMap returns nil when empty, as DynamoDB demands.
func (x *expression) valueMap() attributes {
	if len(x.values) == 0 {
		return nil
	}
	return x.values
}

// nameMap returns nil when empty.
func (x *expression) nameMap() map[string]string {
	if len(x.names) == 0 {
		return nil
	}
	return x.names
}

// keyCondition returns the key condition of a query.
func (x *expression) keyCondition(q Query) string {
	pk := x.attr(pkAttr) + " = " + x.value(stringAttribute(q.PK))
	switch {
	case q.Prefix != "":
		return pk + " AND begins_with(" + x.attr(skAttr) + ", " + x.value(stringAttribute(q.Prefix)) + ")"
	case q.From != "" && q.To != "":
		return pk + " AND " + x.attr(skAttr) + " BETWEEN " + x.value(stringAttribute(q.From)) + " AND " +
			x.value(stringAttribute(q.To))
	case q.From != "":
		return pk + " AND " + x.attr(skAttr) + " >= " + x.value(stringAttribute(q.From))
	case q.To != "":
		return pk + " AND " + x.attr(skAttr) + " <= " + x.value(stringAttribute(q.To))
	default:
		return pk
	}
}

// conditionExpression returns the condition expression of a write; nil when there is none. That of an update first demands that the item
// has not expired, since DynamoDB would update it; the others see an expired item as absent in each of their parts.
func (x *expression) conditionExpression(w *Write) (*string, error) {
	leaf, parts := x.seen, make([]string, 0, len(w.If)+1)
	if w.Verb == UpdateVerb {
		leaf, parts = x.plain, append(parts, x.isLive())
	}
	for i := range w.If {
		p, err := x.tree(&w.If[i], leaf)
		if err != nil {
			return nil, err
		}
		parts = append(parts, p)
	}
	if len(parts) == 0 {
		return nil, nil //nolint:nilnil // no condition is no error
	}
	s := strings.Join(parts, " AND ")
	return &s, nil
}

// tree returns a condition, its leaves written by leaf.
func (x *expression) tree(c *Cond, leaf func(*Cond) (string, error)) (string, error) {
	if c.Op != AnyOp {
		return leaf(c)
	}
	if len(c.Any) == 1 { // DynamoDB refuses redundant parentheses
		return x.tree(&c.Any[0], leaf)
	}
	parts := make([]string, len(c.Any))
	for i := range c.Any {
		p, err := x.tree(&c.Any[i], leaf)
		if err != nil {
			return "", err
		}
		parts[i] = p
	}
	return "(" + strings.Join(parts, " OR ") + ")", nil
}

// seen returns a condition that takes an expired item for absent.
func (x *expression) seen(c *Cond) (string, error) {
	s, err := x.plain(c)
	switch c.Op {
	case AbsentOp, LacksOp, NotEqualOp:
		return "(" + s + " OR " + x.isExpired() + ")", err
	default:
		return "(" + s + " AND " + x.isLive() + ")", err
	}
}

// comparators are the signs of the comparisons.
var comparators = map[CondOp]string{
	EqualOp: " = ", NotEqualOp: " <> ", LessOp: " < ", LessEqualOp: " <= ", GreaterOp: " > ", GreaterEqualOp: " >= ",
}

// plain returns a condition on the item as it stands.
func (x *expression) plain(c *Cond) (string, error) {
	switch c.Op {
	case AbsentOp:
		return "attribute_not_exists(" + x.attr(pkAttr) + ")", nil
	case ExistsOp:
		return "attribute_exists(" + x.attr(pkAttr) + ")", nil
	case HasOp:
		return "attribute_exists(" + x.field(c.Field) + ")", nil
	case LacksOp:
		return "attribute_not_exists(" + x.field(c.Field) + ")", nil
	default:
		v, err := x.json(c.Value)
		return x.field(c.Field) + comparators[c.Op] + v, err
	}
}

// updateExpression returns the update expression of changes.
func (x *expression) updateExpression(changes []Change) (*string, error) {
	var u update
	for i := range changes {
		if err := u.add(x, &changes[i]); err != nil {
			return nil, err
		}
	}
	s := u.String()
	return &s, nil
}

// update gathers the clauses of an update expression.
type update struct{ set, sums, remove []string }

// add takes a change into its clause.
func (u *update) add(x *expression, c *Change) error {
	switch c.Op {
	case RemoveOp:
		u.remove = append(u.remove, x.field(c.Field))
		return nil
	case AddOp:
		n, err := parseIncrement(c)
		u.sums = append(u.sums, x.field(c.Field)+" "+x.value(numberAttribute(n)))
		return err
	case ExpireOp:
		at, _ := c.Value.(time.Time)
		u.expire(x, expirySeconds(at))
		return nil
	default:
		return u.assign(x, c)
	}
}

// assign takes the setting of a field in.
func (u *update) assign(x *expression, c *Change) error {
	f := x.field(c.Field)
	v, err := x.json(c.Value)
	if c.Op == SetOnceOp {
		v = "if_not_exists(" + f + ", " + v + ")"
	}
	u.set = append(u.set, f+" = "+v)
	return err
}

// expire takes a new expiry in, or none.
func (u *update) expire(x *expression, end int64) {
	if end == 0 {
		u.remove = append(u.remove, x.attr(expiresAttr))
		return
	}
	u.set = append(u.set, x.attr(expiresAttr)+" = "+x.value(numberAttribute(end)))
}

// String returns the expression.
func (u *update) String() string {
	var clauses []string
	for _, c := range []struct {
		word  string
		parts []string
	}{{"SET ", u.set}, {"REMOVE ", u.remove}, {"ADD ", u.sums}} {
		if len(c.parts) > 0 {
			clauses = append(clauses, c.word+strings.Join(c.parts, ", "))
		}
	}
	return strings.Join(clauses, " ")
}
