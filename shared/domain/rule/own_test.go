package rule

import (
	"encoding/json"
	"strings"
	"testing"
)

// written is an own rule as somebody writes it.
const written = `{"id":"custom-old-volume","title":"Volume is old","resourceType":"aws-ebs","category":"governance",
"severity":"low","condition":"now - res.created_at > duration(p.min_age) && res.size_gb > p.gb",
"params":{"min_age":"720h","gb":100},"remediation":"Delete it","savings":"all",
"fixtures":{"true":{},"false":{},"unknown":["res.size_gb"]}}`

// own returns the written rule with members replaced, as "title", "\"x\"".
func own(t *testing.T, members ...string) *OwnRule {
	t.Helper()
	all := map[string]json.RawMessage{}
	if err := json.Unmarshal([]byte(written), &all); err != nil {
		t.Fatal(err)
	}
	for i := 0; i < len(members); i += 2 {
		all[members[i]] = json.RawMessage(members[i+1])
	}
	b, err := json.Marshal(all)
	if err != nil {
		t.Fatal(err)
	}
	out := &OwnRule{}
	if err = json.Unmarshal(b, out); err != nil {
		t.Fatal(err)
	}
	return out
}

func TestOwnRule_BecomesARule(t *testing.T) {
	r, err := own(t).Rule(7)
	if err != nil {
		t.Fatal(err)
	}
	if r.ID != "custom-old-volume" || r.Version != 7 || r.Provider != "aws" || r.Severity != LowSeverity ||
		len(r.Params) != 2 || r.Params[0] != (Param{"gb", IntParam, "100"}) ||
		r.Params[1] != (Param{"min_age", DurationParam, "720h"}) || r.Effort != Medium || r.Verb != VerbAdvice ||
		r.Savings.Form != SavesAll || r.Autonomous {
		t.Errorf("%+v", r)
	}
}

func TestOwnRule_RefusesMistakesWithTheWayOut(t *testing.T) {
	for members, want := range map[[2]string]string{
		{"id", `"aws-ec2-idle"`}:                       "is a built-in rule; give another id, as custom-aws-ec2-idle,",
		{"id", `"old-volume"`}:                         "give custom- and lower-case words with hyphens",
		{"id", `"custom-Old"`}:                         "lower-case words",
		{"severity", `"bad"`}:                          `severity is "bad": give info`,
		{"category", `"bad"`}:                          `category "bad" is not one of`,
		{"resourceType", `"volume"`}:                   `type "volume" is no type of provider`,
		{"params", `{"gb":"a","min_age":"720h"}`}:      `parameter gb is a: give a number`,
		{"params", `{"gb":true,"min_age":"720h"}`}:     `parameter gb is true: give a number`,
		{"params", `{"gb":[1],"min_age":"720h"}`}:      `parameter gb is [1]: give a number`,
		{"params", `{"gb":"5","min_age":"720h"}`}:      `parameter gb is 5: give a number`,
		{"params", `{"gb":1e300,"min_age":"720h"}`}:    `parameter gb`,
		{"params", `{"gb":1,"min_age":"1h","more":1}`}: "the condition does not read parameter more",
		{"params", `{"min_age":"1h"}`}:                 "the condition reads p.gb, which the parameters lack",
		{"condition", `"res.size_gib > p.gb"`}:         "res.size_gib is no fact of aws-ebs; the nearest name is size",
		{"savings", `"much"`}:                          `savings "much": give none, all`,
		{"verb", `"explode"`}:                          `verb "explode" is not one of`,
		{"effort", `"huge"`}:                           "effort and risk are not low",
	} {
		_, err := own(t, members[0], members[1]).Rule(1)
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s %s: %v; want %q", members[0], members[1], err, want)
		}
	}
}

// A rule of 16,000 bytes is accepted, one of 16,001 is not.
func TestOwnRule_HasAtMost16000Bytes(t *testing.T) {
	o := own(t)
	b, err := json.Marshal(o)
	if err != nil {
		t.Fatal(err)
	}
	o.Remediation += strings.Repeat("x", MaxOwnBytes-len(b))
	if _, err = o.Rule(1); err != nil {
		t.Error(err)
	}
	o.Remediation += "x"
	if _, err = o.Rule(1); err == nil || !strings.Contains(err.Error(), "16001 bytes as JSON: at most 16000") {
		t.Error(err)
	}
}

func TestOverride_RefusesMistakesWithTheWayOut(t *testing.T) {
	for _, c := range []struct {
		o    BuiltInOverride
		want string
	}{
		{BuiltInOverride{Rule: "aws-ec2-idel", Scope: "org"}, "no such built-in rule; the nearest name is aws-ec2"},
		{BuiltInOverride{Rule: "custom-a", Scope: "org"}, "change an own rule itself"},
		{BuiltInOverride{Rule: "aws-ec2-idle", Scope: "team"}, `scope is "team"`},
		{BuiltInOverride{Rule: "aws-ec2-idle", Scope: "org", ScopeID: "x"}, "give org without an id"},
		{BuiltInOverride{Rule: "aws-ec2-idle", Scope: "account"}, "account or group with an id"},
		{BuiltInOverride{Rule: "aws-ec2-idle", Scope: "org", Severity: "bad"}, `severity is "bad"`},
		{
			BuiltInOverride{Rule: "aws-ec2-idle", Scope: "org", Params: map[string]any{"cpu": 1.0}},
			"rule aws-ec2-idle has no parameter cpu",
		},
		{
			BuiltInOverride{Rule: "aws-ec2-idle", Scope: "org", Params: map[string]any{"cpu_pct": "5h"}},
			`parameter cpu_pct is "5h"`,
		},
		{
			BuiltInOverride{Rule: "aws-ec2-idle", Scope: "org", Params: map[string]any{"cpu_pct": false}},
			"parameter cpu_pct is false",
		},
	} {
		if _, err := c.o.Overlay(); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%+v: %v; want %q", c.o, err, c.want)
		}
	}
}

func TestDocument_RefusesWhatOccursTwice(t *testing.T) {
	d := Document{Rules: []OwnRule{*own(t), *own(t)}}
	if err := d.Check(); err == nil || !strings.Contains(err.Error(), "custom-old-volume occurs twice") {
		t.Error(err)
	}
	o := BuiltInOverride{Rule: "aws-ec2-idle", Scope: "org", Severity: "low"}
	d = Document{Overrides: []BuiltInOverride{o, o}}
	if err := d.Check(); err == nil || !strings.Contains(err.Error(), "two overrides for org") {
		t.Error(err)
	}
}
