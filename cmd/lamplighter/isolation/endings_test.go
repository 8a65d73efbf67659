package isolation

import (
	"fmt"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"testing"

	"lamplighter.dev/cmd/lamplighter/testenv"
	"lamplighter.dev/cmd/lamplighter/testenv/probe"
	"lamplighter.dev/functions"
	"lamplighter.dev/shared/api/identity"
	"lamplighter.dev/shared/engine/table"
	"lamplighter.dev/shared/foundation/fault"
)

// newEndings returns a sweep with a victim, who has one of everything, and an intruder with a session of their own.
func newEndings(t *testing.T) *sweep {
	t.Helper()
	s := probe.Start(t)
	mine, theirs := s.NewCaller(t, s.NewOwner("victim@example.com")), s.NewCaller(t, s.NewOwner("intruder@example.com"))
	w := &sweep{t: t, mine: mine, theirs: theirs, a: mine.Settle(t, victimMark)}
	w.b = probe.Values{"email": "intruder@example.com", "confirm": "nothing", "sessionID": strings.Repeat("a", 26)}
	w.ops = probe.Operations(t, functions.Describe(s.Platform).YAML())
	s.RebuildCosts(t)
	return w
}

// unsent are the members of auth bodies that are secrets of the victim. A caller who has one may use it.
var unsent = []string{"password", "currentPassword", "otp", "token", "resetToken", "code", "state"}

// freshChallenge matches the random challenge of a log-in with a passkey.
var freshChallenge = regexp.MustCompile(`"challenge":"[\w-]+"`)

// TestSweep_AuthBodiesTellNothingOfAnotherTenant sends each member of each body of the group "Authentication", and each
// parameter, with the victim's value and with a value that nobody has. Both answers must be the same, and the victim's
// sessions, account and organization must live on.
func TestSweep_AuthBodiesTellNothingOfAnotherTenant(t *testing.T) {
	t.Parallel()
	w := newEndings(t)
	before := w.snapshot(w.mine, w.a)
	w.secrets = probe.IssuedIDs(before)
	victims, nobodys := w.authValues()
	for _, op := range w.ops {
		if !slices.Contains(op.Tags, "Authentication") && op.OperationID != "deleteOrganisation" {
			continue
		}
		for _, at := range w.authSlots(op) {
			if victims[at.name] != "" {
				w.compareAuth(op, at, [2]string{victims[at.name], nobodys[at.name]})
			}
		}
	}
	if w.tried < 15 {
		t.Errorf("%d cases are fewer than the operations call for", w.tried)
	}
	w.mine.Service.WaitSettled()
	w.sameAs(before, w.snapshot(w.mine, w.a))
}

// authValues returns the victim's values of members and parameters, and values of the same form that nobody has.
func (w *sweep) authValues() (victims, nobodys map[string]string) {
	var in struct{ RefreshToken string }
	w.mine.Call(http.MethodPost, "/auth/login",
		map[string]string{"email": "victim@example.com", "password": testenv.Password}, &in)
	var org struct{ Name string }
	w.mine.Call(http.MethodGet, "/organisation", nil, &org)
	victims = map[string]string{
		"email": "victim@example.com", "tenantID": w.mine.Org, "refreshToken": in.RefreshToken,
		"sessionID": w.a["sessionID"], "domain": "victim.example.com", "confirm": "victim@example.com",
		"confirm of deleteOrganisation": org.Name, "tokenID": w.a["tokenID"],
	}
	nobodys = map[string]string{
		"email": "nobody@example.com", "tenantID": unheard(w.mine.Org), "refreshToken": in.RefreshToken + "x",
		"sessionID": unheard(w.a["sessionID"]), "domain": "nobody.example.com", "confirm": "nobody@example.com",
		"confirm of deleteOrganisation": "Org of nobody@example.com", "tokenID": unheard(w.a["tokenID"]),
	}
	return victims, nobodys
}

// authSlots returns all parameters and members of op, except secrets. The refresh token of another user only matters
// where it does not give tokens.
func (w *sweep) authSlots(op probe.Operation) []slot {
	var out []slot
	for _, p := range op.Parameters {
		out = append(out, slot{p.Value.In, p.Value.Name})
	}
	for _, name := range probe.MemberNames(probe.BodySchema(op), 0) {
		out = append(out, slot{"body", name})
	}
	return slices.DeleteFunc(out, func(s slot) bool {
		return slices.Contains(unsent, s.name) || s.name == "refreshToken" && op.OperationID != "logOut"
	})
}

// compareAuth asks op with the victim's value and with nobody's.
func (w *sweep) compareAuth(op probe.Operation, at slot, values [2]string) {
	w.t.Helper()
	w.b["password"] = testenv.Password
	if at.name == "email" {
		w.b["password"] = "a password of nobody" // all users of this test have the same one
	}
	var answers [2]string
	for i, v := range values {
		status, text := w.ask(op, at, v)
		for _, sent := range []string{v, "intruder@example.com"} {
			text = strings.ReplaceAll(text, sent, "X")
		}
		w.silent(op.OperationID+" with another's "+at.name, text, "")
		text = freshChallenge.ReplaceAllString(probe.IDPattern.ReplaceAllString(text, "ID"), "CHALLENGE")
		answers[i] = fmt.Sprint(status, " ", text)
	}
	if answers[0] != answers[1] {
		w.t.Errorf("%s with the victim's %s answers\n%s\nand with nobody's\n%s", op.OperationID, at.name, answers[0],
			answers[1])
	}
	w.tried++
}

// sameAs reports the answers that have changed.
func (w *sweep) sameAs(before, after map[string]string) {
	w.t.Helper()
	for path, was := range before {
		// log-ins of the victim's own are sessions and rows of their own log
		if !strings.HasPrefix(path, "/audit-logs") && !strings.HasPrefix(path, "/auth/sessions") && after[path] != was {
			w.t.Errorf("%s of the victim was\n%s\nand is\n%s", path, was, after[path])
		}
	}
}

// TestSweep_EndsOfOneTenantLeaveTheOther ends sessions, accounts and an organization for real: first the account of a
// member of both organizations, then the intruder's organization, and last the intruder's account. Neither an answer
// nor a row of the intruder's audit log may tell of the victim, whose answers stay as they were.
func TestSweep_EndsOfOneTenantLeaveTheOther(t *testing.T) {
	t.Parallel()
	w := newEndings(t)
	before := w.snapshot(w.mine, w.a)
	w.secrets = probe.IssuedIDs(before)
	w.endMemberOfBoth()
	w.endIntruder()
	w.mine.Service.WaitSettled()
	w.sameAs(before, w.snapshot(w.mine, w.a))
	for _, row := range (&side{Caller: w.mine}).rows(t) {
		if strings.Contains(row, "intruder") || strings.Contains(row, w.theirs.Org) {
			t.Errorf("the victim's audit log tells of the intruder: %s", row)
		}
	}
}

// endMemberOfBoth deletes the account of a viewer of both organizations, in a session in the intruder's.
func (w *sweep) endMemberOfBoth() {
	w.t.Helper()
	email := w.mine.AddColleague(w.t, "leaver@example.com")
	w.theirs.AddColleague(w.t, email)
	c := w.mine.Service.NewClient()
	c.LogIn(email, w.theirs.Org)
	leaver := w.mine.Service.NewCaller(w.t, c)
	w.succeed(leaver, http.MethodPost, "/auth/logout", "{}")
	w.refuse(leaver, http.StatusBadRequest, http.MethodDelete, "/auth/account", `{"confirm":"victim@example.com"}`)
	w.succeed(leaver, http.MethodDelete, "/auth/account", `{"confirm":"`+email+`"}`)
	w.refuse(leaver, http.StatusUnauthorized, http.MethodGet, "/auth/sessions", "")
	w.mine.Service.Eventually("the end of both memberships", func() bool {
		return !strings.Contains(w.mine.Ask(w.t, http.MethodGet, "/users", "").Body.String(), email) &&
			!strings.Contains(w.theirs.Ask(w.t, http.MethodGet, "/users", "").Body.String(), email)
	})
	theirs, departures := (&side{Caller: w.theirs}).rows(w.t), 0
	for _, row := range theirs {
		w.silent("the audit log of the intruder's organization", row, "")
		if strings.Contains(row, w.mine.Org) {
			w.t.Errorf("the audit log of the intruder's organization names the other: %s", row)
		}
		if strings.Contains(row, `"leaveOrganisation"`) {
			departures++
		}
	}
	if departures != 1 {
		w.t.Errorf("the intruder's log has %d departures of %d rows, want one", departures, len(theirs))
	}
}

// endIntruder deletes the intruder's organization and then the account, which is refused while it is its last owner.
func (w *sweep) endIntruder() {
	w.t.Helper()
	const confirm = `{"confirm":"intruder@example.com"}`
	w.succeed(w.theirs, http.MethodPost, "/auth/logout", "{}")
	w.refuse(w.theirs, http.StatusConflict, http.MethodDelete, "/auth/account", confirm)
	w.refuse(w.theirs, http.StatusBadRequest, http.MethodDelete, "/organisation",
		`{"confirm":"Org of victim@example.com"}`)
	w.succeed(w.theirs, http.MethodDelete, "/organisation", `{"confirm":"Org of intruder@example.com"}`)
	c := w.theirs.Service.NewClient()
	c.LogIn("intruder@example.com", "")
	last := w.theirs.Service.NewCaller(w.t, c)
	w.succeed(last, http.MethodDelete, "/auth/account", confirm)
	w.refuse(last, http.StatusUnauthorized, http.MethodDelete, "/auth/account", confirm)
	ended := identity.MemberKey(w.theirs.Org, w.theirs.Claims.User)
	w.mine.Service.Eventually("the first pass of the erasure", func() bool {
		_, err := w.mine.Service.Platform.Table.Get(table.Within(w.t.Context(), ended.PK), ended)
		return fault.Is(err, fault.NotFound)
	})
}

func (w *sweep) succeed(c *probe.Caller, method, path, body string) {
	w.t.Helper()
	w.refuse(c, http.StatusOK, method, path, body)
}

// refuse makes a request that must have the status, and whose answer must not tell of the victim.
func (w *sweep) refuse(c *probe.Caller, status int, method, path, body string) {
	w.t.Helper()
	res := c.Ask(w.t, method, path, body)
	if res.Code != status {
		w.t.Errorf("%s %s %s: %d %s, want %d", method, path, body, res.Code, res.Body, status)
	}
	w.silent(method+" "+path, res.Body.String(), "")
}
