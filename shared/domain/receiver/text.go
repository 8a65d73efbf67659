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

// The limits of texts about an event.
const (
	maxTitle = 200 // characters
	maxFact  = 300
	maxFacts = 30
)

// fact is a name and a value from an event.
type fact struct{ Name, Text string }

// titleOf returns a one-line title: the type and the subject of the event.
func titleOf(e *event.Event) string {
	name := e.Key
	if t, known := event.TypeOf(e.Key); known {
		name = t.Name
	}
	return fault.CleanText(name+": "+aboutOf(e), maxTitle)
}

// aboutOf returns the display name of the event's subject, or else its ID.
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

// factsOf returns the event's scope and the scalar fields of its data. All of it is untrusted, so each text is cut to
// one line.
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

// threadOf returns the thread of an event, so that further events find the alert or the issue of the first one: the
// resource, or else the subject.
func threadOf(e *event.Event) string {
	if t, _ := event.TypeOf(e.Key); t.Category == "resource" && e.ScopeID != "" {
		return e.ScopeType + "/" + e.ScopeID
	}
	return e.Subject
}

// severityOf returns the PagerDuty severity of an event.
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
