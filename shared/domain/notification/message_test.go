package notification_test

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/atc0005/go-teams-notify/v2/adaptivecard"
	"github.com/slack-go/slack"

	"lamplighter.dev/shared/domain/anomaly"
	"lamplighter.dev/shared/domain/budgeting"
	"lamplighter.dev/shared/domain/evaluation"
	"lamplighter.dev/shared/domain/event"
	"lamplighter.dev/shared/domain/execution"
	"lamplighter.dev/shared/domain/notification"
	"lamplighter.dev/shared/foundation/money"
)

var update = flag.Bool("update", false, "write the golden files anew")

var at = time.Date(2026, time.March, 10, 9, 30, 30, 0, time.UTC)

// sample returns an event of a key with realistic data. All names given by users are set to name.
func sample(t testing.TB, key, name string) event.Event {
	t.Helper()
	kind, _ := event.TypeOf(key)
	e := event.Event{ID: "event_01k6v0e4y0c2b7m9q8r5t3w1xz", Key: key, At: at}
	switch {
	case key == notification.RecommendationShared:
		e.Subject, e.Data = "rec_01k6v0e4y0c2b7m9q8r5t3w1xz", data(t, notification.Recommendation{
			ID: "rec_01k6v0e4y0c2b7m9q8r5t3w1xz", Title: "Make it smaller",
			Reason: "Its CPU was below 5 % for 14 days: " + name, Severity: "medium", Category: "rightsizing",
			ResourceName: name, ResourceUID: "i-0", ResourceType: "aws-ec2", Region: "eu-west-1", SavingsUSD: "1234.5",
			SharedBy: "ada@example.com",
		})
	case key == notification.TestMessage:
		e.Subject = "chn_01k6v0e4y0c2b7m9q8r5t3w1xz"
	case key == event.ResourceOverride:
		e.Subject, e.ScopeType, e.ScopeID = "ovr_01k6v0e4y0c2b7m9q8r5t3w1xz", event.ScopeGroup,
			"grp_01k6v0e4y0c2b7m9q8r5t3w1xz"
		e.Data = data(t, evaluation.ToldOverride{
			OverrideID: e.Subject, Action: "force_on", Reason: name, CreatedBy: "ada@example.com",
			ExpiresAt: at.Add(time.Hour), Resources: 7, GroupID: e.ScopeID, GroupName: name,
		})
	case kind.Category == "resource":
		e.Subject, e.ScopeType, e.ScopeID = "act_01k6v0e4y0c2b7m9q8r5t3w1xz", event.ScopeResource, "i-0"
		told := execution.Told{
			ActionID: e.Subject, Action: "start", ResourceUID: "i-0", ResourceName: name, ResourceType: "aws-ec2",
			Provider: "aws", Region: "eu-west-1",
			CloudAccountID: "ca_01k6v0e4y0c2b7m9q8r5t3w1xz", CloudAccount: name, Reason: "schedule",
			ChangedBy: "schedule", Attempts: 3,
		}
		if key != event.ResourceStarted && key != event.ResourceStopped {
			told.ErrorMessage = "InsufficientInstanceCapacity: no room for " + name
		}
		e.Data = data(t, told)
	case kind.Category == "budget":
		e.Subject, e.ScopeType, e.ScopeID = "bud_01k6v0e4y0c2b7m9q8r5t3w1xz", event.ScopeTeam,
			"team_01k6v0e4y0c2b7m9q8r5t3w1xz"
		spent, threshold := "1240.00", 80
		if key == "budget.exceeded" {
			spent, threshold = "1620.00", 100
		}
		e.Data = data(t, budgeting.Message{
			BudgetID: e.Subject, Name: name, From: time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC),
			To:        time.Date(2026, 4, 1, 0, 0, 0, 0, time.UTC),
			AmountUSD: "1500.00", SpentUSD: spent, ForecastUSD: "3844.10", Threshold: threshold,
		})
	default:
		e.Subject, e.ScopeType, e.ScopeID = "anom_1", event.ScopeOrg, ""
		if parts := strings.Split(key, "."); len(parts) == 4 {
			e.ScopeType, e.ScopeID = parts[2], name
		}
		e.Data = data(t, anomaly.Message{
			AnomalyID: e.Subject, Date: "2026-03-08", CostUSD: "120.00", BaselineUSD: "50.00",
			Percent: "140.0", Severity: "critical", Contributors: []anomaly.Contributor{
				{
					Dim: "service_name", Key: name, Cost: money.FromInt(80), Baseline: money.FromInt(30),
					Excess: money.FromInt(50),
				},
				{
					Dim: "service_name", Others: true, Cost: money.FromInt(40), Baseline: money.FromInt(20),
					Excess: money.FromInt(20),
				},
				{
					Dim: "resource_uid", Key: "i-0", Cost: money.FromInt(40), Baseline: money.FromInt(20),
					Excess: money.FromInt(20),
				},
			},
		})
	}
	return e
}

func data(t testing.TB, v any) json.RawMessage {
	t.Helper()
	b, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func notice(events ...event.Event) *notification.Notice {
	return &notification.Notice{
		Organisation: "Engines & Co", BaseURL: "https://lamplighter.test", Events: events,
		Total: len(events),
	}
}

// written returns all encoded forms of a content, by file suffix.
func written(t testing.TB, c notification.MessageContent) map[string][]byte {
	t.Helper()
	out := map[string][]byte{}
	for form, write := range map[string]func(*notification.MessageContent) ([]byte,
		error){
		"slack.json": notification.WriteSlack,
		"teams.json": notification.WriteTeams, "gchat.json": notification.WriteGoogleChat,
	} {
		b, err := write(&c)
		if err != nil {
			t.Fatal(err)
		}
		out[form] = b
	}
	letter := notification.WriteMail(&c)
	out["html"], out["txt"] = []byte(letter.HTML), []byte("Subject: "+letter.Subject+"\n\n"+letter.Text)
	return out
}

func keys() []string {
	out := []string{notification.TestMessage, notification.RecommendationShared}
	for _, t := range event.Types {
		out = append(out, t.Key)
	}
	return out
}

func TestCompose_EachKeyInEachForm(t *testing.T) {
	for _, key := range keys() {
		n := notice(sample(t, key, "web-1"))
		if key == notification.RecommendationShared {
			n.Text = "Shall we?\nIt is easy."
		}
		if key == "budget.exceeded" {
			n.Unsubscribe = "https://lamplighter.test/unsubscribe/token"
		}
		compareGolden(t, key, written(t, notification.ComposeMessage(n)))
	}
}

func TestCompose_ADigestListsTheFirstTenAndCountsTheRest(t *testing.T) {
	var events []event.Event
	for i := range 10 {
		events = append(events, sample(t, event.ResourceStarted, fmt.Sprintf("web-%d", i)))
	}
	n := notice(events...)
	n.Total = 37
	c := notification.ComposeMessage(n)
	if len(c.Lines) != 10 || c.More != 27 || c.Title != "Resource started: 37 events" {
		t.Errorf("%q, %d lines and %d more", c.Title, len(c.Lines), c.More)
	}
	compareGolden(t, "digest", written(t, c))
}

// compareGolden compares encoded forms with the golden files of a name. JSON is indented.
func compareGolden(t *testing.T, name string, forms map[string][]byte) {
	t.Helper()
	for form, got := range forms {
		if strings.HasSuffix(form, "json") {
			var b bytes.Buffer
			if err := json.Indent(&b, got, "", "  "); err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			got = append(b.Bytes(), '\n')
		}
		golden := filepath.Join("testdata", name+"."+form)
		if *update {
			if err := os.WriteFile(golden, got, 0o600); err != nil {
				t.Fatal(err)
			}
		}
		if want, err := os.ReadFile(golden); err != nil || !bytes.Equal(got, want) {
			t.Errorf("%s is not what it was (%v); got:\n%s", golden, err, got)
		}
	}
}

// The vendors' own libraries, or widely used ones, accept our bodies.
func TestForms_AreTakenByWhoKnowsThem(t *testing.T) {
	for _, key := range keys() {
		forms := written(t, notification.ComposeMessage(notice(sample(t, key, "web <b> & *1*"))))
		checkSlack(t, key, forms["slack.json"])
		checkTeams(t, key, forms["teams.json"])
	}
}

func checkSlack(t *testing.T, key string, body []byte) slack.WebhookMessage {
	t.Helper()
	var m slack.WebhookMessage
	d := json.NewDecoder(bytes.NewReader(body))
	d.DisallowUnknownFields()
	if err := d.Decode(&m); err != nil || m.Blocks == nil || m.Text == "" {
		t.Fatalf("%s: %v in %s", key, err, body)
	}
	for _, b := range m.Blocks.BlockSet {
		switch b := b.(type) {
		case *slack.HeaderBlock:
			checkText(t, key, b.Text, 150)
		case *slack.SectionBlock:
			if len(b.Fields) > 10 || b.Text == nil && len(b.Fields) == 0 {
				t.Errorf("%s: a section with %d fields", key, len(b.Fields))
			}
			if b.Text != nil {
				checkText(t, key, b.Text, 3000)
			}
			for _, f := range b.Fields {
				checkText(t, key, f, 2000)
			}
		case *slack.ContextBlock, *slack.ActionBlock:
		default:
			t.Errorf("%s: a block of type %T", key, b)
		}
	}
	return m
}

func checkText(t *testing.T, key string, o *slack.TextBlockObject, most int) {
	t.Helper()
	if err := o.Validate(); err != nil || len([]rune(o.Text)) > most || o.Text == "" {
		t.Errorf("%s: %v, %d characters: %.100s", key, err, len([]rune(o.Text)), o.Text)
	}
}

func checkTeams(t *testing.T, key string, body []byte) {
	t.Helper()
	var m adaptivecard.Message
	if err := json.Unmarshal(body, &m); err != nil {
		t.Fatalf("%s: %v", key, err)
	}
	if err := m.Validate(); err != nil || len(m.Attachments) != 1 || m.Attachments[0].Content.Version != "1.4" {
		t.Errorf("%s: %v", key, err)
	}
	if len(body) > 28<<10 {
		t.Errorf("%s: %d bytes", key, len(body))
	}
}

// hostile are names that are known to break markup.
var hostile = map[string]string{
	"markup":   "<script>alert(1)</script><img src=x onerror=alert(1)>",
	"entities": "&lt;b&gt; &amp; \"quotes\" 'single'", "a mention of slack": "<!channel> <@U123> <!here|x>",
	"a mention of google chat": "<users/all>", "a mention of teams": "<at>everyone</at>",
	"links":          "[click](https://evil.example) <https://evil.example|here> http://evil.example",
	"an address":     "eve@evil.example www.evil.example evil.example",
	"lines":          "a\r\nBcc: eve@evil.example\r\n\r\nb\u2028c\u2029d\x85e",
	"formats":        "*bold* _italic_ ~gone~ `code` # head",
	"from the right": "\u202egnp.evil\u202c \u2067x\u2069 שלום مرحبا",
	"ten thousand":   strings.Repeat("n", 10_000), "ten thousand brackets": strings.Repeat("<", 10_000),
	"emoji":     strings.Repeat("👩‍👩‍👧", 3_000),
	"not utf-8": "a\xff\xfeb", "controls": "a\x00\x07\x1b[31mb", "nothing": "", "blanks": " \t\u200b ",
	"templates": "{{.Title}} ${x} %s %d %!", "quotes of json": `"},{"type":"header"`,
}

func TestForms_HostileNamesStayText(t *testing.T) {
	for what, name := range hostile {
		t.Run(what, func(t *testing.T) {
			for _, key := range keys() {
				checkHostile(t, key, name)
			}
		})
	}
}

// checkHostile checks all forms of a message and of a digest that contain the name.
func checkHostile(t testing.TB, key, name string) {
	t.Helper()
	e := sample(t, key, name)
	one, many := notice(e), notice(e, e, e, e, e, e, e, e, e, e)
	one.Text, many.Text, many.Total, one.Organisation = name, name, 1000, name
	for _, n := range []*notification.Notice{one, many} {
		for form, b := range written(t, notification.ComposeMessage(n)) {
			checkForm(t, key, form, b)
		}
	}
}

func checkForm(t testing.TB, key, form string, b []byte) {
	t.Helper()
	limit := map[string]int{
		"slack.json": 100 << 10, "teams.json": 28 << 10, "gchat.json": 32 << 10, "html": 100 << 10,
		"txt": 100 << 10,
	}[form]
	if len(b) > limit {
		t.Errorf("%s %s: %d bytes", key, form, len(b))
	}
	if strings.HasSuffix(form, "json") && !json.Valid(b) {
		t.Errorf("%s %s: no JSON: %s", key, form, b)
	}
	forbidden := map[string][]string{
		"slack.json": {"<!", "<@", "<http"}, "gchat.json": {"<users", "<script", "<img", "<https://evil", "<a"},
		"teams.json": {"\r", "\x1b"},
		"html":       {"<script", "<img", "<at", "<users", "<!channel", "href=\"http://evil", "evil.example"},
		"txt":        {"\r", "evil.example", "://evil", "eve@evil"},
	}
	for _, bad := range append(forbidden[form], "\u202e", "\u2067", "\u2028", "\x00", "\x1b") {
		if bytes.Contains(b, []byte(bad)) {
			t.Errorf("%s %s has %q: %.2000s", key, form, bad, b)
		}
	}
}

// Truncation for Slack and Google Chat never cuts an escape in two.
func TestForms_EscapesAreWhole(t *testing.T) {
	for n := 140; n < 160; n++ {
		c := notification.ComposeMessage(notice(sample(t, event.ResourceStarted,
			strings.Repeat("a", n)+strings.Repeat("&", 5_000))))
		for form, b := range written(t, c) {
			if rest := strings.NewReplacer("&amp;", "", "&lt;", "", "&gt;", "", "&#39;", "", "&#34;", "", "&nbsp;",
				"").Replace(string(b)); (form == "slack.json" || form == "html") && strings.Contains(rest, "&") {
				t.Errorf("%s: an escape is cut: %s", form, b)
			}
		}
	}
}

// All links lead to our own API.
func TestCompose_LinksToRecordsOfTheAPI(t *testing.T) {
	for subject, want := range map[string]string{
		"act_01k6v0e4y0c2b7m9q8r5t3w1xz": "https://lamplighter.test/actions/act_01k6v0e4y0c2b7m9q8r5t3w1xz",
		"bud_1":                          "https://lamplighter.test/budgets/bud_1",
		"anom_1":                         "", "": "", "act_/../x": "", "act_\"": "", "javascript:alert(1)": "",
	} {
		e := sample(t, event.ResourceStarted, "web-1")
		e.Subject = subject
		if got := notification.ComposeMessage(notice(e)).Link; got != want {
			t.Errorf("%q leads to %q, want %q", subject, got, want)
		}
	}
	for _, base := range []string{"", "javascript:alert(1)", "lamplighter.test"} {
		n := notice(sample(t, event.ResourceStarted, "web-1"))
		if n.BaseURL = base; notification.ComposeMessage(n).Link != "" {
			t.Errorf("a link with the base %q", base)
		}
	}
}

func FuzzForms_NoNameOpensAnything(f *testing.F) {
	for _, name := range hostile {
		if len(name) < 200 {
			f.Add(name)
		}
	}
	f.Fuzz(func(t *testing.T, name string) {
		for _, key := range []string{
			event.ResourceFailed, "budget.warning", "cost.anomaly.team.critical",
			notification.RecommendationShared,
		} {
			checkHostile(t, key, strings.ReplaceAll(name, "\\", "/"))
		}
	})
}
