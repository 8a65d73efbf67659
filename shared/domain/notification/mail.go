package notification

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"lamplighter.dev/shared/api/identity"
)

// MailText is a mail: a subject of one line, and a body as text and as HTML.
type MailText struct{ Subject, Text, HTML string }

// WriteMail writes a mail. The chart is a table, because few mail programs draw SVG and most ask before they show a
// picture. In names of users, brackets break text that a mail program would turn into a link, so that a user cannot
// place links in mails to others. Addresses of members, and our own, are written as they are.
func WriteMail(c *MessageContent) MailText {
	inert := c.inert()
	return MailText{Subject: subject(c), Text: inert.text(), HTML: inert.html()}
}

// longestSubject is the maximum length of a subject, in characters, as lists of mails show it.
const longestSubject = 150

// subject contains no names of users, like the subjects of all mails (shared/engine/mail).
func subject(c *MessageContent) string { return escaped(c.Title, longestSubject, plain) }

// inert returns the content with all texts unlinked, so that a mail program makes no links except our own.
func (c *MessageContent) inert() MessageContent {
	out := *c
	out.Summary, out.Text = unlinked(c.Summary), unlinked(c.Text)
	out.Footer = unlinked(c.organisation) + strings.TrimPrefix(c.Footer, c.organisation)
	out.Facts, out.Lines, out.Bars = nil, nil, nil
	for _, f := range c.Facts {
		if !isMember(f) {
			f.Value = unlinked(f.Value)
		}
		out.Facts = append(out.Facts, f)
	}
	for _, l := range c.Lines {
		out.Lines = append(out.Lines, unlinked(l))
	}
	for _, b := range c.Bars {
		b.Label = unlinked(b.Label)
		out.Bars = append(out.Bars, b)
	}
	return out
}

// isMember reports whether the fact is the address of the member who did something, alone or as
// manual:<address> or bulk:<address>:<id>. Any other address may be a name that a user chose.
func isMember(f Fact) bool {
	if f.Label != byLabel && f.Label != sharedByLabel {
		return false
	}
	who := f.Value
	if kind, rest, found := strings.Cut(who, ":"); found && (kind == "manual" || kind == "bulk") {
		who, _, _ = strings.Cut(rest, ":")
	}
	address, err := identity.NormalizeAddress(who)
	return err == nil && address == who
}

// unlinked puts brackets around the characters by which a mail program recognizes an address: the colon before a slash,
// the @, and the dot before a letter. evil.example becomes evil[.]example, which people can read and programs do not
// link.
func unlinked(s string) string {
	var b strings.Builder
	for i, r := range s {
		next, _ := utf8.DecodeRuneInString(s[i+utf8.RuneLen(r):])
		if r == '@' || r == ':' && next == '/' || dotted(r) && next != utf8.RuneError && unicode.IsLetter(next) {
			b.WriteString("[" + string(r) + "]")
		} else {
			b.WriteRune(r)
		}
	}
	return b.String()
}

func dotted(r rune) bool { return strings.ContainsRune(".。．｡", r) }

// text returns the plain-text form.
func (c *MessageContent) text() string {
	var b strings.Builder
	line := func(format string, args ...any) { fmt.Fprintf(&b, format+"\n", args...) }
	line("%s\n\n%s", c.Title, c.Summary)
	if c.Text != "" {
		line("\n%s", c.Text)
	}
	for i, l := range lines(c) {
		if i == 0 {
			line("")
		}
		line("%s", l)
	}
	if len(c.Facts) > 0 {
		line("")
	}
	for _, f := range c.Facts {
		line("%-14s %s", f.Label+":", f.Value)
	}
	c.drawBars(line)
	if c.operation != "" {
		line("\nRead it with GET %s", c.operation)
	}
	line("\n-- \n%s\n%s", c.Footer, c.why)
	if c.page != "" {
		line("Lamplighter: %s", c.page)
	}
	if c.unsubscribe != "" {
		line("No more of these mails: %s", c.unsubscribe)
	}
	return b.String()
}

// drawBars draws the chart with letters.
func (c *MessageContent) drawBars(line func(string, ...any)) {
	const width, step = 24, 5 // one letter per five hundredths
	if len(c.Bars) > 0 {
		line("")
	}
	for _, b := range c.Bars {
		line("%s %s %s", padded(b.Label, width), padded(strings.Repeat("#", (b.Length+step-1)/step), 100/step), b.Value)
	}
}

// padded returns s cut or padded with blanks to n characters.
func padded(s string, n int) string {
	r := []rune(s)
	if len(r) > n {
		return string(r[:n-1]) + "…"
	}
	return s + strings.Repeat(" ", n-len(r))
}
