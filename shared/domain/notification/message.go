// Package message writes what people are told of: an event, or several of one key as a digest, as a message of a chat or a mail. What users
// named is text in all of them, never markup, a mention or a link.
package notification

import (
	"encoding/json"
	"strings"
	"time"

	"lamplighter.dev/shared/domain/event"
)

// The keys of what no event causes.
const (
	TestMessage          = "test"                  // a message that shows that a channel works
	RecommendationShared = "recommendation.shared" // a recommendation that a person shares; its data is the recommendation
)

// Notice is what somebody is told of.
type Notice struct {
	Organisation string        // the name of the organization
	BaseURL      string        // where the API is, without a slash at the end; empty where it is not known
	Events       []event.Event // at least one; more than one are a digest
	Total        int           // how many events it stands for; at least as many as there are
	Text         string        // what a person wrote besides
	Unsubscribe  string        // where who gets the mail ends it; empty where there is no such place
}

// Tone is how a message looks.
type Tone string

// The tones.
const (
	Good    Tone = "good"
	Neutral Tone = "neutral"
	Warning Tone = "warning"
	Bad     Tone = "bad"
)

// Fact is a line of what is known.
type Fact struct{ Label, Value string }

// Bar is a line of a chart.
type Bar struct {
	Label  string
	Value  string // as it is shown
	Length int    // of the longest, in hundredths
	Strong bool   // it is what the message is about
}

// MessageContent is what a message says, before it is written for where it goes: plain text without line breaks, in which nothing is escaped yet.
type MessageContent struct {
	Title   string // ours alone
	Tone    Tone
	Summary string // a sentence, with names of users in it
	Text    string // what a person wrote; the only one with line breaks
	Facts   []Fact
	Bars    []Bar
	Lines   []string // of a digest
	More    int      // how many the digest stands for besides
	Link    string   // our own
	Footer  string
	Thread  string // messages of one are shown together where a chat can
	ID      string // of the first event

	organisation string // how the footer begins
	unsubscribe  string
}

// How long texts are, in characters.
const (
	longestName  = 200
	longestError = 500
	longestText  = 2_000
	digestLines  = 10
)

// ComposeMessage says what a notice says.
func ComposeMessage(n *Notice) MessageContent {
	e := &n.Events[0]
	total := max(n.Total, len(n.Events))
	c := describe(e)
	if total > 1 {
		c = digest(n.Events, total, c)
	}
	c.ID, c.Text, c.unsubscribe = e.ID, cleanLines(n.Text, longestText), n.Unsubscribe
	c.organisation = name(n.Organisation)
	c.Footer = strings.Join(nonEmpty(c.organisation, e.Key, timeOf(e.At)), " · ")
	if total == 1 {
		c.Link = linkTo(n.BaseURL, e.Subject)
	}
	c.Thread = e.Key + "/" + e.Subject
	return c
}

// digest tells of several events of one key at once.
func digest(events []event.Event, total int, first MessageContent) MessageContent {
	c := MessageContent{Title: first.Title + ": " + count(total), Tone: first.Tone}
	for i := range events[:min(len(events), digestLines)] {
		c.Lines = append(c.Lines, describe(&events[i]).Summary)
	}
	c.More = total - len(c.Lines)
	c.Summary = count(total) + " from " + timeOf(events[0].At) + " on."
	return c
}

// describe says what a single event says.
func describe(e *event.Event) MessageContent {
	switch category(e.Key) {
	case "resource":
		return ofResource(e)
	case "budget":
		return ofBudget(e)
	case "cost_anomaly":
		return ofAnomaly(e)
	}
	if e.Key == RecommendationShared {
		return ofRecommendation(e)
	}
	return MessageContent{
		Title: "Test message", Tone: Neutral,
		Summary: "This is how notifications of the organization look here. Nothing has happened, and there is " +
			"nothing to do.",
	}
}

func category(key string) string {
	t, _ := event.TypeOf(key)
	return t.Category
}

// read reads the data of an event; what is not in it, or has another form, is left as it is: a message with less in it is better than none.
func read[T any](e *event.Event) T {
	var out T
	_ = json.Unmarshal(e.Data, &out) //nolint:errcheck // see above
	return out
}

// paths are where records are read in the API, by how their ids begin.
var paths = map[string]string{
	"act": "/actions/", "bulk": "/actions/bulk/", "bud": "/budgets/", "ovr": "/overrides/", "res": "/resources/",
	"grp": "/resource-groups/", "rec": "/recommendations/",
}

// linkTo returns where the record is read; nothing of one that has no place of its own, or where the API's is not known.
func linkTo(base, subject string) string {
	kind, _, _ := strings.Cut(subject, "_")
	path, known := paths[kind]
	if !known || !strings.HasPrefix(base, "https://") && !strings.HasPrefix(base, "http://") ||
		strings.ContainsFunc(subject, notInID) {
		return ""
	}
	return base + path + subject
}

func notInID(r rune) bool { return r != '_' && (r < '0' || r > '9') && (r < 'a' || r > 'z') }

func timeOf(at time.Time) string { return at.UTC().Format("2006-01-02 15:04 UTC") }
