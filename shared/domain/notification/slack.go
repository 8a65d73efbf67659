package notification

import (
	"bytes"
	"encoding/json"
	"fmt"
)

// The limits of Slack's Block Kit.
const (
	slackHeader = 150
	slackText   = 3_000
	slackField  = 2_000
	slackFields = 10 // per section: two for a fact, its label and its value
)

// WriteSlack encodes the body of a message for an incoming webhook of Slack: blocks and a fallback line. Texts of
// users are plain_text, so Slack does not format, link or mention in them.
func WriteSlack(c *MessageContent) ([]byte, error) {
	blocks := []any{object{"type": "header", "text": slackPlain(c.Title, slackHeader)}}
	blocks = append(blocks, object{"type": "section", "text": slackPlain(c.Summary, slackText)})
	if c.Text != "" {
		blocks = append(blocks, object{"type": "section", "text": slackPlain(c.Text, slackText)})
	}
	for _, line := range lines(c) {
		blocks = append(blocks, object{"type": "section", "text": slackPlain(line, slackText)})
	}
	for from := 0; from < len(c.Facts); from += slackFields / 2 {
		blocks = append(blocks,
			object{"type": "section", "fields": slackFacts(c.Facts[from:min(from+slackFields/2, len(c.Facts))])})
	}
	blocks = append(blocks, object{"type": "context", "elements": []any{slackPlain(c.Footer, slackField)}})
	if c.Link != "" {
		button := object{"type": "button", "text": slackPlain("Open", 75), "url": c.Link}
		blocks = append(blocks, object{"type": "actions", "elements": []any{button}})
	}
	return encode(object{"text": escaped(c.Title+": "+c.Summary, slackText, entities), "blocks": blocks})
}

func slackFacts(facts []Fact) []any {
	var out []any
	for _, f := range facts {
		label := object{"type": "mrkdwn", "text": "*" + f.Label + "*", "verbatim": true}
		out = append(out, label, slackPlain(f.Value, slackField))
	}
	return out
}

func slackPlain(s string, most int) object {
	return object{"type": "plain_text", "text": escaped(s, most-1, entities), "emoji": false} // and an ellipsis
}

// object is a JSON object; its members are encoded in the order of their names.
type object map[string]any

// encode encodes a body without HTML escapes, which would make it up to six times as long.
func encode(v any) ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		return nil, fmt.Errorf("encode a message: %w", err)
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), nil
}

// lines returns the bullet lines of a digest.
func lines(c *MessageContent) []string {
	var out []string
	for _, line := range c.Lines {
		out = append(out, "• "+line)
	}
	if c.More > 0 && len(out) > 0 {
		out = append(out, fmt.Sprintf("and %d more", c.More))
	}
	return out
}

// fitted encodes a content with write and shortens it until the result is no longer than most bytes.
func fitted(c *MessageContent, most int, write func(*MessageContent) ([]byte, error)) ([]byte, error) {
	short := *c
	for {
		b, err := write(&short)
		if err != nil || len(b) <= most || !shorten(&short) {
			return b, err
		}
	}
}

// shorten removes the least important part of a content. It returns false when nothing can be removed.
func shorten(c *MessageContent) bool {
	half := func(s string) string { r := []rune(s); return string(r[:len(r)/2]) + "…" }
	switch {
	case len(c.Text) > longestName:
		c.Text = half(c.Text)
	case len(c.Lines) > 1:
		c.Lines, c.More = c.Lines[:len(c.Lines)-1], c.More+1
	case len(c.Facts) > 1:
		c.Facts = c.Facts[:len(c.Facts)-1]
	case len(c.Summary) > longestName:
		c.Summary = half(c.Summary)
	default:
		return false
	}
	return true
}
