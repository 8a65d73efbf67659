package main

import (
	"bytes"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"lamplighter.dev/cmd/lamplighter/testenv"
)

// runningRule is a file with an own rule that is true for running machines, and an override.
const runningRule = `rules:
  - id: custom-running
    title: The machine runs
    resourceType: aws-ec2
    category: governance
    severity: low
    condition: res.status == 'running' && now - res.first_seen_at >= duration(p.age)
    params: {age: 0s}
    remediation: Stop it
    fixtures:
      true: {res: {status: running, first_seen_at: 2026-01-01T00:00:00Z}}
      false: {res: {status: stopped}}
      unknown: [res.status]
overrides:
  - {rule: aws-ec2-idle, scope: org, enabled: false}
`

// rulesCommand runs `lamplighter rules`.
func rulesCommand(t *testing.T, args ...string) (string, error) {
	t.Helper()
	var out bytes.Buffer
	err := run(t.Context(), append([]string{"rules"}, args...), &out, &out)
	return out.String(), err
}

// writeText writes a file of the test, and returns its path.
func writeText(t *testing.T, name, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestRules_AreTestedOffline(t *testing.T) {
	out, err := rulesCommand(t, "test", writeText(t, "rules.yaml", runningRule))
	if err != nil || out != "ok custom-running\n1 rules and 1 overrides are correct\n" {
		t.Errorf("%q, %v", out, err)
	}
	for change, want := range map[[2]string]string{
		{"res.status ==", "res.statu =="}:   `fact "statu" is not declared for aws-ec2; the nearest name is`,
		{"status: running", "status: lost"}: `fixture "true": the condition is false`,
		{"title:", "titel:"}:                `unknown field "titel"`,
		{"aws-ec2-idle", "aws-ec2-idel"}:    "the nearest name is aws-ec2-idle",
	} {
		path := writeText(t, "rules.yaml", strings.Replace(runningRule, change[0], change[1], 1))
		if out, err = rulesCommand(t, "test", path); err == nil || !strings.Contains(err.Error(), want) ||
			strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: %q, %v; want %q", change[1], out, err, want)
		}
	}
}

// provable is an answer of GET /recommendations/{recID} with the evidence of an own rule.
const provable = `{"data":{"id":"rec_1","resourceUid":"i-1","evidence":{"values":{"status":"running",
"first_seen_at":"2026-03-01T00:00:00Z"},"thresholds":{"age":"0s"},"rule":"custom-running","ruleVersion":4,
"at":"2026-03-02T00:00:00Z"}}}`

func TestRules_ProveARecommendationOffline(t *testing.T) {
	rules := writeText(t, "rules.yaml", runningRule)
	out, err := rulesCommand(t, "prove", writeText(t, "rec.json", provable), "-rules", rules)
	if err != nil || !strings.Contains(out, "custom-running version 4 for i-1 at 2026-03-02T00:00:00Z\n") ||
		!strings.Contains(out, "  status = running\n") ||
		!strings.HasSuffix(out, "proved: the condition is true with the stored evidence\n") {
		t.Errorf("%q, %v", out, err)
	}
	for change, want := range map[[2]string]string{
		{`"running"`, `"stopped"`}:                  "is false with the stored evidence: the recommendation is not",
		{`"status":"running",`, ``}:                 "is unknown with the stored evidence, without res.status",
		{`"status"`, `"state"`}:                     "does not read state, which the evidence has",
		{`"age":"0s"`, ``}:                          "the evidence has no parameter age",
		{"custom-running", "custom-other"}:          "name the file that has it with -rules",
		{"custom-running", "aws-ec2-idle"}:          "the evidence is of version 4 of rule aws-ec2-idle",
		{`"evidence"`, `"other"`}:                   "has no evidence",
		{`{"data"`, `<html>{"data"`}:                "the answer is not of this service",
		{`"ruleVersion":4`, `"ruleVersion":"four"`}: "the answer is not of this service",
	} {
		path := writeText(t, "rec.json", strings.Replace(provable, change[0], change[1], 1))
		if out, err = rulesCommand(t, "prove", path, "-rules", rules); err == nil ||
			!strings.Contains(err.Error(), want) {
			t.Errorf("%s: %q, %v; want %q", change[1], out, err, want)
		}
	}
	t.Setenv(tokenVariable, "")
	path := writeText(t, "rec.json", provable)
	if _, err = rulesCommand(t, "prove", path); err == nil || !strings.Contains(err.Error(), "with -rules") {
		t.Error(err)
	}
}

// A rule is planned, applied, evaluated, proved and undone, with a running service and its worker.
func TestRules_ArePlannedAppliedProvedAndUndone(t *testing.T) {
	e := testenv.Start(t, testenv.Setup{})
	c := e.NewOwner("ada@example.com")
	c.ConnectAccount("123456789012", testenv.FastCloud(60).WithoutBills())
	t.Setenv(tokenVariable, c.Token)
	t.Setenv("LAMPLIGHTER_URL", e.URL)
	path := writeText(t, "rules.yaml", runningRule)
	out, err := rulesCommand(t, "plan", path)
	plan := regexp.MustCompile(`lamplighter rules apply (job_\w+)\n$`).FindStringSubmatch(out)
	if err != nil || plan == nil || !regexp.MustCompile(`custom-running +added +0 > [1-9]`).MatchString(out) ||
		!strings.Contains(out, "  opened i-") || !strings.Contains(out, "compared with version 0") {
		t.Fatalf("%s\n%v", out, err)
	}
	if out, err = rulesCommand(t, "apply", plan[1]); err != nil || !strings.Contains(out, "Version 1 of the rules") {
		t.Fatalf("%s\n%v", out, err)
	}
	if _, err = rulesCommand(t, "apply", plan[1]); err == nil || !strings.Contains(err.Error(), "409: plan") {
		t.Errorf("applied again: %v", err)
	}
	c.Call(http.MethodPost, "/recommendations/refresh", map[string]string{}, nil)
	e.WaitSettled()
	var found struct{ Items []struct{ ID string } }
	c.Call(http.MethodGet, "/recommendations/resources?search=custom-running", nil, &found)
	if len(found.Items) == 0 {
		t.Fatal("the rule opened nothing")
	}
	if out, err = rulesCommand(t, "prove", found.Items[0].ID); err != nil || !strings.Contains(out, "\nproved:") {
		t.Errorf("%s\n%v", out, err)
	}
	if out, err = rulesCommand(t, "plan", "-restore", "0"); err != nil ||
		!regexp.MustCompile(`custom-running +removed +[1-9]\d* > 0`).MatchString(out) {
		t.Errorf("%s\n%v", out, err)
	}
	if _, err = rulesCommand(t, "plan", path); err == nil || !strings.Contains(err.Error(), "nothing to plan") {
		t.Error(err)
	}
}

func TestRules_SayWhatTheServiceAnswered(t *testing.T) {
	answers := map[string]string{
		"/recommendations/rules/plans/job_gateway/apply": `{"error":"unauthorized"}`,
		"/recommendations/rules/plans/job_moved/apply":   `{"error":{"message":"the rules have changed"}}`,
		"/recommendations/rules/plans/job_page/apply":    `<html>Bad gateway</html>`,
	}
	statuses := map[string]int{"gateway": 401, "moved": 409, "page": 502}
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		for name, status := range statuses {
			if strings.Contains(r.URL.Path, name) && r.Header.Get("Authorization") == "Bearer secret" {
				w.WriteHeader(status)
			}
		}
		_, _ = w.Write([]byte(answers[r.URL.Path]))
	}))
	defer srv.Close()
	t.Setenv(tokenVariable, "secret")
	for plan, want := range map[string]string{
		"job_gateway": "answers 401: unauthorized; is the token of LAMPLIGHTER_TOKEN still valid?",
		"job_moved":   "answers 409: the rules have changed", "job_page": "answers 502: <html>Bad gateway</html>",
	} {
		_, err := rulesCommand(t, "apply", plan, "-url", srv.URL)
		if err == nil || !strings.HasSuffix(err.Error(), want) {
			t.Errorf("%s: %v; want %q", plan, err, want)
		}
	}
	if _, err := rulesCommand(t, "apply", "job_1", "-url", "http://127.0.0.1:1"); err == nil ||
		!strings.Contains(err.Error(), "is not reached") {
		t.Error(err)
	}
}
