package notification

import (
	"fmt"
	"strings"
)

// maxGoogleChat is the maximum size of a Google Chat message, in bytes.
const maxGoogleChat = 32_000

// WriteGoogleChat encodes the body of a message for a Google Chat webhook: a card, a fallback line, and its thread.
// Send it with messageReplyOption=REPLY_MESSAGE_FALLBACK_TO_NEW_THREAD.
func WriteGoogleChat(c *MessageContent) ([]byte, error) { return fitted(c, maxGoogleChat, googleChat) }

func googleChat(c *MessageContent) ([]byte, error) {
	widgets := []any{object{"textParagraph": object{"text": asHTML(c.Summary)}}}
	if c.Text != "" {
		widgets = append(widgets,
			object{"textParagraph": object{"text": strings.ReplaceAll(asHTML(c.Text), "\n", "<br>")}})
	}
	if all := lines(c); len(all) > 0 {
		widgets = append(widgets, object{"textParagraph": object{"text": asHTML(strings.Join(all, "\n"))}})
	}
	for _, f := range c.Facts {
		widgets = append(widgets,
			object{"decoratedText": object{"topLabel": f.Label, "text": asHTML(f.Value), "wrapText": true}})
	}
	widgets = append(widgets,
		object{"textParagraph": object{"text": fmt.Sprintf("<font color=\"#5f6368\">%s</font>", asHTML(c.Footer))}})
	if c.Link != "" {
		button := object{"text": "Open", "onClick": object{"openLink": object{"url": c.Link}}}
		widgets = append(widgets, object{"buttonList": object{"buttons": []any{button}}})
	}
	card := object{"header": object{"title": c.Title}, "sections": []any{object{"widgets": widgets}}}
	return encode(object{
		"text":    escaped(c.Title+": "+c.Summary, longestText, unmarked),
		"cardsV2": []any{object{"cardId": "notice", "card": card}},
		"thread":  object{"threadKey": escaped(c.Thread, longestName, plain)},
	})
}

// asHTML escapes a text for a card, where a few tags are formatting.
func asHTML(s string) string { return escaped(s, len(s)*len("&amp;"), entities) }

// unmarked replaces characters of markup. In this text <users/all> is a mention, *a* is bold, and there is no escape.
func unmarked(r rune) string {
	switch r {
	case '<':
		return "‹"
	case '>':
		return "›"
	case '*', '_', '~', '`':
		return "\u2060" + string(r) // a word joiner before it disables the format
	}
	return string(r)
}
