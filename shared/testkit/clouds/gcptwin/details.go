package gcptwin

import (
	"encoding/json"
	"maps"
	"slices"
)

// Describe adds to what answers tell of a resource: the objects whose name it is get more, which is JSON as the API writes it. It is for
// what the provider reads and the twin has no part in.
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

// merge puts what is in more into an object, and into the objects in it.
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
