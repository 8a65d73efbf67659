package audit

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	secrets "lamplighter.dev/shared/foundation/redact"
)

// Redacted replaces a secret.
const Redacted = secrets.Mark

// The limits of one side of a change. Including the last member, which may exceed the budget, a side has at most 8 kB.
const (
	sideBudget = 6000 // bytes of JSON; further members are only counted
	maxText    = 1000 // bytes of JSON of a string
	maxName    = 128  // bytes of a member's name
	deepest    = 12   // levels
)

// unshown replaces values that cannot be encoded as JSON.
const unshown = "[cannot be shown]"

// redactValue returns v, which decodeJSON returned, without secrets and within the limits of a side.
func redactValue(v any) any {
	if v == nil {
		return nil
	}
	p := pruner{left: sideBudget}
	return p.copyValue(v, 1)
}

// pruner copies a value up to a size.
type pruner struct{ left int }

func (p *pruner) copyValue(v any, depth int) any {
	switch v := v.(type) {
	case map[string]any:
		return p.copyObject(v, depth)
	case []any:
		return p.copyList(v, depth)
	case string:
		return p.cutText(v)
	case json.Number:
		if len(v) > 64 {
			return p.cutText(string(v[:64]) + "…")
		}
		p.left -= len(v)
		return v
	default:
		p.left -= len("false")
		return v
	}
}

// cutText returns s, cut if it is too long.
func (p *pruner) cutText(s string) string {
	if SecretText(s) {
		s = Redacted
	}
	size := len(canonicalText(nil, s[:min(len(s), maxText+1)]))
	if size > maxText {
		s = fmt.Sprintf("%s… (%d bytes)", strings.ToValidUTF8(s[:maxText/6], ""), len(s))
		size = len(canonicalText(nil, s))
	}
	p.left -= size
	return s
}

func (p *pruner) copyList(list []any, depth int) any {
	if depth > deepest {
		return p.cutText("[nested too deep]")
	}
	out := []any{}
	for i, v := range list {
		if p.left <= 0 {
			return append(out, fmt.Sprintf("… %d more", len(list)-i))
		}
		out = append(out, p.copyValue(v, depth+1))
		p.left--
	}
	return out
}

func (p *pruner) copyObject(object map[string]any, depth int) any {
	if depth > deepest {
		return p.cutText("[nested too deep]")
	}
	out, pair := map[string]any{}, secretPair(object)
	for i, name := range slices.Sorted(maps.Keys(object)) {
		if p.left <= 0 {
			out["…"] = fmt.Sprintf("%d more", len(object)-i)
			break
		}
		if v := object[name]; pair && name == "value" {
			out[name] = p.memberValue("secret", v, depth)
		} else {
			out[p.memberName(name)] = p.memberValue(name, v, depth)
		}
	}
	return out
}

// secretPair reports whether an object holds the name of a secret in one member and its value in another, like lists of
// environment variables.
func secretPair(object map[string]any) bool {
	name, _ := object["name"].(string)
	return SecretName(name)
}

// memberName returns the name of a member. It may contain a secret.
func (p *pruner) memberName(name string) string {
	if SecretText(name) {
		name = Redacted
	}
	if len(name) > maxName {
		name = strings.ToValidUTF8(name[:maxName], "") + "…"
	}
	p.left -= len(canonicalText(nil, name)) + 2
	return name
}

// memberValue returns the value of a member, redacted if its name is that of a secret. true, false, null and the empty
// string stay, because they only tell whether there is a secret.
func (p *pruner) memberValue(name string, v any, depth int) any {
	switch v.(type) {
	case nil, bool:
		return p.copyValue(v, depth)
	}
	if v != "" && SecretName(name) {
		return p.cutText(Redacted)
	}
	return p.copyValue(v, depth+1)
}

// SecretName reports whether a member with this name holds a secret.
func SecretName(name string) bool { return secrets.IsSecretName(name) }

// SecretText reports whether s contains text that looks like a secret.
func SecretText(s string) bool { return secrets.HoldsSecret(s) }
