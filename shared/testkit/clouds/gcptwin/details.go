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

// described puts the details into an answer.
func (c *Cloud) described(answer any) any {
	if len(c.details) == 0 {
		return answer
	}
	raw, err := json.Marshal(answer)
	var whole any
	if err != nil || json.Unmarshal(raw, &whole) != nil {
		return answer
	}
	c.detail(whole)
	return whole
}

func (c *Cloud) detail(v any) {
	switch v := v.(type) {
	case []any:
		for _, one := range v {
			c.detail(one)
		}
	case map[string]any:
		for _, key := range slices.Sorted(maps.Keys(v)) {
			c.detail(v[key])
		}
		name, _ := v["name"].(string)
		var more map[string]any
		if json.Unmarshal([]byte(c.details[name]), &more) == nil {
			merge(v, more)
		}
	}
}

// merge adds the fields of more to an object, and to the objects in it.
func merge(to, more map[string]any) {
	for key, v := range more {
		a, whole := to[key].(map[string]any)
		b, also := v.(map[string]any)
		if whole && also {
			merge(a, b)
			continue
		}
		to[key] = v
	}
}
