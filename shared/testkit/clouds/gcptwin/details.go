package gcptwin

import (
	"encoding/json"
	"maps"
	"slices"
)

// Describe adds fields to the answers about a resource: each object with that name gets the fields of more, which is
// JSON in the form of the API. It is for fields that the provider reads and the twin does not use.
func (c *Cloud) Describe(name, more string) {
	c.ChangeLocked(func() {
		if c.details == nil {
			c.details = map[string]string{}
		}
		c.details[name] = more
	})
}

// withDetails puts the details into an answer.
func (c *Cloud) withDetails(answer any) any {
	if len(c.details) == 0 {
		return answer
	}
	raw, err := json.Marshal(answer)
	var whole any
	if err != nil || json.Unmarshal(raw, &whole) != nil {
		return answer
	}
	c.addDetails(whole)
	return whole
}

func (c *Cloud) addDetails(v any) {
	switch v := v.(type) {
	case []any:
		for _, one := range v {
			c.addDetails(one)
		}
	case map[string]any:
		for _, key := range slices.Sorted(maps.Keys(v)) {
			c.addDetails(v[key])
		}
		name, _ := v["name"].(string)
		var more map[string]any
		if json.Unmarshal([]byte(c.details[name]), &more) == nil {
			mergeFields(v, more)
		}
	}
}

// mergeFields adds the fields of more to an object, and to the objects in it.
func mergeFields(to, more map[string]any) {
	for key, v := range more {
		a, whole := to[key].(map[string]any)
		b, also := v.(map[string]any)
		if whole && also {
			mergeFields(a, b)
			continue
		}
		to[key] = v
	}
}
