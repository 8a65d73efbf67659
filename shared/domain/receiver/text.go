package receiver

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"lamplighter.dev/shared/domain/event"
	"lamplighter.dev/shared/foundation/fault"
)

// The bounds of what is told of an event.
const (
	maxTitle = 200 // characters
	maxFact  = 300
	maxFacts = 30
)

// fact is one thing that an event says.
type fact struct{ Name, Text string }

// titleOf says in one line what happened to what.
func titleOf(e *event.Event) string {
	name := e.Key
	if t, known := event.TypeOf(e.Key); known {
		name = t.Name
	}
	return fault.CleanText(name+": "+aboutOf(e), maxTitle)
}

// aboutOf names what the event is about, as people call it where the event says that.
func aboutOf(e *event.Event) string {
	var named map[string]any
	_ = json.Unmarshal(e.Data, &named) // an event without data has its subject
	for _, member := range []string{"resourceName", "name", "scopeName", "resourceUID"} {
		if s, ok := named[member].(string); ok && s != "" {
			return s
		}
	}
	if e.ScopeID != "" {
		return e.ScopeID
	}
	return e.Subject
}

// factsOf lists what the event says: its scope, and the plain members of its data by their names. All of it may be of somebody's making, and is
// cut to one line each.
func factsOf(e *event.Event) []fact {
	out := []fact{{"event", e.Key}, {"at", e.At.UTC().Format("2006-01-02 15:04:05 UTC")}, {"about", e.Subject}}
	if e.ScopeID != "" {
		out = append(out, fact{e.ScopeType, e.ScopeID})
	}
	var data map[string]any
	_ = json.Unmarshal(e.Data, &data)
	for _, name := range slices.Sorted(maps.Keys(data)) {
		switch v := data[name].(type) {
		case string, float64, bool:
			out = append(out, fact{name, fmt.Sprint(v)})
		}
	}
	out = out[:min(len(out), maxFacts)]
	for i := range out {
		out[i] = fact{fault.CleanText(out[i].Name, maxFact), fault.CleanText(out[i].Text, maxFact)}
	}
	return out
}

// threadOf names what an event belongs to, so that further ones find the alert or the issue of the first: the resource, or else the record that
// it is about.
func threadOf(e *event.Event) string {
	if t, _ := event.TypeOf(e.Key); t.Category == "resource" && e.ScopeID != "" {
		return e.ScopeType + "/" + e.ScopeID
	}
	return e.Subject
}

// severityOf returns how bad an event is, in the words of PagerDuty.
func severityOf(key string) string {
	switch {
	case strings.HasSuffix(key, ".emergency"):
		return "critical"
	case strings.HasSuffix(key, ".critical"), strings.HasSuffix(key, ".exceeded"), key == event.ResourceFailed,
		key == event.ResourceRetryExhausted:
		return "error"
	case strings.HasSuffix(key, ".warning"):
		return "warning"
	}
	return "info"
}
