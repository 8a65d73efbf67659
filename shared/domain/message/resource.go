package message

import (
	"strings"

	"lamplighter.dev/shared/domain/event"
)

// resource is the data of an event of a resource, or of an override.
type resource struct {
	Name           string `json:"name"`
	ResourceName   string `json:"resourceName"`
	ResourceUID    string `json:"resourceUID"`
	ResourceType   string `json:"resourceType"`
	Provider       string `json:"provider"`
	Region         string `json:"region"`
	CloudAccountID string `json:"cloudAccountID"`
	GroupID        string `json:"groupID"`
	Action         string `json:"action"`
	Reason         string `json:"reason"`
	ErrorMessage   string `json:"errorMessage"`
	ExpiresAt      string `json:"expiresAt"`
	CreatedBy      string `json:"createdBy"`
}

// sentences are what happened to something, behind its name.
var sentences = map[string]string{
	event.ResourceStarted: "was started", event.ResourceStopped: "was stopped", event.ResourceFailed: "could not be changed",
	event.ResourceOverride: "has an override", event.ResourceRetryExhausted: "could not be changed, and is not tried again",
}

var tones = map[string]Tone{
	event.ResourceStarted: Good, event.ResourceStopped: Neutral, event.ResourceOverride: Neutral,
	event.ResourceFailed: Bad, event.ResourceRetryExhausted: Bad, "budget.warning": Warning, "budget.exceeded": Bad,
}

// verbs say what could not be done.
var verbs = map[string]string{"start": "could not be started", "stop": "could not be stopped"}

func ofResource(e *event.Event) Content {
	d := read[resource](e)
	t, _ := event.TypeOf(e.Key)
	uid := d.ResourceUID
	if uid == "" && e.ScopeType == event.ScopeResource {
		uid = e.ScopeID
	}
	what := firstOf(d.Name, d.ResourceName, uid, d.GroupID, e.ScopeID, "Something")
	c := Content{Title: t.Name, Tone: tones[e.Key]}
	said := sentences[e.Key]
	if v, ok := verbs[d.Action]; ok && c.Tone == Bad {
		said = strings.Replace(said, "could not be changed", v, 1)
	}
	c.Summary = name(what) + " " + said
	if where := strings.Join(nonEmpty(clean(d.ResourceType, longestName), clean(d.Region, longestName)), ", "); where != "" {
		c.Summary += " (" + where + ")"
	}
	if d.ErrorMessage != "" {
		c.Summary += ": " + aside(clean(d.ErrorMessage, longestError))
	}
	c.Facts = facts(
		Fact{"Resource", name(what)}, Fact{"Native id", other(name(uid), name(what))}, Fact{"Type", name(d.ResourceType)}, Fact{"Region", name(d.Region)},
		Fact{"Cloud account", name(d.CloudAccountID)}, Fact{"Group", other(name(d.GroupID), name(what))}, Fact{"Action", name(d.Action)}, Fact{"Reason", name(d.Reason)},
		Fact{"Until", instant(d.ExpiresAt)}, Fact{"By", name(d.CreatedBy)}, Fact{"Error", aside(clean(d.ErrorMessage, longestError))},
	)
	return c
}

// firstOf returns the first text in which something is seen.
func firstOf(all ...string) string {
	for _, s := range all {
		if clean(s, 1) != "" {
			return s
		}
	}
	return ""
}

// other returns s unless it is what has been said.
func other(s, said string) string {
	if s == said {
		return ""
	}
	return s
}
