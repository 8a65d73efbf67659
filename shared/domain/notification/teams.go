package notification

import "maps"

// maxTeams is the maximum size of a message to a workflow of Microsoft Teams, in bytes.
const maxTeams = 28_000

// WriteTeams encodes the body of a message for a workflow of Microsoft Teams: an Adaptive Card 1.4 in the envelope
// that workflows accept. Texts of users are TextRuns, which Teams does not parse as Markdown.
func WriteTeams(c *MessageContent) ([]byte, error) { return fitted(c, maxTeams, teams) }

// teamsColors are the colours of titles.
var teamsColors = map[Tone]string{Good: "good", Neutral: "default", Warning: "warning", Bad: "attention"}

func teams(c *MessageContent) ([]byte, error) {
	body := []any{
		object{
			"type": "TextBlock", "text": c.Title, "weight": "bolder", "size": "medium", "wrap": true,
			"color": teamsColors[c.Tone],
		},
		teamsText(c.Summary, nil),
	}
	if c.Text != "" {
		body = append(body, teamsText(c.Text, nil))
	}
	for _, line := range lines(c) {
		body = append(body, teamsText(line, nil))
	}
	for _, f := range c.Facts {
		body = append(body, teamsFact(f))
	}
	body = append(body, teamsText(c.Footer, object{"isSubtle": true, "size": "small"}))
	card := object{
		"$schema": "http://adaptivecards.io/schemas/adaptive-card.json", "type": "AdaptiveCard", "version": "1.4",
		"msteams":      object{"width": "Full"},
		"fallbackText": c.Title, "body": body,
	}
	if c.Link != "" {
		card["actions"] = []any{object{"type": "Action.OpenUrl", "title": "Open", "url": c.Link}}
	}
	attachment := object{"contentType": "application/vnd.microsoft.card.adaptive", "contentUrl": nil, "content": card}
	return encode(object{"type": "message", "attachments": []any{attachment}})
}

// teamsText returns a wrapping block of text without Markdown.
func teamsText(s string, more object) object {
	run := object{"type": "TextRun", "text": s}
	maps.Copy(run, more)
	return object{"type": "RichTextBlock", "inlines": []any{run}}
}

func teamsFact(f Fact) object {
	label := object{"type": "TextBlock", "text": f.Label, "weight": "bolder", "wrap": true}
	return object{"type": "ColumnSet", "spacing": "small", "columns": []any{
		object{"type": "Column", "width": "130px", "items": []any{label}},
		object{"type": "Column", "width": "stretch", "items": []any{teamsText(f.Value, nil)}},
	}}
}
