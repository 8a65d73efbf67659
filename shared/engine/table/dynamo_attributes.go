package table

import (
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"lamplighter.dev/shared/foundation/fault"
)

// The attributes of an item that are not its data.
const (
	pkAttr      = "pk"
	skAttr      = "sk"
	expiresAttr = "expires"
)

// attributes is an item in DynamoDB's format.
type attributes = map[string]types.AttributeValue

// attributeName returns the attribute for a field. Names of attributes that are not data, also with leading
// underscores, get one more underscore, so that each field has its own attribute.
func attributeName(fieldName string) string {
	if isReserved(strings.TrimLeft(fieldName, "_")) {
		return "_" + fieldName
	}
	return fieldName
}

// fieldOf returns the field of an attribute. It returns false for attributes that are not data.
func fieldOf(attr string) (string, bool) {
	if !isReserved(strings.TrimLeft(attr, "_")) {
		return attr, true
	}
	return strings.CutPrefix(attr, "_")
}

// isReserved reports whether name is an attribute that is not data.
func isReserved(name string) bool { return name == pkAttr || name == skAttr || name == expiresAttr }

// keyAttributes returns a key in DynamoDB's format.
func keyAttributes(k Key) attributes {
	return attributes{pkAttr: stringAttribute(k.PK), skAttr: stringAttribute(k.SK)}
}

// stringAttribute and numberAttribute return attribute values.
func stringAttribute(s string) *types.AttributeValueMemberS {
	return &types.AttributeValueMemberS{Value: s}
}

func numberAttribute(n int64) *types.AttributeValueMemberN {
	return &types.AttributeValueMemberN{Value: strconv.FormatInt(n, 10)}
}

// itemAttributes returns an item in DynamoDB's format. Its data must have passed checkData.
func itemAttributes(it Item) (attributes, error) {
	as := keyAttributes(it.Key)
	if end := expirySeconds(it.Expires); end != 0 {
		as[expiresAttr] = numberAttribute(end)
	}
	if len(it.Data) == 0 {
		return as, nil
	}
	fs, err := parseFields(it.Data)
	if err != nil {
		return nil, err
	}
	for _, f := range fs {
		v, err := valueAttribute(f.raw)
		if err != nil {
			return nil, err
		}
		as[attributeName(f.name)] = v
	}
	return as, nil
}

// valueAttribute returns a JSON value in DynamoDB's format.
func valueAttribute(raw []byte) (types.AttributeValue, error) {
	switch c := raw[0]; c {
	case '"':
		s, err := unquoteString(raw)
		return stringAttribute(s), err
	case '{':
		return mapAttribute(raw)
	case '[':
		return listAttribute(raw)
	case 't', 'f':
		return &types.AttributeValueMemberBOOL{Value: c == 't'}, nil
	case 'n':
		return &types.AttributeValueMemberNULL{Value: true}, nil
	default:
		d, ok := parseDecimal(raw)
		if !ok {
			return nil, fault.New(fault.Invalid, "item data has a malformed number %.50q", raw)
		}
		return &types.AttributeValueMemberN{Value: d.String()}, nil
	}
}

// mapAttribute returns a JSON object in DynamoDB's format.
func mapAttribute(raw []byte) (types.AttributeValue, error) {
	fs, err := parseFields(raw)
	if err != nil {
		return nil, err
	}
	m := make(attributes, len(fs))
	for _, f := range fs {
		if m[f.name], err = valueAttribute(f.raw); err != nil {
			return nil, err
		}
	}
	return &types.AttributeValueMemberM{Value: m}, nil
}

// listAttribute returns a JSON array in DynamoDB's format.
func listAttribute(raw []byte) (types.AttributeValue, error) {
	s := scanner{data: raw}
	l := []types.AttributeValue{}
	err := s.scanMembers(']', 0, func() error {
		from := s.at
		if _, err := s.skipValue(1); err != nil {
			return err
		}
		v, err := valueAttribute(raw[from:s.at])
		l = append(l, v)
		return err
	})
	return &types.AttributeValueMemberL{Value: l}, err
}

// attributesItem returns the item of attributes in DynamoDB's format, with fields sorted by name.
func attributesItem(as attributes) (Item, error) {
	it := Item{Key: Key{PK: stringValue(as[pkAttr]), SK: stringValue(as[skAttr])}}
	end, err := expiryOf(as)
	if err != nil {
		return it, err
	}
	if end != 0 {
		it.Expires = time.Unix(end, 0).UTC()
	}
	fs := make(fields, 0, len(as))
	for attr, v := range as {
		name, ok := fieldOf(attr)
		if !ok {
			continue
		}
		raw, err := appendValue(nil, v)
		if err != nil {
			return it, fault.Wrap("read field "+name+" of "+it.PK+" "+it.SK, err)
		}
		fs = append(fs, field{name, raw})
	}
	slices.SortFunc(fs, func(a, b field) int { return strings.Compare(a.name, b.name) })
	it.Data = fs.encodeObject()
	return it, nil
}

// stringValue returns the value of a string attribute.
func stringValue(v types.AttributeValue) string {
	if s, ok := v.(*types.AttributeValueMemberS); ok {
		return s.Value
	}
	return ""
}

// expiryOf returns the expiry of an item in Unix seconds; 0 means never.
func expiryOf(as attributes) (int64, error) {
	n, ok := as[expiresAttr].(*types.AttributeValueMemberN)
	if !ok {
		return 0, nil
	}
	end, err := strconv.ParseInt(n.Value, 10, 64)
	if err != nil {
		return 0, fault.NewWithCause(
			fault.Internal, err, "the expiry %.40q of %s %s is unreadable", n.Value, stringValue(as[pkAttr]),
			stringValue(as[skAttr]))
	}
	return end, nil
}

// appendValue appends a value in DynamoDB's format as JSON.
func appendValue(b []byte, v types.AttributeValue) ([]byte, error) {
	switch x := v.(type) {
	case *types.AttributeValueMemberS:
		return appendString(b, x.Value), nil
	case *types.AttributeValueMemberN:
		return appendNumber(b, x.Value)
	case *types.AttributeValueMemberBOOL:
		return strconv.AppendBool(b, x.Value), nil
	case *types.AttributeValueMemberNULL:
		return append(b, "null"...), nil
	case *types.AttributeValueMemberL:
		return appendList(b, x.Value)
	case *types.AttributeValueMemberM:
		return appendMap(b, x.Value)
	default:
		return nil, fault.New(fault.Internal, "a value of kind %T has no JSON", v)
	}
}

// appendNumber appends a number of DynamoDB in JSON syntax.
func appendNumber(b []byte, s string) ([]byte, error) {
	d, ok := parseDecimal([]byte(s))
	if !ok {
		return nil, fault.New(fault.Internal, "the number %.50q has no JSON", s)
	}
	return append(b, d.String()...), nil
}

// appendList appends a list as JSON.
func appendList(b []byte, l []types.AttributeValue) (_ []byte, err error) {
	b = append(b, '[')
	for i, v := range l {
		if i > 0 {
			b = append(b, ',')
		}
		if b, err = appendValue(b, v); err != nil {
			return nil, err
		}
	}
	return append(b, ']'), nil
}

// appendMap appends a map as JSON, sorted by name.
func appendMap(b []byte, m attributes) ([]byte, error) {
	fs := make(fields, 0, len(m))
	for name, v := range m {
		raw, err := appendValue(nil, v)
		if err != nil {
			return nil, err
		}
		fs = append(fs, field{name, raw})
	}
	slices.SortFunc(fs, func(a, b field) int { return strings.Compare(a.name, b.name) })
	return append(b, fs.encodeObject()...), nil
}
