package mail

import (
	"bytes"
	"context"
	"embed"
	"fmt"
	"maps"
	"mime"
	"mime/quotedprintable"
	"strings"
	"text/template"
	"time"

	"lamplighter.dev/shared/foundation/fault"
)

// Message is a mail ready to be sent: plain text, and optionally the same in HTML.
type Message struct {
	ID          string // ID of its event; a mail that is sent twice has the same ID
	To          string
	Subject     string
	Text        string
	HTML        string
	Unsubscribe string // see Letter
	Date        time.Time
}

// Sender delivers messages. An error of kind fault.Invalid is permanent: the message will never be accepted. All other
// errors may be temporary.
type Sender interface {
	Send(ctx context.Context, m Message) error
}

//go:embed text/*.txt
var files embed.FS

// parseText parses the template of a mail. It takes tens of microseconds. Functions that only queue mails do not link
// it.
func parseText(of Template) (*template.Template, error) {
	name := string(of) + ".txt"
	funcs := template.FuncMap{"harmless": HarmlessName}
	return template.New(name).Option("missingkey=error").Funcs(funcs).ParseFS(files, "text/"+name)
}

// RenderMessage returns the message of a mail. The first line of its template is the subject; the text starts two
// lines below. Under the text stand the reason for the mail and the page of the service, whose address is base;
// without a base there is no page. It returns fault.Invalid for a mail that cannot be rendered or addressed, because a
// retry does not help.
func RenderMessage(m Mail, event string, at time.Time, base string) (Message, error) {
	if err := checkAddress(m.To); err != nil {
		return Message{}, fault.NewWithCause(fault.Invalid, err, "mail %s %s cannot be addressed", m.Template, event)
	}
	if l := m.Letter; m.Template == Notification && l != nil {
		return Message{
			ID: event, To: m.To, Subject: oneLine(l.Subject), Text: l.Text, HTML: l.HTML,
			Unsubscribe: l.Unsubscribe, Date: at,
		}, nil
	}
	var b strings.Builder
	text, err := parseText(m.Template)
	if err == nil {
		err = text.Execute(&b, withPage(m.Data, base))
	}
	if err != nil {
		return Message{}, fault.NewWithCause(fault.Invalid, err, "mail %s %s cannot be written", m.Template, event)
	}
	subject, body, _ := strings.Cut(b.String(), "\n\n")
	return Message{ID: event, To: m.To, Subject: oneLine(subject), Text: body + footer(m.Template, base), Date: at}, nil
}

// withPage returns the data of a mail with the address of the service's page, or "", under the key page.
func withPage(data map[string]string, base string) map[string]string {
	out := map[string]string{"page": ServicePage(base)}
	maps.Copy(out, data)
	return out
}

// oneLine joins the words of s with single spaces, so that a name cannot add a header.
func oneLine(s string) string { return strings.Join(strings.Fields(s), " ") }

// FormatRFC5322 returns the message in the format of RFC 5322, with the sender's address `from`.
func (m Message) FormatRFC5322(from string) []byte {
	var b bytes.Buffer
	header := func(name, value string) { b.WriteString(name + ": " + value + "\r\n") }
	header("From", "Lamplighter <"+oneLine(from)+">")
	header("To", "<"+oneLine(m.To)+">")
	header("Subject", mime.QEncoding.Encode("utf-8", oneLine(m.Subject)))
	header("Date", m.Date.Format(time.RFC1123Z))
	header("Message-ID", "<"+m.ID+"@lamplighter>")
	header("Auto-Submitted", "auto-generated")
	for _, h := range m.UnsubscribeHeaders() {
		header(h[0], h[1])
	}
	header("MIME-Version", "1.0")
	if m.HTML != "" {
		m.writeParts(&b)
		return b.Bytes()
	}
	header("Content-Type", plainType)
	header("Content-Transfer-Encoding", "8bit")
	b.WriteString("\r\n" + strings.ReplaceAll(m.Text, "\n", "\r\n"))
	return b.Bytes()
}

const (
	plainType = "text/plain; charset=utf-8"
	htmlType  = "text/html; charset=utf-8"
)

// UnsubscribeHeaders returns names and values of the headers that let a mail program end such mails (RFC 8058). It
// returns none for mails without an Unsubscribe address.
func (m Message) UnsubscribeHeaders() [][2]string {
	if m.Unsubscribe == "" {
		return nil
	}
	return [][2]string{
		{"List-Unsubscribe", "<" + oneLine(m.Unsubscribe) + ">"},
		{"List-Unsubscribe-Post", "List-Unsubscribe=One-Click"},
	}
}

// writeParts writes both forms of the text; a mail program shows the last form that it supports. The boundary depends
// only on the ID, so that a message is the same each time. It contains a "=" that is no escape, so it occurs in no line
// of quoted-printable text.
func (m Message) writeParts(b *bytes.Buffer) {
	boundary := "=_" + m.ID
	fmt.Fprintf(b, "Content-Type: multipart/alternative; boundary=%q\r\n", boundary)
	for _, part := range [][2]string{{plainType, m.Text}, {htmlType, m.HTML}} {
		fmt.Fprintf(b, "\r\n--%s\r\nContent-Type: %s\r\nContent-Transfer-Encoding: quoted-printable\r\n\r\n", boundary,
			part[0])
		w := quotedprintable.NewWriter(b)
		_, _ = w.Write([]byte(part[1])) // writes to a buffer never fail
		_ = w.Close()
	}
	fmt.Fprintf(b, "\r\n--%s--\r\n", boundary)
}
