package table

import (
	"encoding/json"
	"strconv"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

// expression collects the placeholders for the expressions of a call. Every name becomes a placeholder, because
// DynamoDB reserves hundreds of names.
type expression struct {
	names  map[string]string
	values attributes
	known  map[string]string // placeholder of each attribute
	now    int64
}

// newExpression returns an expression for the time now, in Unix seconds.
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

// jsonValue returns the placeholder of a value that can be encoded as JSON.
func (x *expression) jsonValue(v any) (string, error) {
	raw, err := json.Marshal(v)
	if err != nil {
		return "", err
	}
	a, err := valueAttribute(raw)
	return x.value(a), err
}

// currentTime returns the placeholder of the time now.
func (x *expression) currentTime() string {
	if _, ok := x.values[":now"]; !ok {
		x.values[":now"] = numberAttribute(x.now)
	}
	return ":now"
}

// isLive returns the condition that an item is absent or has not expired.
func (x *expression) isLive() string {
	e := x.attr(expiresAttr)
	return "(attribute_not_exists(" + e + ") OR " + e + " > " + x.currentTime() + ")"
}

// isExpired returns the condition that an item has expired.
func (x *expression) isExpired() string { return x.attr(expiresAttr) + " <= " + x.currentTime() }

// valueMap returns nil if there are no values, as DynamoDB requires.
func (x *expression) valueMap() attributes {
	if len(x.values) == 0 {
		return nil
	}
	return x.values
}

// nameMap returns nil if there are no names.
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

// conditionExpression returns the condition expression of a write, or nil if there is none. That of an update starts
// with the condition that the item has not expired, because DynamoDB would update it. In other writes, each part treats
// an expired item as absent.
func (x *expression) conditionExpression(w *Write) (*string, error) {
	leaf, parts := x.liveCondition, make([]string, 0, len(w.If)+1)
	if w.Verb == UpdateVerb {
		leaf, parts = x.plainCondition, append(parts, x.isLive())
	}
	for i := range w.If {
		p, err := x.conditionTree(&w.If[i], leaf)
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

// conditionTree returns a condition with its leaves written by leaf.
func (x *expression) conditionTree(c *Cond, leaf func(*Cond) (string, error)) (string, error) {
	if c.Op != AnyOp {
		return leaf(c)
	}
	if len(c.Any) == 1 { // DynamoDB refuses redundant parentheses
		return x.conditionTree(&c.Any[0], leaf)
	}
	parts := make([]string, len(c.Any))
	for i := range c.Any {
		p, err := x.conditionTree(&c.Any[i], leaf)
		if err != nil {
			return "", err
		}
		parts[i] = p
	}
	return "(" + strings.Join(parts, " OR ") + ")", nil
}

// liveCondition returns a condition that treats an expired item as absent.
func (x *expression) liveCondition(c *Cond) (string, error) {
	s, err := x.plainCondition(c)
	switch c.Op {
	case AbsentOp, LacksOp, NotEqualOp:
		return "(" + s + " OR " + x.isExpired() + ")", err
	default:
		return "(" + s + " AND " + x.isLive() + ")", err
	}
}

// comparators are the signs of comparisons.
var comparators = map[CondOp]string{
	EqualOp: " = ", NotEqualOp: " <> ", LessOp: " < ", LessEqualOp: " <= ", GreaterOp: " > ", GreaterEqualOp: " >= ",
}

// plainCondition returns a condition on the stored item, even if it has expired.
func (x *expression) plainCondition(c *Cond) (string, error) {
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
		v, err := x.jsonValue(c.Value)
		return x.field(c.Field) + comparators[c.Op] + v, err
	}
}

// updateExpression returns the update expression of changes.
func (x *expression) updateExpression(changes []Change) (*string, error) {
	var u update
	for i := range changes {
		if err := u.addChange(x, &changes[i]); err != nil {
			return nil, err
		}
	}
	s := u.String()
	return &s, nil
}

// update collects the clauses of an update expression.
type update struct{ set, sums, remove []string }

// addChange adds a change to its clause.
func (u *update) addChange(x *expression, c *Change) error {
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
		u.addExpiry(x, expirySeconds(at))
		return nil
	default:
		return u.addAssignment(x, c)
	}
}

// addAssignment adds the setting of a field.
func (u *update) addAssignment(x *expression, c *Change) error {
	f := x.field(c.Field)
	v, err := x.jsonValue(c.Value)
	if c.Op == SetOnceOp {
		v = "if_not_exists(" + f + ", " + v + ")"
	}
	u.set = append(u.set, f+" = "+v)
	return err
}

// addExpiry adds a new expiry; 0 removes it.
func (u *update) addExpiry(x *expression, end int64) {
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
