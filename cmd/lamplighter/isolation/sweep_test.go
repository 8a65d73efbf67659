// Package isolation checks that callers see only the records of their organization and their scope.
package isolation

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/getkin/kin-openapi/openapi3"

	"lamplighter.dev/cmd/lamplighter/testenv"
	"lamplighter.dev/cmd/lamplighter/testenv/probe"
	"lamplighter.dev/functions"
	"lamplighter.dev/shared/foundation/clock"
)

// TestSweep asks every operation, as one organization, for the records of another. It tries each parameter and member
// that names a record, one at a time, while all others name records of the caller's own. It uses the token of a
// session, a personal access token, and last the tokens of a user who was expelled from the other organization. The
// cases come from the interface description: a new declared operation is swept too, and an unknown name fails the
// test.
func TestSweep(t *testing.T) {
	t.Parallel()
	s := probe.Start(t)
	mine, theirs := s.NewCaller(t, s.NewOwner("victim@example.com")), s.NewCaller(t, s.NewOwner("intruder@example.com"))
	w := &sweep{t: t, mine: mine, theirs: theirs, a: mine.Settle(t, victimMark), b: theirs.Settle(t, "intruder-1")}
	w.ops = probe.Operations(w.t, functions.Describe(s.Platform).YAML())
	s.RebuildCosts(t)
	before := w.snapshot(mine, w.a)
	w.secrets = probe.IssuedIDs(before)
	if n := strings.Count(fmt.Sprint(before), victimMark); n < 60 {
		t.Fatalf("the victim's answers have %d of its names; each of its records has one", n)
	}
	if len(w.secrets) < 60 {
		t.Fatalf("the victim has %d ids; a cloud of 60 resources has more", len(w.secrets))
	}
	for _, theirs.AsProgram = range []bool{false, true} {
		for _, op := range w.ops {
			w.operation(op)
		}
	}
	theirs.AsProgram = false
	if w.tried < 150 {
		t.Errorf("%d cases are fewer than the operations call for", w.tried)
	}
	s.WaitSettled()
	after := w.snapshot(mine, w.a)
	for path, was := range before {
		if after[path] != was {
			t.Errorf("%s of the victim was\n%s\nand is\n%s", path, was, after[path])
		}
	}
	for path, body := range w.snapshot(theirs, w.b) {
		if !strings.HasPrefix(path, "/audit-logs") { // which tell the intruder of every try
			w.silent("GET "+path, body, "")
		}
	}
	w.expelled()
}

// expelled asks for every record as a former member of the victim's organization, with the session and the personal
// access token of that membership. The authorizer must refuse each request.
func (w *sweep) expelled() {
	w.t.Helper()
	email := w.mine.AddColleague(w.t, "expelled@example.com")
	c := w.mine.Service.NewClient()
	c.LogIn(email, w.mine.Org)
	was := w.mine.Service.NewCaller(w.t, c)
	var token struct {
		Secret string `json:"token"`
	}
	c.Call(http.MethodPost, "/personal-access-tokens", map[string]string{"name": "Kept"}, &token)
	was.Program = token.Secret
	if res := was.Ask(w.t, http.MethodGet, "/resources", ""); res.Code != http.StatusOK {
		w.t.Fatalf("while a member: %d %s", res.Code, res.Body)
	}
	w.mine.Call(http.MethodDelete, "/users/"+email, nil, nil)
	for _, was.AsProgram = range []bool{false, true} {
		for _, op := range w.ops {
			if op.IsPublic() {
				continue
			}
			path := op.Path
			for _, p := range op.Parameters {
				if p.Value.In == "path" {
					path = strings.ReplaceAll(path, "{"+p.Value.Name+"}",
						url.PathEscape(w.a.Value(op, p.Value.Name)))
				}
			}
			res := was.Ask(w.t, op.Method, path, "{}", "X-Organisation-Id", w.mine.Org)
			if res.Code != http.StatusUnauthorized {
				w.t.Errorf("%s as one who was expelled (program %v): %d %.200s", op.OperationID, was.AsProgram,
					res.Code, res.Body)
			}
		}
	}
}

type sweep struct {
	t            *testing.T
	mine, theirs *probe.Caller
	a, b         probe.Values
	ops          []probe.Operation
	secrets      map[string]bool // every id that the victim's answers hold
	tried        int
}

// naming matches the names of parameters and members that refer to a record by its id.
var naming = regexp.MustCompile(`(?i)(id|ids|uid|uids)$|_id$|^(email|scope|role|defaultRole)$`)

// free lists the parameters and members that do not refer to a record of an organization, with the reason.
var free = map[string]string{
	"connectCloudAccount cloudAccountID": "the number of an account in its cloud: two organizations may both " +
		"manage it",
	"connectCloudAccount accountID":           "as above",
	"connectCloudOrganisation organisationID": "the id of an organization in its cloud, as above",
	"connectCloudOrganisation ids":            "numbers of accounts in their cloud, as above",
	"updateCloudOrganisation ids":             "as above",
	"syncCloudOrganisation confirmationID": "a hash of the members of one organization of a cloud, compared with " +
		"that organization's own alone",
	"beginGoogleConnection accountID": "only one of Google Cloud can be named, which " +
		"TestOAuth_RenewsTheCredentialsOfAnAccount does",
	"finalizeGoogleConnection projectID": "the id of a project in its cloud, as above",
	"finalizeGoogleConnection connectionID": "a secret of one session, which others try in " +
		"TestOAuth_AConnectionIsOfItsSessionAndEnds",
	"confirmPasskey id":              "the id of a credential of WebAuthn, which an authenticator has chosen",
	"confirmPasskey rawId":           "as above",
	"confirmPasskeyLogIn id":         "as above",
	"confirmPasskeyLogIn rawId":      "as above",
	"confirmPasskeyLogIn tenantID":   "a wish, which is looked at when the assertion is verified",
	"refresh id":                     "the id of a credential, as above",
	"refresh rawId":                  "as above",
	"removePasskey id":               "as above",
	"removePasskey rawId":            "as above",
	"inviteUser email":               "an address is nobody's: anybody can be invited",
	"beginSignIn provider":           "the name of an identity provider, which is the installation's",
	"finishSignIn provider":          "as above",
	"beginSignIn tenantID":           "a wish, which is looked at when somebody has signed in",
	"registerCluster clusterName":    "a name within an account, whose id is swept",
	"deregisterCluster clusterName":  "as above",
	"createSchedule id":              "the id of a cron, which is its schedule's to choose",
	"updateSchedule id":              "as above",
	"previewNewSchedule id":          "as above",
	"createRecommendationRule id":    "the id of a rule, which each organization chooses among its own",
	"planRecommendationRules id":     "as above",
	"planRecommendationRules scope":  "the kind of what scopeID names",
	"updateRecommendationRule scope": "as above",
	"getConsoleScreen screen":        "the name of a screen: the page is the same for everybody",
	"getConsoleRecord screen":        "as above",
	"getConsoleRecord recordID":      "as above: the page asks for the record with the user's token",
	"getConsoleFile version":         "the sum of the console's files, which are the same for everybody",
	"getConsoleFile file":            "as above",
	"getConsoleScreenFile version":   "as above",
	"getConsoleScreenFile file":      "as above",
	"getTagCosts tagKey":             "a key that tags may have in any organization",
	"listTagResourceCosts tagKey":    "as above",
	"listTagResourceCosts tagValue":  "a value, as above",
	"receiveBuild buildID":           "nobody has a build yet",
	"getWakePage token": "the secret of a wake link: whoever has it may use it, without an " +
		"organization",
	"wake token":                  "as above",
	"getPasswordPage token":       "of a link in a mail: whoever has it owns the mailbox",
	"setPasswordByPage token":     "as above",
	"getUnsubscribePage token":    "of a link in a mail, which names organization and user and is signed",
	"unsubscribe token":           "as above",
	"getEmailPreference eventKey": "a type of events, which all organizations have",
	"setEmailPreference eventKey": "as above",
	"createChannel email":         "an address is nobody's: a channel may lead to any",
	"updateChannel email":         "as above",
}

// plain has values for required members and parameters that refer to no record.
var plain = map[string]any{
	"rule":      "aws-ec2-idle",
	"expiresAt": clock.System{}.Now().Add(24 * time.Hour).Format(time.RFC3339),
	"type":      "start", "provider": "simulated", "resourceType": "aws-ec2", "name": "Swept", "tier": 2, "order": 1,
	"method": "cloud_iam", "email": "intruder@example.com", "password": testenv.Password,
	"filters": map[string][]string{"search": {"swept"}},
	"otp":     "000000", "fileName": "swept.csv", "bytes": 7, "key": "env", "amountUSD": "10", "unit": "order",
	"value": "1", "reason": "Swept", "date": "2026-11-20",
	"eventType": "resource.failed", "enabled": true, "webhookURL": "ops@example.com", "channel": "email",
	"url": "https://hooks.example.com/", "config": map[string]string{"token": "swept"},
	"timezone": "UTC", "expectedMultiplier": 2,
	"eventStart": clock.System{}.Now().Add(72 * time.Hour).Format(time.RFC3339),
	"eventEnd":   clock.System{}.Now().Add(73 * time.Hour).Format(time.RFC3339),
}

// slot is a place in a request that refers to a record.
type slot struct{ in, name string }

// slots returns the places in requests of op that refer to a record.
func (w *sweep) slots(op probe.Operation) []slot {
	var out []slot
	for _, p := range op.Parameters {
		if p.Value.In == "path" || p.Value.In == "query" && naming.MatchString(p.Value.Name) {
			out = append(out, slot{p.Value.In, p.Value.Name})
		}
	}
	for _, name := range probe.MemberNames(probe.BodySchema(op), 0) {
		if naming.MatchString(name) {
			out = append(out, slot{"body", name})
		}
	}
	return slices.DeleteFunc(out, func(s slot) bool {
		// the email of a user's account, which belongs to no organization
		return free[op.OperationID+" "+s.name] != "" || s.name == "email" && op.IsPublic()
	})
}

// operation asks op for each record of the victim's, and for an id that does not exist. Both answers must be the
// same.
func (w *sweep) operation(op probe.Operation) {
	w.t.Helper()
	for _, at := range w.slots(op) {
		theirs := w.a.Value(op, at.name)
		if theirs == "" {
			w.t.Errorf("%s: nothing is known that its %s %q names: add it to probe.Values, or to free with a reason",
				op.OperationID, at.in, at.name)
			continue
		}
		nobodys := unheard(theirs)
		status, got := w.ask(op, at, theirs)
		wantStatus, want := w.ask(op, at, nobodys)
		title := fmt.Sprintf("%s with another's %s", op.OperationID, at.name)
		if status != wantStatus ||
			strings.ReplaceAll(got, bare(theirs), "X") != strings.ReplaceAll(want, bare(nobodys), "X") {
			w.t.Errorf("%s: answered %d %s\nwhere one that does not exist gets %d %s", title, status, got, wantStatus,
				want)
		}
		if !w.refusal(op, at, status) {
			w.t.Errorf("%s: answered %d %.300s", title, status, got)
		}
		w.silent(title, got, theirs)
		w.tried++
	}
}

// bare returns the id in a scope.
func bare(scope string) string { return scope[strings.LastIndexByte(scope, ':')+1:] }

// refusal reports whether status is a good answer. A filter finds nothing; any other request gets 404, or 400 if the
// id is one value among others of a body.
func (w *sweep) refusal(op probe.Operation, at slot, status int) bool {
	switch {
	case w.theirs.AsProgram && op.Extensions["x-session"] == true:
		return status == http.StatusForbidden
	case at.name == "tenantID":
		return status == http.StatusForbidden
	case at.in == "query", at.name == "uids":
		return status == http.StatusOK || status == http.StatusNotFound
	case at.in == "body":
		return status == http.StatusNotFound || status == http.StatusBadRequest &&
			strings.Contains(op.Responses.Status(status).Value.Content.Get("application/json").Schema.Ref, "Error")
	}
	return status == http.StatusNotFound
}

// victimMark is in the name of every record of the victim, and in the addresses of its people: settle puts it there.
const victimMark = "victim-1"

// silent checks that a text contains no id and no name of the victim's, except the value that the intruder sent.
func (w *sweep) silent(title, text, sent string) {
	w.t.Helper()
	unsent := text
	if sent != "" {
		unsent = strings.ReplaceAll(strings.ReplaceAll(text, sent, ""), bare(sent), "")
	}
	if strings.Contains(unsent, victimMark) {
		w.t.Errorf("%s: the answer has a name of another organization: %.300s", title, text)
	}
	for id := range probe.IssuedIDs(map[string]string{"": text}) {
		if w.secrets[id] && !strings.Contains(sent, id) {
			w.t.Errorf("%s: the answer names %s, which is another organization's: %.300s", title, id, text)
		}
	}
}

var last = regexp.MustCompile(`[0-9a-z]{6}$`)

// unheard returns an id of the same form that no record has.
func unheard(id string) string {
	return last.ReplaceAllStringFunc(id, func(s string) string { return strings.Repeat("0", len(s)) })
}

// ask sends op as the intruder, with foreign in the one slot.
func (w *sweep) ask(op probe.Operation, at slot, foreign string) (int, string) {
	w.t.Helper()
	path, query := op.Path, url.Values{}
	for _, p := range op.Parameters {
		v := w.b.Value(op, p.Value.Name)
		if at == (slot{p.Value.In, p.Value.Name}) {
			v = foreign
		}
		switch {
		case p.Value.In == "path":
			path = strings.ReplaceAll(path, "{"+p.Value.Name+"}", url.PathEscape(v))
		case p.Value.In == "query" && (v == foreign || p.Value.Required ||
			probe.OneOfRequired[op.OperationID+" "+p.Value.Name]):
			query.Set(p.Value.Name, v)
		}
	}
	body := ""
	if s := probe.BodySchema(op); s != nil {
		b, err := json.Marshal(w.body(op, s, at, foreign))
		if err != nil {
			w.t.Fatal(err)
		}
		body = string(b)
	}
	if len(query) > 0 {
		path += "?" + query.Encode()
	}
	res := w.theirs.Ask(w.t, op.Method, path, body)
	return res.Code, res.Body.String()
}

// body returns a body for op with the required members and the members on the way to the slot.
func (w *sweep) body(op probe.Operation, s *openapi3.Schema, at slot, foreign string) any {
	w.t.Helper()
	if s.Items != nil {
		return []any{w.body(op, s.Items.Value, at, foreign)}
	}
	out := map[string]any{}
	for name, ref := range s.Properties {
		leads := at.in == "body" && (name == at.name || slices.Contains(probe.MemberNames(ref.Value, 0), at.name))
		if leads || slices.Contains(s.Required, name) || plain[name] != nil && op.Security != nil ||
			probe.OneOfRequired[op.OperationID+" "+name] {
			if op.OperationID == "refresh" && name == "otp" { // the intruder has no second factor
				continue
			}
			out[name] = w.member(op, name, ref.Value, at, foreign)
		}
	}
	return out
}

func (w *sweep) member(op probe.Operation, name string, s *openapi3.Schema, at slot, foreign string) any {
	w.t.Helper()
	v := any(w.b.Value(op, name))
	switch {
	case at == slot{"body", name}:
		v = foreign
	case name == "refreshToken":
		v = w.refreshToken()
	case v == "" && len(s.Enum) > 0:
		v = s.Enum[0]
	case v == "" && plain[name] != nil:
		v = plain[name]
	}
	switch {
	case v == "" && (len(s.Properties) > 0 || s.Items != nil):
		return w.body(op, s, at, foreign)
	case v == "":
		w.t.Errorf("%s: nothing is known to send as %q: add it to plain", op.OperationID, name)
	case s.Type.Includes(openapi3.TypeArray):
		return []any{v}
	}
	return v
}

// refreshToken returns a refresh token of the intruder.
func (w *sweep) refreshToken() string {
	w.t.Helper()
	var out struct{ RefreshToken string }
	w.theirs.Call(http.MethodPost, "/auth/login",
		map[string]string{"method": "cloud_iam", "email": "intruder@example.com", "password": testenv.Password}, &out)
	return out.RefreshToken
}
