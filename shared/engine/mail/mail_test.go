package mail_test

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"io"
	"mime"
	"mime/multipart"
	netmail "net/mail"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode"

	"lamplighter.dev/shared/engine/mail"
	"lamplighter.dev/shared/foundation/fault"
	"lamplighter.dev/shared/foundation/seal"
)

var update = flag.Bool("update", false, "write the golden files anew")

const base = "https://lamplighter.test"

var at = time.Date(2026, time.March, 10, 9, 0, 0, 0, time.UTC)

func TestTemplates(t *testing.T) {
	texts, err := filepath.Glob("text/*.txt")
	if err != nil || len(texts) == 0 {
		t.Fatalf("%v, %v", texts, err)
	}
	for _, text := range texts {
		name := mail.Template(strings.TrimSuffix(filepath.Base(text), ".txt"))
		t.Run(string(name), func(t *testing.T) {
			m, err := mail.RenderMessage(mail.Mail{Template: name, To: "ada@example.com", Data: map[string]string{
				"code": "042137", "link": "https://lamplighter.test/auth/password/reset/lampt_QX7",
				"organisation": "Ærø & Søn, Inc.", "inviter": "eve@example.com", "name": "CI",
				"expires": "24 March 2026",
				"kind":    "notification channel", "what": "- webhook CI (whk_1): paused\n",
				"id":      "chan_01k6v0e4y0c2b7m9q8r5t3w1xz",
				"change":  "A passkey was added.",
				"waiting": "30", "connected": "200", "domains": "- example com, lapses on 24 March 2026\n",
			}}, "mail_1", at, base)
			if err != nil {
				t.Fatal(err)
			}
			if !strings.Contains(m.Text, "You get this mail because ") ||
				!strings.Contains(m.Text, "\nLamplighter: "+base+"/docs\n") {
				t.Errorf("it says neither why it was sent nor by which service:\n%s", m.Text)
			}
			got := m.FormatRFC5322("no-reply@lamplighter.test")
			golden := filepath.Join("testdata", string(name)+".eml")
			if *update {
				if err = os.WriteFile(golden, got, 0o600); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(golden)
			if err != nil || !bytes.Equal(got, want) {
				t.Errorf("%v; got:\n%s", err, got)
			}
			parsed, err := netmail.ReadMessage(bytes.NewReader(got))
			if err != nil {
				t.Fatal(err)
			}
			if to, err := parsed.Header.AddressList("To"); err != nil || len(to) != 1 ||
				to[0].Address != "ada@example.com" {
				t.Errorf("to %v, %v", to, err)
			}
		})
	}
}

func TestAMailWithoutItsDataIsNotSent(t *testing.T) {
	for _, m := range []mail.Mail{
		{Template: mail.VerifyAddress, To: "ada@example.com"},
		{Template: mail.Invitation, To: "ada@example.com", Data: map[string]string{"inviter": "eve@example.com"}},
		{Template: "nonsense", To: "ada@example.com"},
		{Template: mail.PasswordChanged},
	} {
		if got, err := mail.RenderMessage(m, "mail_1", at, base); !fault.Is(err, fault.Invalid) {
			t.Errorf("%s: %+v", m.Template, got)
		}
	}
}

// check 65, of mails.
func TestAnAddressStaysOneHeader(t *testing.T) {
	for _, to := range []string{
		"ada@example.com\r\nBcc: eve@example.com", "ada@example.com\nSubject: x", "ada@example.com>, <eve@example.com",
		"ada@example.com,eve@example.com",
		"Ada <ada@example.com>", "ada@example.com\x00", "\"a b\"@example.com", "ada", "@", "ada@", "ädä@example.com",
		"",
	} {
		m := mail.Mail{Template: mail.PasswordChanged, To: to}
		if got, err := mail.RenderMessage(m, "mail_1", at, base); !fault.Is(err, fault.Invalid) {
			t.Errorf("%q: %+v, %v", to, got, err)
		}
	}
	m := mail.Message{
		ID: "mail_1", To: "ada@example.com\r\nBcc: eve@example.com", Subject: "s", Text: "text\n",
		Date: at,
	}
	for line := range strings.SplitSeq(string(m.FormatRFC5322("no-reply@lamplighter.test\r\nCc: eve@example.com")),
		"\r\n") {
		if strings.HasPrefix(line, "Bcc:") || strings.HasPrefix(line, "Cc:") {
			t.Errorf("a header of its own: %s", line)
		}
	}
}

// check 65: a user who names an organization cannot send a message to a stranger through its invitation.
func TestANameInAMailIsHarmless(t *testing.T) {
	for name, want := range map[string]string{
		"Acme Inc.":                               "Acme Inc",
		"Ærø & Søn (2026)":                        "Ærø & Søn (2026)",
		"win at https://evil.example/x?y now":     "win at https evil example x?y now",
		"evil.example":                            "evil example",
		"evil。example":                            "evil example",
		"mail eve@evil.example":                   "mail eve evil example",
		"a\r\nBcc: eve@evil.example\r\n\r\nhello": "a Bcc eve evil example hello",
		"\u202egnp.evil\u200b":                    "gnp evil",
		strings.Repeat("n", 70):                   strings.Repeat("n", 64) + "…",
	} {
		m, err := mail.RenderMessage(mail.Mail{
			Template: mail.Invitation, To: "ada@example.com",
			Data: map[string]string{
				"organisation": name, "inviter": "eve@example.com",
			},
		}, "mail_1", at, base)
		if err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(m.Text, `the organization "`+want+`" on`) ||
			m.Subject != "You are invited to an organization on Lamplighter" {
			t.Errorf("%q: %q, %q", name, m.Subject, m.Text)
		}
	}
}

// row 17 of issue 21: an address that a person may copy from a mail is the address, without characters that one cannot
// see.
func TestRenderMessage_HasNoInvisibleCharacters(t *testing.T) {
	m, err := mail.RenderMessage(mail.Mail{
		Template: mail.Invitation, To: "ada@example.com",
		Data: map[string]string{"organisation": "x\u200b\u2060\u00ady", "inviter": "eve@mail.example.com"},
	}, "mail_1", at, base)
	if err != nil || !strings.Contains(m.Text, "eve@mail.example.com") {
		t.Fatalf("%v: %s", err, m.Text)
	}
	for _, r := range m.Text {
		if r != '\n' && !unicode.IsPrint(r) {
			t.Errorf("the mail has %U", r)
		}
	}
}

func TestRenderMessage_WithoutAnAddressNamesNoPage(t *testing.T) {
	for _, none := range []string{"", "lamplighter.test", "javascript:alert(1)"} {
		m, err := mail.RenderMessage(mail.Mail{Template: mail.PasswordChanged, To: "ada@example.com"}, "mail_1", at,
			none)
		if err != nil || strings.Contains(m.Text, "Lamplighter: ") || !strings.Contains(m.Text, "You get this mail") {
			t.Errorf("%q: %v: %s", none, err, m.Text)
		}
	}
}

func TestASubjectStaysOneLine(t *testing.T) {
	m := mail.Message{
		ID: "mail_1", To: "ada@example.com", Subject: "ünicode\r\nBcc: eve@example.com", Text: "text\n",
		Date: at,
	}
	parsed, err := netmail.ReadMessage(bytes.NewReader(m.FormatRFC5322("no-reply@lamplighter.test")))
	if err != nil {
		t.Fatal(err)
	}
	if parsed.Header.Get("Bcc") != "" {
		t.Errorf("headers %v", parsed.Header)
	}
}

func TestAQueuedMailIsSealed(t *testing.T) {
	ctx := context.Background()
	kek, err := seal.OpenKeyFile(filepath.Join(t.TempDir(), "key"))
	if err != nil {
		t.Fatal(err)
	}
	s := seal.NewEnvelope(kek)
	sent := mail.Mail{Template: mail.VerifyAddress, To: "ada@example.com", Data: map[string]string{"code": "042137"}}
	w, err := mail.QueueMail(ctx, s, at, sent)
	if err != nil {
		t.Fatal(err)
	}
	if s := string(w.Item.Data); strings.Contains(s, "042137") || strings.Contains(s, "ada@") {
		t.Errorf("readable: %s", s)
	}
	if mail.KindOf(w.Item.PK) != mail.Code || !w.Item.Expires.Equal(at.Add(mail.Keep)) {
		t.Errorf("item %+v", w.Item)
	}
	got, event, err := mail.OpenQueued(ctx, s, w.Item)
	if err != nil || got.To != sent.To || got.Data["code"] != "042137" || event != w.Item.SK {
		t.Errorf("%+v, %s, %v", got, event, err)
	}
}

// A mail that an earlier version of the service queued has no link. Above the limit of wrong codes, a mail has no code.
func TestTemplates_OfCodesAndLinks(t *testing.T) {
	const link = "https://lamplighter.test/auth/password/reset/lampt_QX7"
	for name, c := range map[string]struct {
		data     map[string]string
		has, not []string
	}{
		"code and link":          {map[string]string{"code": "042137", "link": link}, []string{"042137", link}, nil},
		"an older mail, no link": {map[string]string{"code": "042137"}, []string{"042137"}, []string{"this link"}},
		"too many wrong codes": {
			map[string]string{"code": "", "link": link},
			[]string{link, "no code"},
			[]string{"10 minutes"},
		},
		"a service with no address": {
			map[string]string{"code": "042137", "link": ""},
			[]string{"042137"},
			[]string{"this link"},
		},
	} {
		for _, of := range []mail.Template{mail.VerifyAddress, mail.VerifyContested, mail.ResetPassword} {
			t.Run(string(of)+": "+name, func(t *testing.T) {
				m, err := mail.RenderMessage(mail.Mail{Template: of, To: "ada@example.com", Data: c.data}, "mail_1", at,
					"")
				if err != nil || m.Subject == "" || strings.Contains(m.Text, "\n\n\n") {
					t.Fatalf("%+v, %v", m, err)
				}
				for _, word := range c.has {
					if !strings.Contains(m.Text, word) {
						t.Errorf("%q is missing: %s", word, m.Text)
					}
				}
				for _, word := range c.not {
					if strings.Contains(m.Text, word) {
						t.Errorf("%q is in it: %s", word, m.Text)
					}
				}
			})
		}
	}
}

func TestTheOutboxCanBeRead(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "mails")
	var line strings.Builder
	o, err := mail.NewOutbox(dir, &line)
	if err != nil {
		t.Fatal(err)
	}
	m, err := mail.RenderMessage(mail.Mail{
		Template: mail.VerifyAddress, To: "ada@example.com",
		Data: map[string]string{"code": "042137"},
	}, "mail_1", at, base)
	if err != nil {
		t.Fatal(err)
	}
	for range 2 { // delivered at least once
		if err = o.Send(context.Background(), m); err != nil {
			t.Fatal(err)
		}
	}
	if !strings.Contains(line.String(), "042137") || !strings.Contains(line.String(), "ada@example.com") {
		t.Errorf("line %q", line.String())
	}
	files, err := os.ReadDir(dir)
	if err != nil || len(files) != 1 || files[0].Name() != "mail_1.eml" {
		t.Fatalf("files %v, %v", files, err)
	}
	f, err := os.Open(filepath.Join(dir, "mail_1.eml"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	parsed, err := netmail.ReadMessage(f)
	if err != nil {
		t.Fatal(err)
	}
	body, err := io.ReadAll(parsed.Body)
	if err != nil || !strings.Contains(string(body), "042137 is the code") {
		t.Errorf("body %q, %v", body, err)
	}
}

func TestALetterHasBothFormsAndAWayOut(t *testing.T) {
	letter := &mail.Letter{
		Subject: "Budget exceeded\r\nBcc: eve@example.com", Text: "Ærø has spent all = of it\n",
		HTML:        "<p>Ærø &amp; Søn</p>" + strings.Repeat("x", 2_000),
		Unsubscribe: "https://lamplighter.test/unsubscribe/token",
	}
	m, err := mail.RenderMessage(mail.Mail{Template: mail.Notification, To: "ada@example.com", Letter: letter},
		"mail_1", at, base)
	if err != nil {
		t.Fatal(err)
	}
	parsed, err := netmail.ReadMessage(bytes.NewReader(m.FormatRFC5322("no-reply@lamplighter.test")))
	if err != nil {
		t.Fatal(err)
	}
	h := parsed.Header
	if h.Get("Bcc") != "" || h.Get("List-Unsubscribe") != "<"+letter.Unsubscribe+">" ||
		h.Get("List-Unsubscribe-Post") != "List-Unsubscribe=One-Click" {
		t.Errorf("headers %v", h)
	}
	kind, params, err := mime.ParseMediaType(h.Get("Content-Type"))
	if err != nil || kind != "multipart/alternative" {
		t.Fatalf("%s, %v", kind, err)
	}
	var got []string
	for r := multipart.NewReader(parsed.Body, params["boundary"]); ; {
		p, err := r.NextPart() // it decodes quoted-printable
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		b, err := io.ReadAll(p)
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, p.Header.Get("Content-Type")+": "+strings.ReplaceAll(string(b), "\r\n", "\n"))
	}
	want := []string{"text/plain; charset=utf-8: " + letter.Text, "text/html; charset=utf-8: " + letter.HTML}
	if !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
	if _, err = mail.RenderMessage(mail.Mail{Template: mail.Notification, To: "ada@example.com"}, "mail_1",
		at, base); !fault.Is(err, fault.Invalid) {
		t.Errorf("without a letter: %v", err)
	}
}
