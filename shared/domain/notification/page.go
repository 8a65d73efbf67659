package notification

import (
	"html"
	"strconv"
	"strings"
)

// page builds the HTML of a mail. It does not use the template library: that keeps the linker from removing unused
// code, which would make an API function 50 % larger than allowed. All texts must go through text, which escapes
// them; markup is ours.
type page struct{ strings.Builder }

// markup writes trusted markup without escaping.
func (p *page) markup(parts ...string) {
	for _, s := range parts {
		p.WriteString(s)
	}
}

// text writes untrusted text, escaped.
func (p *page) text(s string) { p.WriteString(html.EscapeString(s)) }

const (
	head = `<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light">
<title>`
	card = `</title>
</head>
<body style="margin:0;padding:0;background:#f2f4f7;">
<table role="presentation" width="100%" cellpadding="0" cellspacing="0" style="background:#f2f4f7;"><tr>` +
		`<td align="center" style="padding:24px 12px;">
<table role="presentation" width="600" cellpadding="0" cellspacing="0" style="width:100%;max-width:600px;` +
		`background:#ffffff;border:1px solid #e4e7ec;border-radius:8px;font-family:-apple-system,'Segoe UI',Roboto,` +
		`Helvetica,Arial,sans-serif;font-size:15px;line-height:22px;color:#1d2939;">
`
	foot = `</td></tr>
</table>
</td></tr></table>
</body>
</html>
`
	row  = `<tr><td style="padding:20px 28px 0 28px;">`
	wrap = "overflow-wrap:anywhere;"
)

// html returns the HTML form.
func (c *MessageContent) html() string {
	var p page
	p.markup(head)
	p.text(c.Title)
	p.markup(card)
	p.title(c)
	p.quote(c.Text)
	p.list(c)
	p.chart(c)
	p.table(c.Facts)
	if c.operation != "" {
		p.markup(row, `Read it with <code>GET `)
		p.text(c.operation)
		p.markup("</code></td></tr>\n")
	}
	p.markup(`<tr><td style="padding:24px 28px 24px 28px;font-size:12px;line-height:18px;color:#667085;`, wrap, `">`)
	p.text(c.Footer)
	p.markup("<br>")
	p.text(c.why)
	if c.page != "" {
		p.link(c.page, "Lamplighter")
	}
	if c.unsubscribe != "" {
		p.link(c.unsubscribe, "No more of these mails")
	}
	p.markup(foot)
	return p.String()
}

// link writes a link of the footer to one of our own pages, on a line of its own.
func (p *page) link(address, label string) {
	p.markup(`<br><a href="`)
	p.text(address)
	p.markup(`" style="color:#667085;">`, label, `</a>`)
}

var colors = map[Tone]string{Good: "#1a7f37", Neutral: "#475467", Warning: "#b54708", Bad: "#b42318"}

func (p *page) title(c *MessageContent) {
	p.markup(`<tr><td style="height:4px;line-height:4px;font-size:0;background:`, colors[c.Tone],
		`;border-radius:8px 8px 0 0;">&nbsp;</td></tr>`, "\n")
	p.markup(`<tr><td style="padding:24px 28px 0 28px;">`, "\n",
		`<h1 style="margin:0 0 8px 0;font-size:20px;line-height:28px;font-weight:600;color:`, colors[c.Tone], `;">`)
	p.text(c.Title)
	p.markup("</h1>\n", `<p dir="auto" style="margin:0;`, wrap, `">`)
	p.text(c.Summary)
	p.markup("</p>\n</td></tr>\n")
}

// quote writes the text that a person added.
func (p *page) quote(text string) {
	if text == "" {
		return
	}
	p.markup(row, `<table role="presentation" width="100%" cellpadding="0" cellspacing="0"><tr>`+
		`<td dir="auto" style="border-left:3px solid #d0d5dd;padding:4px 0 4px 12px;color:#344054;`, wrap, `">`)
	for i, line := range strings.Split(text, "\n") {
		if i > 0 {
			p.markup("<br>")
		}
		p.text(line)
	}
	p.markup("</td></tr></table></td></tr>\n")
}

// list writes the lines of a digest.
func (p *page) list(c *MessageContent) {
	if len(c.Lines) == 0 {
		return
	}
	p.markup(row, `<ul style="margin:0;padding:0 0 0 20px;">`, "\n")
	for _, line := range c.Lines {
		p.markup(`<li dir="auto" style="margin:0 0 4px 0;`, wrap, `">`)
		p.text(line)
		p.markup("</li>\n")
	}
	p.markup("</ul>\n")
	if c.More > 0 {
		p.markup(`<p style="margin:4px 0 0 0;color:#667085;">and `, strconv.Itoa(c.More), " more</p>\n")
	}
	p.markup("</td></tr>\n")
}

// chart draws bars as table cells with a background.
func (p *page) chart(c *MessageContent) {
	if len(c.Bars) == 0 {
		return
	}
	p.markup(row, `<table width="100%" cellpadding="0" cellspacing="0" style="font-size:13px;line-height:18px;">`, "\n")
	for _, b := range c.Bars {
		p.markup(`<tr><td width="30%" dir="auto" style="padding:4px 10px 4px 0;color:#475467;`, wrap, `">`)
		p.text(b.Label)
		p.markup(`</td><td style="padding:4px 0;"><table role="presentation" width="100%" cellpadding="0" ` +
			`cellspacing="0"><tr>`)
		color, weight := "#98a2b3", ""
		if b.Strong {
			color, weight = colors[c.Tone], "font-weight:600;"
		}
		p.cell(b.Length, ` bgcolor="`+color+`"`, "border-radius:2px;")
		p.cell(100-b.Length, "", "")
		p.markup(`</tr></table></td><td width="110" align="right" style="padding:4px 0 4px 10px;white-space:nowrap;`+
			`font-variant-numeric:tabular-nums;`, weight, `">`)
		p.text(b.Value)
		p.markup("</td></tr>\n")
	}
	p.markup("</table></td></tr>\n")
}

// cell writes a part of a bar with a length in hundredths.
func (p *page) cell(length int, more, style string) {
	if length > 0 {
		p.markup(`<td width="`, strconv.Itoa(length), `%" height="14"`, more,
			` style="height:14px;line-height:14px;font-size:0;`, style, `">&nbsp;</td>`)
	}
}

func (p *page) table(facts []Fact) {
	if len(facts) == 0 {
		return
	}
	p.markup(row, `<table width="100%" cellpadding="0" cellspacing="0" style="border-top:1px solid #eaecf0;`+
		`font-size:14px;line-height:20px;">`, "\n")
	for _, f := range facts {
		p.markup(`<tr><th scope="row" width="30%" align="left" valign="top" style="padding:7px 10px 7px 0;` +
			`border-bottom:1px solid #eaecf0;font-weight:400;color:#667085;">`)
		p.text(f.Label)
		p.markup(`</th><td dir="auto" valign="top" style="padding:7px 0;border-bottom:1px solid #eaecf0;`, wrap, `">`)
		p.text(f.Value)
		p.markup("</td></tr>\n")
	}
	p.markup("</table></td></tr>\n")
}
