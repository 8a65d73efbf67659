package mail

import (
	"context"
	"embed"
	"mime"
	"strings"
	"text/template"
	"time"

	"lamplighter.dev/shared/foundation/fault"
)

// Message is a mail as it is sent: plain text.
type Message struct {
	ID      string // of its event: a mail that is sent twice has the same
	To      string
	Subject string
	Text    string
	Date    time.Time
}

// Sender hands messages to whoever delivers them. An error of kind fault.Invalid is for good: this message will never be
// taken. Any other may pass.
type Sender interface {
	Send(ctx context.Context, m Message) error
}

//go:embed text/*.txt
var files embed.FS

var texts = template.Must(template.New("").Option("missingkey=error").
	Funcs(template.FuncMap{"harmless": harmlessName}).ParseFS(files, "text/*.txt"))

// RenderMessage writes the message of a mail: the first line of its template is the subject, the text begins two lines below. A
// mail that cannot be written, or not be addressed, is fault.Invalid: trying again does not help.
func RenderMessage(m Mail, event string, at time.Time) (Message, error) {
	if err := checkAddress(m.To); err != nil {
		return Message{}, fault.NewWithCause(fault.Invalid, err, "mail %s %s cannot be addressed", m.Template, event)
	}
	var b strings.Builder
	if err := texts.ExecuteTemplate(&b, string(m.Template)+".txt", m.Data); err != nil {
		return Message{}, fault.NewWithCause(fault.Invalid, err, "mail %s %s cannot be written", m.Template, event)
	}
	subject, text, _ := strings.Cut(b.String(), "\n\n")
	return Message{ID: event, To: m.To, Subject: oneLine(subject), Text: text, Date: at}, nil
}

// oneLine keeps a name from becoming a header of its own.
func oneLine(s string) string { return strings.Join(strings.Fields(s), " ") }

// FormatRFC5322 returns the message as RFC 5322 writes it. from is the address of the sender.
func (m Message) FormatRFC5322(from string) []byte {
	var b strings.Builder
	for _, h := range [][2]string{
		{"From", "Lamplighter <" + oneLine(from) + ">"},
		{"To", "<" + oneLine(m.To) + ">"},
		{"Subject", mime.QEncoding.Encode("utf-8", oneLine(m.Subject))},
		{"Date", m.Date.Format(time.RFC1123Z)},
		{"Message-ID", "<" + m.ID + "@lamplighter>"},
		{"Auto-Submitted", "auto-generated"},
		{"MIME-Version", "1.0"},
		{"Content-Type", "text/plain; charset=utf-8"},
		{"Content-Transfer-Encoding", "8bit"},
	} {
		b.WriteString(h[0] + ": " + h[1] + "\r\n")
	}
	b.WriteString("\r\n" + strings.ReplaceAll(m.Text, "\n", "\r\n"))
	return []byte(b.String())
}
