package azure

import (
	"encoding/json"
	"strconv"
	"strings"

	"lamplighter.dev/shared/cloud"
)

// row is a resource in the Resource Graph, for facts. Azure leaves unset fields out.
type row struct {
	resource
	setting    *setting
	whole      map[string]any // sku and properties, as they are written
	neighbours neighbours
}

// fact reads one fact of a row; false if the row does not have it.
type fact func(r row) (any, bool)

// addKindFacts adds the facts that the waste rules read to a resource.
func addKindFacts(out *cloud.Resource, r resource, s *setting, n neighbours) error {
	read := factsOfRow(out.Type)
	if read == nil {
		return nil
	}
	whole, err := decodeProperties[map[string]any](r)
	if err != nil {
		return err
	}
	if out.Facts == nil {
		out.Facts = cloud.Facts{}
	}
	at := row{r, s, map[string]any{"properties": whole}, n}
	for name, f := range read {
		if v, told := f(at); told {
			out.Facts[name] = v
		}
	}
	return nil
}

// valueAt returns the value at a path of names with dots between them; nil if there is none.
func (r row) valueAt(path string) any {
	v := r.whole["properties"]
	for name := range strings.SplitSeq(path, ".") {
		m, _ := v.(map[string]any)
		v = nil
		for key, under := range m { // Azure's services do not agree on the case of names
			if strings.EqualFold(key, name) {
				v = under
			}
		}
	}
	return v
}

func (r row) textAt(path string) string {
	s, _ := r.valueAt(path).(string)
	return s
}

// textFact reads a word; "" if it is not set.
func textFact(path string) fact { return func(r row) (any, bool) { return r.textAt(path), true } }

// textOr reads a word that has a default.
func textOr(path, otherwise string) fact {
	return func(r row) (any, bool) {
		if s := r.textAt(path); s != "" {
			return s, true
		}
		return otherwise, true
	}
}

// requiredTextFact reads a word that every resource of the type has: without it nothing is known.
func requiredTextFact(path string) fact {
	return func(r row) (any, bool) { s := r.textAt(path); return s, s != "" }
}

// referenceFact reads the id of another resource, as a uid; "" if there is none.
func referenceFact(path string) fact {
	return func(r row) (any, bool) { return uidOf(r.textAt(path)), true }
}

// numberFact reads a number, which some services write as text; false if it is not set.
func numberFact(path string) fact { return scaledFact(path, 1) }

// scaledFact reads a number in another unit.
func scaledFact(path string, factor float64) fact {
	return func(r row) (any, bool) {
		switch v := r.valueAt(path).(type) {
		case float64:
			return v * factor, true
		case string:
			n, err := strconv.ParseFloat(v, 64)
			return n * factor, err == nil
		}
		return nil, false
	}
}

// numberOr reads a number that has a default.
func numberOr(path string, otherwise float64) fact {
	return func(r row) (any, bool) {
		if v, ok := numberFact(path)(r); ok {
			return v, true
		}
		return otherwise, true
	}
}

// flagFact reads a switch; a missing switch is off.
func flagFact(path string) fact {
	return func(r row) (any, bool) { return r.valueAt(path) == true, true }
}

// negatedFact reads a switch whose value is the opposite of the fact.
func negatedFact(path string) fact {
	return func(r row) (any, bool) { return r.valueAt(path) != true, true }
}

// wordIsFact reports whether a word is the one, in any case.
func wordIsFact(path, word string) fact {
	return func(r row) (any, bool) { return strings.EqualFold(r.textAt(path), word), true }
}

// presenceFact reports whether something is set.
func presenceFact(path string) fact {
	return func(r row) (any, bool) { return r.valueAt(path) != nil, true }
}

// listFact reads texts.
func listFact(path string) fact {
	return func(r row) (any, bool) {
		out := []string{}
		all, _ := r.valueAt(path).([]any)
		for _, v := range all {
			if s, ok := v.(string); ok {
				out = append(out, s)
			}
		}
		return out, true
	}
}

// lengthFact counts.
func lengthFact(path string) fact {
	return func(r row) (any, bool) {
		all, _ := r.valueAt(path).([]any)
		return float64(len(all)), true
	}
}

// The facts that are beside the properties of a row.
var (
	zoneCount fact = func(r row) (any, bool) { return float64(len(r.Zones)), true }
	skuTier   fact = func(r row) (any, bool) { return skuText(r, func(s *sku) string { return s.Tier }) }
	skuOf     fact = func(r row) (any, bool) { return skuText(r, func(s *sku) string { return s.Name }) }
	skuCount  fact = func(r row) (any, bool) {
		if r.SKU == nil || r.SKU.Capacity == nil {
			return nil, false
		}
		return float64(*r.SKU.Capacity), true
	}
	autoscaled fact = func(r row) (any, bool) { return r.setting.isActive(), true }
)

func skuText(r row, of func(*sku) string) (any, bool) {
	if r.SKU == nil {
		return nil, false
	}
	return of(r.SKU), true
}

// hasTag reports whether a tag is there.
func hasTag(name string) fact {
	return func(r row) (any, bool) {
		for key := range r.Tags {
			if strings.EqualFold(key, name) {
				return true, true
			}
		}
		return false, true
	}
}

// coresOf reads the number of virtual cores from the name of a size, "Standard_D4ds_v5". Flexible servers have it
// nowhere else.
func coresOf(r row) (any, bool) {
	if r.SKU == nil {
		return nil, false
	}
	_, size, _ := strings.Cut(r.SKU.Name, "_")
	family := strings.TrimLeft(size, "ABCDEFGHIJKLMNOPQRSTUVWXYZ")
	digits := family[:len(family)-len(strings.TrimLeft(family, "0123456789"))]
	n, err := strconv.ParseFloat(digits, 64)
	return n, err == nil
}

// minorLag counts the minor versions that one is behind another: "1.31.2" is 2 behind "1.33".
func minorLag(behind, of string) (any, bool) {
	minor := func(version string) (int, bool) {
		parts := strings.Split(version, ".")
		if len(parts) < 2 {
			return 0, false
		}
		n, err := strconv.Atoi(parts[1])
		return n, err == nil
	}
	a, ok := minor(behind)
	b, ok2 := minor(of)
	return float64(max(b-a, 0)), ok && ok2
}

// objectsAt returns the objects of a list.
func (r row) objectsAt(path string) []map[string]any {
	all, _ := r.valueAt(path).([]any)
	var out []map[string]any
	for _, v := range all {
		if m, ok := v.(map[string]any); ok {
			out = append(out, m)
		}
	}
	return out
}

// withVersion adds the version of its cluster to a pool, for comparison.
func withVersion(pool json.RawMessage, version string) (json.RawMessage, error) {
	m, err := decodeEditable(pool)
	if err != nil {
		return nil, err
	}
	m[clusterVersionOf] = version
	return json.Marshal(m)
}

// clusterVersionOf is the field that holds the version of a pool's cluster. It is not a name of Azure's.
const clusterVersionOf = "lamplighterClusterVersion"
