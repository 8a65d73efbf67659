package audit

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	secrets "lamplighter.dev/shared/foundation/redact"
)

// Redacted stands for a secret.
const Redacted = secrets.Mark

// The bounds of one side of a change. With what a last member may have over, a side is 8 kB at most.
const (
	sideBudget = 6000 // bytes of JSON, after which members are only counted
	maxText    = 1000 // bytes of JSON of a string
	maxName    = 128  // bytes of a member's name
	deepest    = 12   // levels
)

// unshown stands for what cannot be written as JSON.
const unshown = "[cannot be shown]"

// redactValue is v, made of what decode gives, without its secrets and no longer than a side may be.
func redactValue(v any) any {
	if v == nil {
		return nil
	}
	p := pruner{left: sideBudget}
	return p.value(v, 1)
}

// pruner copies a value while there is room.
type pruner struct{ left int }

func (p *pruner) value(v any, depth int) any {
	switch v := v.(type) {
	case map[string]any:
		return p.object(v, depth)
	case []any:
		return p.list(v, depth)
	case string:
		return p.text(v)
	case json.Number:
		if len(v) > 64 {
			return p.text(string(v[:64]) + "…")
		}
		p.left -= len(v)
		return v
	default:
		p.left -= len("false")
		return v
	}
}

// text is s, cut where it is too long.
func (p *pruner) text(s string) string {
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

func (p *pruner) list(list []any, depth int) any {
	if depth > deepest {
		return p.text("[nested too deep]")
	}
	out := []any{}
	for i, v := range list {
		if p.left <= 0 {
			return append(out, fmt.Sprintf("… %d more", len(list)-i))
		}
		out = append(out, p.value(v, depth+1))
		p.left--
	}
	return out
}

func (p *pruner) object(object map[string]any, depth int) any {
	if depth > deepest {
		return p.text("[nested too deep]")
	}
	out, pair := map[string]any{}, secretPair(object)
	for i, name := range slices.Sorted(maps.Keys(object)) {
		if p.left <= 0 {
			out["…"] = fmt.Sprintf("%d more", len(object)-i)
			break
		}
		if v := object[name]; pair && name == "value" {
			out[name] = p.member("secret", v, depth)
		} else {
			out[p.name(name)] = p.member(name, v, depth)
		}
	}
	return out
}

// secretPair reports whether an object gives a secret its name in one member and its value in another, as the environment
// of a program is listed.
func secretPair(object map[string]any) bool {
	name, _ := object["name"].(string)
	return SecretName(name)
}

// name returns the name of a member; somebody may have made one of a secret.
func (p *pruner) name(name string) string {
	if SecretText(name) {
		name = Redacted
	}
	if len(name) > maxName {
		name = strings.ToValidUTF8(name[:maxName], "") + "…"
	}
	p.left -= len(canonicalText(nil, name)) + 2
	return name
}

// member returns the value of a member, redacted when its name says that it is a secret. Whether there is a secret at all is
// none: true, false, null and the empty string stay.
func (p *pruner) member(name string, v any, depth int) any {
	switch v.(type) {
	case nil, bool:
		return p.value(v, depth)
	}
	if v != "" && SecretName(name) {
		return p.text(Redacted)
	}
	return p.value(v, depth+1)
}

// SecretName reports whether a member of this name holds a secret.
func SecretName(name string) bool { return secrets.IsSecretName(name) }

// SecretText reports whether s holds what looks like a secret, whatever it is called.
func SecretText(s string) bool { return secrets.HoldsSecret(s) }
