package notification

import (
	"strings"

	"lamplighter.dev/shared/domain/event"
)

// resource is the data of a resource event, as written by execution.Told, or of an override event, as written by
// evaluation.ToldOverride.
type resource struct {
	ResourceName   string `json:"resourceName"`
	ResourceUID    string `json:"resourceUID"`
	ResourceType   string `json:"resourceType"`
	Region         string `json:"region"`
	CloudAccountID string `json:"cloudAccountID"`
	CloudAccount   string `json:"cloudAccount"` // its name
	GroupID        string `json:"groupID"`
	GroupName      string `json:"groupName"`
	Resources      int    `json:"resources"` // the number of resources that an override holds
	Action         string `json:"action"`
	Reason         string `json:"reason"`
	ChangedBy      string `json:"changedBy"`
	CreatedBy      string `json:"createdBy"`
	Attempts       int    `json:"attempts"`
	ExpiresAt      string `json:"expiresAt"`
	ErrorMessage   string `json:"errorMessage"`
}

// sentences are the predicates of event sentences; the resource's name goes before them.
var sentences = map[string]string{
	event.ResourceStarted: "was started", event.ResourceStopped: "was stopped",
	event.ResourceFailed:         "could not be changed",
	event.ResourceOverride:       "is held by an override",
	event.ResourceRetryExhausted: "could not be changed, and is not tried again",
}

var tones = map[string]Tone{
	event.ResourceStarted: Good, event.ResourceStopped: Neutral, event.ResourceOverride: Neutral,
	event.ResourceFailed: Bad, event.ResourceRetryExhausted: Bad, "budget.warning": Warning, "budget.exceeded": Bad,
}

// verbs are more precise predicates, by the action of the event.
var verbs = map[string]string{
	"start": "could not be started", "stop": "could not be stopped", "force_on": "is held on",
	"force_off": "is held off",
}

func ofResource(e *event.Event) MessageContent {
	d := read[resource](e)
	t, _ := event.TypeOf(e.Key)
	uid := d.ResourceUID
	if uid == "" && e.ScopeType == event.ScopeResource {
		uid = e.ScopeID
	}
	what := name(firstOf(d.ResourceName, uid, d.GroupName, d.GroupID, e.ScopeID, "Something"))
	c := MessageContent{Title: t.Name, Tone: tones[e.Key], Summary: what + " " + d.said(e.Key)}
	if where := strings.Join(nonEmpty(clean(d.ResourceType, longestName), clean(d.Region, longestName)),
		", "); where != "" {
		c.Summary += " (" + where + ")"
	}
	c.Summary += d.why()
	c.Facts = d.facts(what, uid)
	return c
}

// said returns the predicate of the event's sentence.
func (d *resource) said(key string) string {
	said, verb := sentences[key], verbs[d.Action]
	switch {
	case verb == "":
	case key == event.ResourceOverride:
		said = verb
	case key == event.ResourceFailed, key == event.ResourceRetryExhausted:
		said = strings.Replace(said, "could not be changed", verb, 1)
	}
	return said
}

func (d *resource) why() string {
	if d.ErrorMessage == "" {
		return ""
	}
	return ": " + aside(clean(d.ErrorMessage, longestError))
}

func (d *resource) facts(what, uid string) []Fact {
	return facts(
		Fact{"Resource", name(firstOf(d.ResourceName, uid))}, Fact{"Native id", other(name(uid), what)},
		Fact{"Type", name(d.ResourceType)}, Fact{"Region", name(d.Region)},
		Fact{"Cloud account", name(firstOf(d.CloudAccount, d.CloudAccountID))},
		Fact{"Group", name(firstOf(d.GroupName, d.GroupID))}, Fact{"Resources", number(d.Resources)},
		Fact{"Action", name(d.Action)}, Fact{"Reason", name(d.Reason)},
		Fact{byLabel, name(firstOf(d.ChangedBy, d.CreatedBy))}, Fact{"Tries", number(d.Attempts)},
		Fact{"Until", instant(d.ExpiresAt)}, Fact{"Error", aside(clean(d.ErrorMessage, longestError))},
	)
}

// firstOf returns the first text with a visible character.
func firstOf(all ...string) string {
	for _, s := range all {
		if clean(s, 1) != "" {
			return s
		}
	}
	return ""
}

// other returns s, or "" when s equals said.
func other(s, said string) string {
	if s == said {
		return ""
	}
	return s
}
