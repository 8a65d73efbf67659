package settings

import (
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"lamplighter.dev/shared/cloud/definition"
)

// variable is a place in a template: {name} is a part of the resource's UID, {.Path} a value of its present definition,
// {was.Path} one of its definition before the change.
var variable = regexp.MustCompile(`\{[\w.]+\}`)

// scope is what the variables of a template stand for.
type scope struct {
	parts    map[string]string
	now, was map[string]any
}

// value returns what a variable stands for, nil for nothing.
func (s scope) value(variable string) any {
	name := strings.Trim(variable, "{}")
	switch {
	case strings.HasPrefix(name, "."):
		return find(s.now, name[1:])
	case strings.HasPrefix(name, "was."):
		return find(s.was, strings.TrimPrefix(name, "was."))
	case s.parts[name] == "":
		return nil
	}
	return s.parts[name]
}

// text fills a template.
func (s scope) text(template string) string {
	return variable.ReplaceAllStringFunc(template, func(v string) string { return textOf(s.value(v)) })
}

// fill fills the texts in a parameter. A text that is one variable becomes the value itself, nil if there is none.
func (s scope) fill(v any) any {
	switch v := v.(type) {
	case given:
		return v.value
	case string:
		if variable.FindString(v) == v && v != "" {
			return s.value(v)
		}
		return s.text(v)
	case []any:
		out := make([]any, len(v))
		for i := range v {
			out[i] = s.fill(v[i])
		}
		return out
	case map[string]any:
		out := map[string]any{}
		for name, to := range v {
			if to = s.fill(to); to != nil {
				out[name] = to
			}
		}
		return out
	}
	return v
}

// given is a value of a request: it is sent as it is, whatever is in it.
type given struct{ value any }

// params are the parameters of a call by their paths. Of a form, the paths are the complete names.
type params map[string]any

// fillIn returns the body of a call: an object for JSON, else names with dots. Parameters without a value are left out.
func (s scope) fillIn(p params, isForm bool) map[string]any {
	body := definition.Document{}
	for _, path := range slices.Sorted(maps.Keys(p)) { // an object is put before its members
		v := s.fill(p[path])
		list, isList := v.([]any)
		switch {
		case v == nil:
		case !isForm:
			body.Put(path, clone(v))
		case isList:
			for i, one := range list {
				body[path+"."+strconv.Itoa(i+1)] = one
			}
		default:
			body[path] = v
		}
	}
	return body
}

// clone copies the objects of a value, so that a member can be put into them.
func clone(v any) any {
	m, is := v.(map[string]any)
	if !is {
		return v
	}
	out := make(map[string]any, len(m))
	for name, under := range m {
		out[name] = clone(under)
	}
	return out
}

// uidPattern returns the expression of a pattern of UIDs: {name} stands for a part without separators, {name*} for
// the rest.
func uidPattern(pattern string) *regexp.Regexp {
	text := regexp.QuoteMeta(pattern)
	text = regexp.MustCompile(`\\\{(\w+)\\\*\\\}`).ReplaceAllString(text, `(?P<$1>.+)`)
	text = regexp.MustCompile(`\\\{(\w+)\\\}`).ReplaceAllString(text, `(?P<$1>[^/:]+)`)
	return regexp.MustCompile("^" + text + "$")
}

// partsOf returns the parts of a UID by a pattern of what follows the account in its ARN; false if it is none of it.
// Each UID has the parts arn and id, which is what follows the last slash.
func partsOf(uid, pattern string) (map[string]string, bool) {
	parts := map[string]string{"arn": uid, "id": uid[strings.LastIndex(uid, "/")+1:]}
	if pattern == "" {
		return parts, true
	}
	f := strings.SplitN(uid, ":", 6)
	re := uidPattern(pattern)
	m := re.FindStringSubmatch(strings.TrimSuffix(f[len(f)-1], ":*"))
	if m == nil || len(f) < 6 {
		return nil, false
	}
	for i, name := range re.SubexpNames() {
		if name != "" {
			parts[name] = m[i]
		}
	}
	return parts, true
}
