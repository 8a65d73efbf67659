package webhooks

import (
	"encoding/json"
	"net/http"
	"os/exec"
	"strconv"
	"strings"
	"testing"
	"time"

	"lamplighter.dev/shared/domain/receiver"
	"lamplighter.dev/shared/testkit/apitest"
	"lamplighter.dev/shared/testkit/npmpeer"
)

// judge verifies each request as a receiver would, at the request's time, and prints the results.
const judge = `
import { Webhook } from 'standardwebhooks';
const cases = JSON.parse(process.argv[2]);
console.log(JSON.stringify(cases.map(({ secret, at, body, headers }) => {
  Date.now = () => at * 1000;
  try {
    return 'verified ' + new Webhook(secret).verify(body, headers).type;
  } catch (e) {
    return e.message;
  }
})));
`

// judged is a request as a receiver gets it, with the time of receipt.
type judged struct {
	Secret  string            `json:"secret"`
	At      int64             `json:"at"`
	Body    string            `json:"body"`
	Headers map[string]string `json:"headers"`
}

// TestStandardWebhooksVerifiesWhatWeSend is check 63: an independent library verifies our webhooks when they are
// repeated, late or changed.
func TestStandardWebhooksVerifiesWhatWeSend(t *testing.T) {
	npmpeer.SkipUnlessWanted(t)
	dir := npmpeer.InstallNode(t, "standardwebhooks", "standardwebhooks@1.1.1")
	f := newFixture(t)
	made := f.hook(nil)
	f.Call(ada, "POST /webhooks/"+made.ID+"/test").Want(http.StatusOK)
	first, now := f.last(), f.Clock.Now()
	second := apitest.Data[IssuedWebhook](f.Call(ada, "POST /webhooks/"+made.ID+"/rotate-secret"))
	f.Call(ada, "POST /webhooks/"+made.ID+"/test").Want(http.StatusOK)
	both := f.last()
	of := func(secret string, at time.Time, r request, change ...string) judged {
		j := judged{secret, at.Unix(), r.body, map[string]string{}}
		for _, name := range []string{"webhook-id", "webhook-timestamp", "webhook-signature"} {
			j.Headers[name] = r.Get(name)
		}
		for i := 0; i < len(change); i += 2 {
			j.Headers[change[i]] = change[i+1]
		}
		return j
	}
	changed := first
	changed.body = strings.Replace(first.body, "webhook.test", "budget.exceeded", 1)
	const good = "verified webhook.test"
	cases := []struct {
		name string
		judged
		want string
	}{
		{"as it was sent", of(made.Secret, now, first), good},
		{"almost five minutes later", of(made.Secret, now.Add(299*time.Second), first), good},
		{"sent again after more", of(made.Secret, now.Add(301*time.Second), first), "Message timestamp too old"},
		{"before its time", of(made.Secret, now.Add(-301*time.Second), first), "Message timestamp too new"},
		{
			"with another time",
			of(made.Secret, now.Add(time.Hour), first, "webhook-timestamp",
				strconv.FormatInt(now.Add(time.Hour).Unix(), 10)), "No matching signature found",
		},
		{"with another body", of(made.Secret, now, changed), "No matching signature found"},
		{"under another id", of(made.Secret, now, first, "webhook-id", "dlv_1"), "No matching signature found"},
		{"by another secret", of(receiver.NewWebhookKey(), now, first), "No matching signature found"},
		{"during a rotation, by the old one", of(made.Secret, now, both), good},
		{"during a rotation, by the new one", of(second.Secret, now, both), good},
	}
	all := make([]judged, len(cases))
	for i := range cases {
		all[i] = cases[i].judged
	}
	cmd := exec.CommandContext(t.Context(), "node", "--no-warnings", //nolint:gosec // our own program
		"--input-type=module", "-", apitest.JSON(all))
	cmd.Dir, cmd.Stdin = dir, strings.NewReader(judge)
	b, err := cmd.CombinedOutput()
	var said []string
	if err != nil || json.Unmarshal(b, &said) != nil || len(said) != len(cases) {
		t.Fatalf("%v: %s", err, b)
	}
	for i, c := range cases {
		if said[i] != c.want {
			t.Errorf("%s: %s, want %s", c.name, said[i], c.want)
		}
	}
}
