package smtp

import (
	"encoding/json"
	"net/http"
	"os/exec"
	"path/filepath"
	"testing"

	"lamplighter.dev/shared/testkit/npmpeer"
	"lamplighter.dev/shared/testkit/smtptest"
)

// maildev starts another vendor's mail server, which returns received mails as JSON.
func maildev(t *testing.T) (address string, received func() []smtptest.Letter) {
	t.Helper()
	dir, port, web := npmpeer.InstallNode(t, "maildev", "maildev@2.2.1"), npmpeer.FreePort(t), npmpeer.FreePort(t)
	program := filepath.Join(dir, "node_modules", "maildev", "bin", "maildev")
	npmpeer.StartPeer(t, exec.Command("node", program, //nolint:gosec,noctx // ends with the test
		"--smtp", port, "--web", web, "--ip", "127.0.0.1", "--hide-extensions", "STARTTLS", "--silent"), port, web)
	return "127.0.0.1:" + port, func() []smtptest.Letter { return readInbox(t, "http://127.0.0.1:"+web+"/email") }
}

func readInbox(t *testing.T, address string) []smtptest.Letter {
	t.Helper()
	resp, err := http.Get(address)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	type who struct{ Address string }
	var mails []struct {
		Subject, Text string
		Envelope      struct {
			From who
			To   []who
		}
	}
	if err := json.NewDecoder(resp.Body).Decode(&mails); err != nil {
		t.Fatal(err)
	}
	var out []smtptest.Letter
	for _, m := range mails {
		for _, to := range m.Envelope.To {
			out = append(out,
				smtptest.Letter{From: m.Envelope.From.Address, To: to.Address, Subject: m.Subject, Text: m.Text})
		}
	}
	return out
}

func TestMaildevTakesAMail(t *testing.T) {
	address, received := maildev(t)
	s, err := New("smtp://"+address+"?tls=optional", from)
	if err != nil {
		t.Fatal(err)
	}
	testContract(t, s, received)
}
