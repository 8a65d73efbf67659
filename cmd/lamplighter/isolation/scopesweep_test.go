package isolation

import (
	"cmp"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"lamplighter.dev/cmd/lamplighter/local"
	"lamplighter.dev/cmd/lamplighter/testenv/probe"
	"lamplighter.dev/functions"
)

// scopeSweep calls operations as a user with a narrow scope and looks for anything outside the scope in the answers.
type scopeSweep struct {
	*sweep
	world, other *scopeWorld
	secrets      map[string]bool // ids, uids, names and markers outside the scope
	passed       map[string]bool // operations that answered 2xx to somebody
	leaks        map[string]int
}

// TestScopeSweep_ShowsNothingOutsideTheScope calls every operation of the interface description as five users with a
// narrow scope in one organization: the resources of an account, a region, a group, a tag, and one resource.
// Everything outside a scope has a marker in its name, tags, descriptions and addresses; no answer and no mail may
// hold one, or an id from outside.
func TestScopeSweep_ShowsNothingOutsideTheScope(t *testing.T) {
	t.Parallel()
	s := probe.Start(t)
	owner := s.NewCaller(t, s.NewOwner("head@example.com"))
	worlds := newScopeWorlds(t, owner)
	all := &sweep{t: t, mine: owner}
	all.ops = probe.Operations(all.t, functions.Describe(s.Platform).YAML())
	answers := map[string]string{}
	for _, w := range worlds {
		s.Clock.Advance(time.Minute)
		maps.Copy(answers, all.snapshot(owner, w.values))
	}
	if t.Failed() {
		for line := range strings.SplitSeq(s.Log.String(), "\n") {
			if strings.Contains(line, "ERROR") {
				t.Log(line)
			}
		}
	}
	ids, passed := attributedIDs(worlds, answers), map[string]bool{}
	for i, w := range worlds {
		t.Run(w.marker, func(t *testing.T) {
			s.Clock.Advance(time.Minute)
			other := worlds[(i+1)%len(worlds)]
			v := &scopeSweep{
				sweep: &sweep{
					t: t, mine: owner, theirs: w.narrow, a: other.values, b: w.values,
					ops: slices.Clone(all.ops),
				},
				world: w, other: other, passed: passed, leaks: map[string]int{},
			}
			v.secrets = v.secretsOf(worlds, ids)
			v.run()
		})
	}
	s.WaitSettled()
	mailsWithinScopes(t, s, worlds)
	everyScopedOperationPassed(t, s, passed)
}

// secretsOf returns the texts that must not appear in answers: all names and ids of the other worlds, and the
// resources of the own account outside the scope.
func (v *scopeSweep) secretsOf(worlds []*scopeWorld, ids map[string]map[string]bool) map[string]bool {
	out := maps.Clone(v.world.outside)
	for _, w := range worlds {
		if w != v.world {
			out[w.marker] = true
			maps.Copy(out, ids[w.marker])
		}
	}
	for id := range ids[v.world.marker] {
		delete(out, id)
	}
	return out
}

// run reads everything, asks for things outside the scope, changes everything, and reads everything again.
func (v *scopeSweep) run() {
	v.eachOperation(v.isRead, v.readOwn)
	v.eachOperation(func(probe.Operation) bool { return true }, v.askForeign)
	v.eachOperation(func(op probe.Operation) bool { return !v.isRead(op) && op.Method != http.MethodDelete },
		v.changeOwn)
	v.theirs.Service.WaitSettled()
	v.eachOperation(v.isRead, v.readOwn)
	slices.Reverse(v.ops) // subscriptions before their channels
	v.eachOperation(func(op probe.Operation) bool { return op.Method == http.MethodDelete }, v.changeOwn)
}

func (v *scopeSweep) isRead(op probe.Operation) bool { return op.Method == http.MethodGet }

// eachOperation calls do for the selected operations of a signed-in caller, those that end the caller's membership
// last.
func (v *scopeSweep) eachOperation(selected func(probe.Operation) bool, do func(probe.Operation)) {
	ends := []string{"logOut", "leaveOrganisation"}
	ops := slices.Clone(v.ops)
	slices.SortStableFunc(ops, func(a, b probe.Operation) int {
		return cmp.Compare(slices.Index(ends, a.OperationID), slices.Index(ends, b.OperationID))
	})
	for _, op := range ops {
		if !op.IsPublic() && selected(op) {
			do(op)
		}
	}
}

// send sends a request and examines the answer. foreign is a value from outside the scope that the request contains.
func (v *scopeSweep) send(op probe.Operation, target, body, foreign string) {
	v.t.Helper()
	res := v.theirs.Ask(v.t, op.Method, target, body)
	if res.Code/100 == 2 {
		v.passed[op.OperationID] = true
		v.keep(op, res.Body.Bytes())
	}
	v.examine(op, op.Method+" "+unescaped(target)+" "+body, fmt.Sprint(res.Code, " ", res.Body.String()), foreign)
}

// unescaped returns a target with its escapes decoded.
func unescaped(target string) string {
	if out, err := url.QueryUnescape(target); err == nil {
		return out
	}
	return target
}

// examine reports the secrets in an answer, at most three of an operation.
func (v *scopeSweep) examine(op probe.Operation, request, answer, foreign string) {
	v.t.Helper()
	text := strings.ToLower(answer)
	if foreign != "" {
		text = strings.ReplaceAll(text, strings.ToLower(foreign), "")
		text = strings.ReplaceAll(text, strings.ToLower(bare(foreign)), "")
	}
	for _, shown := range append(shownOutside[""], shownOutside[op.OperationID]...) {
		text = shown.pattern.ReplaceAllString(text, "")
	}
	request = strings.ToLower(request)
	for secret := range v.secrets {
		at := strings.Index(text, strings.ToLower(secret))
		if at < 0 || strings.Contains(request, strings.ToLower(secret)) {
			continue
		}
		if v.leaks[op.OperationID]++; v.leaks[op.OperationID] <= 3 {
			v.t.Errorf("%s: %.300s\nshows %s, which is outside the scope: …%s…", op.OperationID, request, secret,
				text[max(at-200, 0):min(at+100, len(text))])
		}
		return
	}
}

// askForeign asks for each record outside the scope, and for an id that does not exist. Both answers must be the
// same.
func (v *scopeSweep) askForeign(op probe.Operation) {
	v.t.Helper()
	for _, at := range v.slots(op) {
		foreign := v.a.Value(op, at.name)
		if foreign == "" || foreign == v.b.Value(op, at.name) || strings.Contains(op.Path, "/users/me") {
			continue
		}
		nobodys := unheard(foreign)
		status, got := v.ask(op, at, foreign)
		wantStatus, want := v.ask(op, at, nobodys)
		if sharedByAll[op.OperationID+" "+at.name] == "" &&
			(status != wantStatus ||
				strings.ReplaceAll(got, bare(foreign), "X") != strings.ReplaceAll(want, bare(nobodys), "X")) {
			v.t.Errorf("%s with a %s outside the scope: answered %d %.300s\nwhere one that does not exist gets "+
				"%d %.300s", op.OperationID, at.name, status, got, wantStatus, want)
		}
		v.examine(op, op.OperationID+" with a foreign "+at.name+" besides "+v.ownValues(), got, foreign)
		v.tried++
	}
}

// ownValues returns the values that a request may repeat.
func (v *scopeSweep) ownValues() string {
	return strings.Join(slices.Collect(maps.Values(v.b)), " ")
}

// readOwn sends a GET with each value of each parameter, one at a time. The values name the records of the caller's
// own world and those that it shares with another.
func (v *scopeSweep) readOwn(op probe.Operation) {
	v.t.Helper()
	for _, values := range v.valueSets() {
		target := v.target(op, values)
		v.send(op, target, "", "")
		for _, p := range op.Parameters {
			for _, value := range v.choices(op, p.Value.Name) {
				if p.Value.In == "query" {
					v.send(op,
						target+probe.QuerySeparator(target)+url.QueryEscape(p.Value.Name)+"="+url.QueryEscape(value),
						"", value)
				}
			}
		}
		for _, dimension := range dimensions(op) {
			v.send(op, target+probe.QuerySeparator(target)+"dims="+url.QueryEscape(dimension), "", "")
		}
	}
}

// changeOwn sends the sample body of op for the caller's own records and for the shared ones.
func (v *scopeSweep) changeOwn(op probe.Operation) {
	v.t.Helper()
	for _, values := range v.valueSets() {
		body := ""
		if sample := functions.SampleBodies()[op.OperationID]; op.RequestBody != nil {
			body = v.fillSample(op, values, cmp.Or(string(narrowBodies[op.OperationID]), string(sample.Body), "{}"))
		}
		v.send(op, v.target(op, values), body, "")
	}
}

// mailsWithinScopes checks that each user with a narrow scope gets a mail about the budget of that scope, and that no
// mail to them contains a marker of another world.
func mailsWithinScopes(t *testing.T, s *probe.Service, worlds []*scopeWorld) {
	t.Helper()
	s.Eventually("a mail of a budget to a narrow user", func() bool {
		return slices.ContainsFunc(mailTexts(t, s), func(text string) bool {
			return strings.Contains(text, "To: <user-of-") && strings.Contains(text, "Scope budget of ")
		})
	})
	for _, text := range mailTexts(t, s) {
		for _, w := range worlds {
			others := slices.DeleteFunc(markersIn(worlds, text), func(m string) bool { return m == w.marker })
			if strings.Contains(text, "user-of-"+w.marker+"@") && len(others) > 0 {
				t.Errorf("a mail to the user of %s holds %v: %s", w.marker, others, text)
			}
		}
	}
	t.Logf("%d mails", len(mailTexts(t, s)))
}

// mailTexts returns the texts of the sent mails.
func mailTexts(t *testing.T, s *probe.Service) []string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(s.Setup.Dir, "mails", "*"))
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for _, f := range files {
		text, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, string(text))
	}
	return out
}

// everyScopedOperationPassed checks that each scoped operation has succeeded for one of the users. Otherwise the
// sweep would not see its answers.
func everyScopedOperationPassed(t *testing.T, s *probe.Service, passed map[string]bool) {
	t.Helper()
	for _, ops := range local.Operations(s.Platform) {
		for i := range ops {
			switch id := ops[i].ID; {
			case ops[i].Scoped && !passed[id] && neverPassed[id] == "":
				t.Errorf("%s never succeeded for a narrow user: its answers were not examined", id)
			case passed[id] && neverPassed[id] != "":
				t.Errorf("%s succeeded: take it off neverPassed", id)
			}
		}
	}
}
