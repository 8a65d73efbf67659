package asl

import (
	"crypto/md5"  //nolint:gosec // States.Hash offers it; nothing of ours relies on it
	"crypto/sha1" //nolint:gosec // as above
	"crypto/sha256"
	"crypto/sha512"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"maps"
	"math"
	"strings"
)

// function is an intrinsic, with its number of arguments.
type function struct {
	least, most int
	random      bool
	do          func(args []any) (any, error)
}

// The quotas of intrinsics, from their page in the developer guide.
const (
	maxRange   = 1_000  // elements of an ArrayRange
	maxEncoded = 10_000 // characters in the argument of Base64Encode, Base64Decode and Hash
)

// functions are the 18 intrinsics.
var functions = map[string]function{
	"States.Format":         {1, math.MaxInt, false, formatText},
	"States.StringToJson":   {1, 1, false, stringToJSON},
	"States.JsonToString":   {1, 1, false, jsonToString},
	"States.Array":          {0, math.MaxInt, false, func(a []any) (any, error) { return append([]any{}, a...), nil }},
	"States.ArrayPartition": {2, 2, false, arrayPartition},
	"States.ArrayContains":  {2, 2, false, arrayContains},
	"States.ArrayRange":     {3, 3, false, arrayRange},
	"States.ArrayGetItem":   {2, 2, false, arrayGetItem},
	"States.ArrayLength":    {1, 1, false, arrayLength},
	"States.ArrayUnique":    {1, 1, false, arrayUnique},
	"States.Base64Encode":   {1, 1, false, base64Encode},
	"States.Base64Decode":   {1, 1, false, base64Decode},
	"States.Hash":           {2, 2, false, hashText},
	"States.JsonMerge":      {3, 3, false, jsonMerge},
	"States.MathRandom":     {2, 3, true, mathRandom},
	"States.MathAdd":        {2, 2, false, mathAdd},
	"States.StringSplit":    {2, 2, false, stringSplit},
	"States.UUID":           {0, 0, true, func([]any) (any, error) { return randomUUID(), nil }},
}

func asText(a []any, i int) (string, error) {
	s, ok := a[i].(string)
	if !ok {
		return "", fmt.Errorf("argument %d is not a string", i+1)
	}
	return s, nil
}

// asArray returns the first argument, which is the array for all array functions.
func asArray(a []any) ([]any, error) {
	v, ok := a[0].([]any)
	if !ok {
		return nil, errors.New("argument 1 is not an array")
	}
	return v, nil
}

func asInteger(a []any, i int) (int64, error) {
	n, ok := toInteger(a[i])
	if !ok {
		return 0, fmt.Errorf("argument %d is not a number", i+1)
	}
	return n, nil
}

func formatText(a []any) (any, error) {
	f, err := asText(a, 0)
	if err != nil {
		return nil, err
	}
	var b strings.Builder
	next := 1
	for i := 0; i < len(f); i++ {
		switch {
		case strings.HasPrefix(f[i:], `\{`) || strings.HasPrefix(f[i:], `\}`):
			i++
			b.WriteByte(f[i])
		case strings.HasPrefix(f[i:], "{}"):
			if next == len(a) {
				return nil, errors.New("there are more {} than arguments")
			}
			b.WriteString(displayText(a[next]))
			next++
			i++
		default:
			b.WriteByte(f[i])
		}
	}
	if next != len(a) {
		return nil, errors.New("there are fewer {} than arguments")
	}
	return b.String(), nil
}

// displayText returns a value as part of a text: strings without quotes, all others as JSON.
func displayText(v any) string {
	if s, ok := v.(string); ok {
		return s
	}
	b, err := encodeJSON(v)
	if err != nil {
		return fmt.Sprint(v)
	}
	return string(b)
}

func stringToJSON(a []any) (any, error) {
	s, err := asText(a, 0)
	if err != nil {
		return nil, err
	}
	return decodeJSON([]byte(s))
}

func jsonToString(a []any) (any, error) {
	b, err := encodeJSON(a[0])
	return string(b), err
}

func base64Encode(a []any) (any, error) {
	s, err := limitedText(a, 0)
	return base64.StdEncoding.EncodeToString([]byte(s)), err
}

func base64Decode(a []any) (any, error) {
	s, err := limitedText(a, 0)
	if err != nil {
		return nil, err
	}
	b, err := base64.StdEncoding.DecodeString(s)
	if err != nil {
		return nil, fmt.Errorf("decode base64: %w", err)
	}
	return strings.ToValidUTF8(string(b), "\uFFFD"), nil
}

func limitedText(a []any, i int) (string, error) {
	s, err := asText(a, i)
	if err == nil && len(s) > maxEncoded {
		err = fmt.Errorf("argument %d has more than %d characters", i+1, maxEncoded)
	}
	return s, err
}

func hashText(a []any) (any, error) {
	s := displayText(a[0])
	if len(s) > maxEncoded {
		return nil, fmt.Errorf("argument 1 has more than %d characters", maxEncoded)
	}
	switch a[1] {
	case "MD5":
		h := md5.Sum([]byte(s)) //nolint:gosec // see the import
		return hex.EncodeToString(h[:]), nil
	case "SHA-1":
		h := sha1.Sum([]byte(s)) //nolint:gosec // see the import
		return hex.EncodeToString(h[:]), nil
	case "SHA-256":
		h := sha256.Sum256([]byte(s))
		return hex.EncodeToString(h[:]), nil
	case "SHA-384":
		h := sha512.Sum384([]byte(s))
		return hex.EncodeToString(h[:]), nil
	case "SHA-512":
		h := sha512.Sum512([]byte(s))
		return hex.EncodeToString(h[:]), nil
	}
	return nil, errors.New("the algorithm is not MD5, SHA-1, SHA-256, SHA-384 or SHA-512")
}

func jsonMerge(a []any) (any, error) {
	x, ok1 := a[0].(map[string]any)
	y, ok2 := a[1].(map[string]any)
	if !ok1 || !ok2 {
		return nil, errors.New("arguments 1 and 2 must be objects")
	}
	if a[2] != false {
		return nil, errors.New("argument 3 must be false: only the shallow merge exists")
	}
	out := make(map[string]any, len(x)+len(y))
	maps.Copy(out, x)
	maps.Copy(out, y)
	return out, nil
}

func mathAdd(a []any) (any, error) {
	x, err1 := asInteger(a, 0)
	y, err2 := asInteger(a, 1)
	if err := errors.Join(err1, err2); err != nil {
		return nil, err
	}
	if y > 0 && x > math.MaxInt64-y || y < 0 && x < math.MinInt64-y {
		return nil, errors.New("the sum is too large")
	}
	return integerNumber(x + y), nil
}

// stringSplit splits at each of the characters of the second argument, and leaves out empty pieces.
func stringSplit(a []any) (any, error) {
	s, err1 := asText(a, 0)
	by, err2 := asText(a, 1)
	if err := errors.Join(err1, err2); err != nil {
		return nil, err
	}
	out := []any{}
	for piece := range strings.FieldsFuncSeq(s, func(r rune) bool { return strings.ContainsRune(by, r) }) {
		out = append(out, piece)
	}
	return out, nil
}
