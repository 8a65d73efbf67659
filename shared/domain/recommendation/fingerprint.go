package recommendation

import (
	"fmt"
	"hash/fnv"
	"maps"
	"slices"
	"strconv"
)

func (f *Finding) fingerprint() uint32 {
	return fingerprint(&f.Evidence, f.Code, f.Title, f.Resource.ResourceName)
}

func (r *Row) fingerprint() uint32 { return fingerprint(&r.Evidence, r.Code, r.Title, r.ResourceName) }

// fingerprint returns a hash of what a row shows: the name of the resource, the code that it is made from, the title,
// the version of the rule, and of the evidence the numbers to two significant digits and other values in full. The
// times, the number of points and the version of the prices do not count: they change with each evaluation.
func fingerprint(e *Evidence, code *Code, title, resource string) uint32 {
	h := fnv.New32a()
	note := func(parts ...string) { // a hash never fails
		for _, s := range parts {
			_, _ = h.Write([]byte(s))
			_, _ = h.Write([]byte{0})
		}
	}
	note(title, resource, strconv.Itoa(e.RuleVersion), e.Window)
	if code != nil {
		note(code.Tool, code.Name, code.Part)
	}
	for _, name := range slices.Sorted(maps.Keys(e.Values)) {
		note(name, shown(e.Values[name]))
	}
	for _, name := range slices.Sorted(maps.Keys(e.Thresholds)) {
		note(name, shown(e.Thresholds[name]))
	}
	return h.Sum32()
}

// shown returns a value as it is compared.
func shown(v any) string {
	switch v := v.(type) {
	case float64:
		return strconv.FormatFloat(twoDigits(v), 'g', 2, 64)
	case float32:
		return shown(float64(v))
	case int:
		return shown(float64(v))
	case int64:
		return shown(float64(v))
	case string:
		return v
	case bool:
		return strconv.FormatBool(v)
	}
	return fmt.Sprint(v)
}
