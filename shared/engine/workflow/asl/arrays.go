package asl

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
)

func arrayPartition(a []any) (any, error) {
	list, err := asArray(a)
	if err != nil {
		return nil, err
	}
	n, err := asInteger(a, 1)
	if err != nil || n < 1 {
		return nil, errors.New("the size of a chunk is not a positive number")
	}
	out := []any{}
	for len(list) > 0 {
		k := int(min(n, int64(len(list))))
		out, list = append(out, list[:k:k]), list[k:]
	}
	return out, nil
}

func arrayContains(a []any) (any, error) {
	list, err := asArray(a)
	if err != nil {
		return nil, err
	}
	for _, v := range list {
		if equalJSON(v, a[1]) {
			return true, nil
		}
	}
	return false, nil
}

func arrayRange(a []any) (any, error) {
	first, err1 := asInteger(a, 0)
	last, err2 := asInteger(a, 1)
	by, err3 := asInteger(a, 2)
	if err := errors.Join(err1, err2, err3); err != nil {
		return nil, err
	}
	if by == 0 {
		return nil, errors.New("the increment is 0")
	}
	out := []any{}
	for v := first; by > 0 && v <= last || by < 0 && v >= last; {
		if len(out) == maxRange {
			return nil, fmt.Errorf("the range has more than %d elements", maxRange)
		}
		out = append(out, integerNumber(v))
		if by > 0 && v > math.MaxInt64-by || by < 0 && v < math.MinInt64-by {
			break
		}
		v += by
	}
	return out, nil
}

func arrayGetItem(a []any) (any, error) {
	list, err := asArray(a)
	if err != nil {
		return nil, err
	}
	i, err := asInteger(a, 1)
	if err != nil {
		return nil, err
	}
	if i < 0 || i >= int64(len(list)) {
		return nil, fmt.Errorf("index %d is outside an array of %d", i, len(list))
	}
	return list[i], nil
}

func arrayLength(a []any) (any, error) {
	list, err := asArray(a)
	return integerNumber(int64(len(list))), err
}

func arrayUnique(a []any) (any, error) {
	list, err := asArray(a)
	if err != nil {
		return nil, err
	}
	out, seen := []any{}, map[string][]any{}
	for _, v := range list {
		k := bucketKey(v)
		if found, _ := arrayContains([]any{seen[k], v}); found == true {
			continue
		}
		seen[k] = append(seen[k], v)
		out = append(out, v)
	}
	return out, nil
}

// bucketKey returns a key for grouping values: equal values have the same key, and most different values do not.
func bucketKey(v any) string {
	if n, ok := v.(json.Number); ok {
		f, _ := n.Float64()
		return fmt.Sprint(f)
	}
	switch x := v.(type) {
	case map[string]any:
		return fmt.Sprintf("{%d", len(x))
	case []any:
		return fmt.Sprintf("[%d", len(x))
	}
	return fmt.Sprintf("%T%v", v, v)
}
