package mail

import (
	"bytes"
	"context"
	"embed"
	"fmt"
	"mime"
	"mime/quotedprintable"
	"strings"
	"text/template"
	"time"

	"lamplighter.dev/shared/foundation/fault"
)

// Message is a mail as it is sent: plain text, and the same in HTML where there is any.
type Message struct {
	ID          string // of its event: a mail that is sent twice has the same
	To          string
	Subject     string
	Text        string
	HTML        string
	Unsubscribe string // see Letter
	Date        time.Time
}

// Sender hands messages to whoever delivers them. An error of kind fault.Invalid is for good: this message will never be
// taken. Any other may pass.
type Sender interface {
	Send(ctx context.Context, m Message) error
}

//go:embed text/*.txt
var files embed.FS

// parseText parses the template of a mail. That takes tens of microseconds; a function that only queues mails links none of it.
func parseText(of Template) (*template.Template, error) {
	name := string(of) + ".txt"
	return template.New(name).Option("missingkey=error").Funcs(template.FuncMap{"harmless": HarmlessName}).ParseFS(files, "text/"+name)
}

// RenderMessage writes the message of a mail: the first line of its template is the subject, the text begins two lines below. A
// mail that cannot be written, or not be addressed, is fault.Invalid: trying again does not help.
func RenderMessage(m Mail, event string, at time.Time) (Message, error) {
	if err := checkAddress(m.To); err != nil {
		return Message{}, fault.NewWithCause(fault.Invalid, err, "mail %s %s cannot be addressed", m.Template, event)
	}
	if l := m.Letter; m.Template == Notification && l != nil {
		return Message{ID: event, To: m.To, Subject: oneLine(l.Subject), Text: l.Text, HTML: l.HTML,
			Unsubscribe: l.Unsubscribe, Date: at}, nil
	}
	var b strings.Builder
	text, err := parseText(m.Template)
	if err == nil {
		err = text.Execute(&b, m.Data)
	}
	if err != nil {
		return Message{}, fault.NewWithCause(fault.Invalid, err, "mail %s %s cannot be written", m.Template, event)
	}
	subject, body, _ := strings.Cut(b.String(), "\n\n")
	return Message{ID: event, To: m.To, Subject: oneLine(subject), Text: body, Date: at}, nil
}

// oneLine keeps a name from becoming a header of its own.
func oneLine(s string) string { return strings.Join(strings.Fields(s), " ") }

// FormatRFC5322 returns the message as RFC 5322 writes it. from is the address of the sender.
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

// UnsubscribeHeaders returns the headers by which a mail program offers to end such mails, names and values (RFC 8058); none of a mail that
// nobody has asked for.
func (m Message) UnsubscribeHeaders() [][2]string {
	if m.Unsubscribe == "" {
		return nil
	}
	return [][2]string{{"List-Unsubscribe", "<" + oneLine(m.Unsubscribe) + ">"},
		{"List-Unsubscribe-Post", "List-Unsubscribe=One-Click"}}
}

// writeParts writes both forms of the text; a mail program shows the last that it can. The boundary is of the id alone, so that a message is
// the same each time, and stands in no line of quoted-printable text: it has a "=" that is no escape.
func (m Message) writeParts(b *bytes.Buffer) {
	boundary := "=_" + m.ID
	fmt.Fprintf(b, "Content-Type: multipart/alternative; boundary=%q\r\n", boundary)
	for _, part := range [][2]string{{plainType, m.Text}, {htmlType, m.HTML}} {
		fmt.Fprintf(b, "\r\n--%s\r\nContent-Type: %s\r\nContent-Transfer-Encoding: quoted-printable\r\n\r\n", boundary,
			part[0])
		w := quotedprintable.NewWriter(b)
		_, _ = w.Write([]byte(part[1])) // a buffer never fails
		_ = w.Close()
	}
	fmt.Fprintf(b, "\r\n--%s--\r\n", boundary)
}
