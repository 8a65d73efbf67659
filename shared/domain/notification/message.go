package notification

import (
	"cmp"
	"encoding/json"
	"strings"
	"time"

	"lamplighter.dev/shared/domain/event"
	"lamplighter.dev/shared/engine/mail"
)

// The keys of messages that no event causes.
const (
	TestMessage = "test" // checks that a channel works
	// RecommendationShared is a recommendation shared by a person. Its data is a Recommendation.
	RecommendationShared = "recommendation.shared"
)

// Notice is the input of a message.
type Notice struct {
	Organisation string        // the name of the organization
	BaseURL      string        // of the API, without a trailing slash; empty when unknown
	Events       []event.Event // at least one; several make a digest
	Total        int           // the number of events it stands for; at least len(Events)
	Text         string        // an additional text written by a person
	Unsubscribe  string        // the address that ends the mails; empty when there is none
	Reason       string        // why a mail is sent; empty for that of a channel
}

// Tone selects the colour of a message.
type Tone string

// The tones.
const (
	Good    Tone = "good"
	Neutral Tone = "neutral"
	Warning Tone = "warning"
	Bad     Tone = "bad"
)

// Fact is a labelled value in a message.
type Fact struct{ Label, Value string }

// The labels of facts whose value is a member's address.
const (
	byLabel       = "By"
	sharedByLabel = "Shared by"
)

// Bar is a line of a chart.
type Bar struct {
	Label  string
	Value  string // as displayed
	Length int    // relative to the longest bar, in hundredths
	Strong bool   // the main value of the message
}

// MessageContent is the content of a message before it is encoded for its destination: plain text without line
// breaks, not yet escaped.
type MessageContent struct {
	Title   string // contains no text of users
	Tone    Tone
	Summary string // a sentence; may contain names of users
	Text    string // written by a person; the only field with line breaks
	Facts   []Fact
	Bars    []Bar
	Lines   []string // of a digest
	More    int      // the number of further events in the digest
	Link    string   // to our own API, for chats
	Footer  string
	Thread  string // a chat with threads groups messages by it
	ID      string // of the first event

	organisation string // the first part of the footer
	unsubscribe  string
	// of mails: the address of the service's page, the operation that reads the record, and why the mail is sent
	page, operation, why string
}

// The maximum lengths of texts, in characters.
const (
	longestName  = 200
	longestError = 500
	longestText  = 2_000
	digestLines  = 10
)

// ComposeMessage returns the content of a notice.
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
		c.operation = strings.TrimPrefix(c.Link, n.BaseURL)
	}
	c.page, c.why = mail.ServicePage(n.BaseURL), mail.WhySent(cmp.Or(n.Reason, channelReason))
	c.Thread = e.Key + "/" + e.Subject
	return c
}

// Why a mail is sent: the address is a channel, or its user wants mails of such events.
const (
	channelReason    = "this address is a notification channel of the organization"
	preferenceReason = "you have switched on mails of such events"
)

// digest returns the content for several events with one key.
func digest(events []event.Event, total int, first MessageContent) MessageContent {
	c := MessageContent{Title: first.Title + ": " + count(total), Tone: first.Tone}
	for i := range events[:min(len(events), digestLines)] {
		c.Lines = append(c.Lines, describe(&events[i]).Summary)
	}
	c.More = total - len(c.Lines)
	c.Summary = count(total) + " from " + timeOf(events[0].At) + " on."
	return c
}

// describe returns the content of a single event.
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

// read decodes the data of an event. Missing or malformed fields stay empty: an incomplete message is better than no
// message.
func read[T any](e *event.Event) T {
	var out T
	_ = json.Unmarshal(e.Data, &out) //nolint:errcheck // see above
	return out
}

// paths are the API paths of records, by the prefix of their IDs.
var paths = map[string]string{
	"act": "/actions/", "bulk": "/actions/bulk/", "bud": "/budgets/", "ovr": "/overrides/", "res": "/resources/",
	"grp": "/resource-groups/", "rec": "/recommendations/",
}

// linkTo returns the address of a record in the API. It returns "" when the record has no page or the API's address
// is unknown.
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
