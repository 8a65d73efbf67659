package condition

import (
	"fmt"
	"strings"
	"testing"

	"lamplighter.dev/shared/domain/rule"
	"lamplighter.dev/shared/foundation/fault"
)

// own returns a rule that an organization could write.
func own(kind, condition, params string) *rule.Rule {
	p, err := rule.ParseParams(params)
	if err != nil {
		panic(err)
	}
	return &rule.Rule{ID: "custom-mine", Type: kind, Condition: condition, Params: p}
}

func TestCompile_RefusesAWrongConditionAndSaysWhereAndTheWayOut(t *testing.T) {
	c := NewCatalogue()
	for what, tt := range map[string]struct {
		kind, condition, params string
		want                    string
	}{
		"an unknown fact": {
			"aws-ec2", "res.sate == 'running'", "{}",
			`line 1, column 1: fact "sate" is not declared for aws-ec2; the nearest name is state`,
		},
		"an unknown fact on the second line": {
			"aws-ec2", "res.state == 'running' &&\n  res.vcpus > 2", "{}",
			`line 2, column 3: fact "vcpus" is not declared for aws-ec2; the nearest name is vcpu`,
		},
		"an unknown metric": {
			"aws-ec2", "m.cpu_max_14 < 5", "{}",
			`line 1, column 1: metric "cpu_max_14" is not declared for aws-ec2; the nearest name is cpu_max_14d`,
		},
		"an unknown metric in has": {
			"aws-ec2", "has(m.memory)", "{}",
			`line 1, column 5: metric "memory" is not declared for aws-ec2`,
		},
		"a fact of another type": {"aws-ebs", "res.vcpu > 2", "{}", `fact "vcpu" is not declared for aws-ebs`},
		"a fact of one type in a rule for all": {
			"aws-*", "res.vcpu > 2", "{}",
			`fact "vcpu" is not declared for aws-*`,
		},
		"a parameter that is not declared": {
			"aws-ec2", "m.cpu_max_14d < p.cpu", `{}`,
			`parameter "cpu" is not declared; add it to params`,
		},
		"a parameter that is not used": {
			"aws-ec2", "m.cpu_max_14d < 5", `{"cpu_pct":5}`,
			`parameter cpu_pct is not used; use p.cpu_pct in the condition, or remove the parameter`,
		},
		"a setting that does not exist": {
			"aws-ec2", "size(org.tags) > 0", "{}",
			`setting "tags" of the organization is unknown`,
		},
		"an unknown name": {
			"aws-ec2", "ress.state == ''", "{}",
			`line 1, column 1: name "ress" is unknown; the nearest name is res; known are res, m, p, org and now`,
		},
		"a group that stands alone": {
			"aws-ec2", "res == res", "{}",
			`line 1, column 1: res stands alone; name a value of it, such as res.name`,
		},
		"a variable that hides a group": {
			"aws-asg", "res.suspended.exists(m, m == 'Launch')", "{}",
			`the variable "m" hides the values of that name; use another name`,
		},
		"an unknown function": {
			"aws-ec2", "res.state.startWith('run')", "{}",
			`line 1, column 20: function "startWith" is unknown; the nearest name is startsWith`,
		},
		"a function of CEL that is left out": {
			"aws-ec2", "now.getHours() > 3.0", "{}",
			`function "getHours" is unknown`,
		},
		"a syntax error": {
			"aws-ec2", "res.state ==", "{}",
			"line 1, column 13: Syntax error: mismatched input '<EOF>'",
		},
		"assignment": {
			"aws-ec2", "res.state = 'x'", "{}",
			"line 1, column 11: Syntax error: token recognition error at: '= '; write == to compare",
		},
		"operands of different kinds": {
			"aws-ec2", "res.state > 5", "{}",
			"line 1, column 11: the operands do not fit: '_>_' applied to '(string, number)'",
		},
		"a duration beside a number": {
			"aws-ec2", "now - res.launched_at > 14", "{}",
			"the operands do not fit: '_>_' applied to '(duration, number)'",
		},
		"a number as result": {
			"aws-ec2", "res.vcpu + 1", "{}",
			"its result is of type number; a condition is true or false: compare the result with a value",
		},
		"a text as result": {"aws-ec2", "res.state", "{}", "its result is of type string"},
		"nothing":          {"aws-ec2", " \n", "{}", "its condition is empty"},
		"a map":            {"aws-ec2", "{'a': 1} == {'a': 1}", "{}", "a condition makes no maps"},
		"a message": {
			"aws-ec2", "google.protobuf.Duration{seconds: 1} == duration('1s')", "{}",
			"a condition makes no maps and no messages",
		},
		"an unknown type": {
			"aws-ec3", "res.state == ''", "{}",
			`resource type "aws-ec3" is unknown; the nearest name is aws-`,
		},
		"an unknown provider": {"ibm-*", "res.name == ''", "{}", `resource type "ibm-*" is unknown`},
		"a loop in a loop": {
			"aws-asg", "res.suspended.exists(a, res.zones.exists(b, a == b))", "{}",
			"at most 10000 is allowed: loop over one list only",
		},
		"deep nesting": {
			"aws-ec2", strings.Repeat("(", 200) + "true" + strings.Repeat(")", 200), "{}",
			"expression recursion limit exceeded: 100; write it with fewer parentheses",
		},
		"a pattern that is none": {
			"aws-ec2", "res.state.matches('(')", "{}",
			"a text in it cannot be read: error parsing regexp: missing closing ): `(`; write patterns in the syntax",
		},
		"a duration that is none": {
			"aws-ec2", "now - res.launched_at > duration('2 weeks')", "{}",
			"a text in it cannot be read",
		},
		"bytes": {"aws-ec2", "b'a' == b'a'", "{}", "a value of type bytes cannot be used"},
		"an unsigned": {
			"aws-ec2", "res.vcpu > 5u", "{}",
			"line 1, column 12: a value of type uint cannot be used",
		},
		"null": {
			"aws-ec2", "res.state == null", "{}",
			"a value of type null_type cannot be used",
		},
		"an operator of whole numbers": {
			"aws-ec2", "res.vcpu % 2 == 0", "{}",
			"line 1, column 10: operator % cannot be used",
		},
		"a macro that is left out": {"aws-asg", "size(res.zones.map(z, z)) > 1", "{}", `function "map" is unknown`},
		"a pattern from a tag": {
			"aws-ec2", "res.state.matches(res.tags['pattern'])", "{}",
			"at most 10000 is allowed",
		},
		"a name with a space": {"aws-ec2", "res.`0 number` > 0", "{}", `fact "0 number" is not declared`},
	} {
		_, err := c.Compile(own(tt.kind, tt.condition, tt.params))
		if err == nil || !fault.Is(err, fault.Invalid) || !strings.HasPrefix(err.Error(), "rule custom-mine: ") ||
			!strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: %v; want %q", what, err, tt.want)
		}
	}
}

func TestCompile_AcceptsSixteenKilobytesAndNotOneByteMore(t *testing.T) {
	c := NewCatalogue()
	condition := "res.state == 'x'" + strings.Repeat(" ", MaxBytes-16)
	if _, err := c.Compile(own("aws-ec2", condition, "{}")); err != nil {
		t.Errorf("%d bytes: %v", len(condition), err)
	}
	_, err := c.Compile(own("aws-ec2", condition+" ", "{}"))
	if err == nil || !strings.Contains(err.Error(), "its condition has 16001 bytes; at most 16000 are allowed") {
		t.Errorf("%d bytes: %v", len(condition)+1, err)
	}
}

func TestCompile_AcceptsManyAlternatives(t *testing.T) {
	condition := "res.state == 'x'" + strings.Repeat(" || res.state == 'y'", 500)
	if _, err := NewCatalogue().Compile(own("aws-ec2", condition, "{}")); err != nil {
		t.Error(err)
	}
}

func TestCompile_ShowsLittleOfAHostileRule(t *testing.T) {
	r := own("aws-ec2", "res.state == ''", "{}")
	r.Type = strings.Repeat("\x1b[31m<script>", 1000)
	_, err := NewCatalogue().Compile(r)
	if err == nil || len(err.Error()) > 300 || strings.ContainsAny(err.Error(), "\x1b\n") {
		t.Errorf("%q", err)
	}
	r = own("aws-ec2", "res."+strings.Repeat("x", 10_000)+" == ''", "{}")
	if _, err = NewCatalogue().Compile(r); err == nil || len(err.Error()) > 300 {
		t.Errorf("%q", err)
	}
}

func TestCompile_EachBuiltInRuleIsWithinTheLimits(t *testing.T) {
	all := rules(t)
	if len(all.conditions) != 960 {
		t.Errorf("%d rules; want 960", len(all.conditions))
	}
	dearest := all.conditions[0]
	for _, c := range all.conditions {
		refs := rule.ReferencesOf(c.Condition)
		if !sameNames(refs.Facts, c.Facts) || !sameNames(refs.Metrics, c.Metrics) {
			t.Errorf("%s reads %v and %v; its text names %v and %v", c.ID, c.Facts, c.Metrics, refs.Facts, refs.Metrics)
		}
		if c.Cost > dearest.Cost {
			dearest = c
		}
	}
	t.Logf("the dearest rule is %s, at most %d of %d", dearest.ID, dearest.Cost, MaxCost)
}

func TestBind_ReplacesParametersByThoseOfAnOverride(t *testing.T) {
	all := rules(t)
	c, err := all.Compile(own("aws-ec2", "m.cpu_max_14d < p.cpu_pct && now - res.launched_at > duration(p.min_age)",
		`{"cpu_pct":5,"min_age":"336h"}`))
	if err != nil {
		t.Fatal(err)
	}
	s := all.subject(t, "aws-ec2")
	s.Metrics.Reset(level(7))
	s.Facts.Set("launched_at", at.AddDate(0, 0, -10))
	for _, tt := range []struct {
		cpu, age string
		want     Truth
	}{{"5", "336h", False}, {"8", "336h", False}, {"5", "24h", False}, {"7.5", "24h", True}} {
		p, err := c.Bind([]rule.Param{
			{Name: "cpu_pct", Kind: rule.DoubleParam, Text: tt.cpu},
			{Name: "min_age", Kind: rule.DurationParam, Text: tt.age},
		})
		if err != nil {
			t.Fatal(err)
		}
		if got := s.Evaluate(c, p); got.Truth != tt.want {
			t.Errorf("%+v: %v", tt, got)
		}
	}
	if got := s.Evaluate(c, c.Default()); got.Truth != False {
		t.Errorf("the parameters of the rule have changed: %v", got)
	}
	half := []rule.Param{{Name: "cpu_pct", Kind: rule.IntParam, Text: "5"}}
	if _, err := c.Bind(half); !fault.Is(err, fault.Invalid) {
		t.Errorf("an override without min_age: %v", err)
	}
}

// A condition as dear as allowed, on values as long as allowed, takes little time.
func TestEvaluate_IsBoundedByTheCost(t *testing.T) {
	all := rules(t)
	words := make([]string, MaxItems)
	for i := range words {
		words[i] = fmt.Sprint(strings.Repeat("w", 100), i)
	}
	c, err := all.Compile(own("aws-asg",
		"res.suspended.exists(s, s in ['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h', 'i', 'j'] || s == 'k')", "{}"))
	if err != nil {
		t.Fatal(err)
	}
	if c.Cost < MaxCost/3 {
		t.Errorf("the cost is %d; want a dear condition", c.Cost)
	}
	s := all.subject(t, "aws-asg")
	s.Facts.Set("suspended", words)
	const times = 100
	cpu := processorTime(t)
	for range times {
		if got := s.Evaluate(c, c.Default()); got.Truth != False {
			t.Fatal(got)
		}
	}
	each := (processorTime(t) - cpu) / times
	t.Logf("%d of %d: %d us of processor time", c.Cost, MaxCost, each/1000)
	if each > 5_000_000 {
		t.Errorf("%d us; want 5,000 at most", each/1000)
	}
}

// No text makes the compiler panic. A text that compiles can be evaluated, on nothing known.
func FuzzCompile(f *testing.F) {
	for _, r := range rule.All()[:40] {
		f.Add(r.Condition)
	}
	f.Add("res.zones.exists(z, z in ['a']) || has(m.cpu_max_14d) ? 1 / 0 > 2 : !(res.tags['a'] == '\\u00fc')")
	all, err := load()
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, condition string) {
		c, err := all.Compile(own("aws-asg", condition, "{}"))
		if err != nil {
			if !fault.Is(err, fault.Invalid) || len(err.Error()) > 1000 {
				t.Errorf("%q: %v", condition, err)
			}
			return
		}
		if got := all.subject(t, "aws-asg").Evaluate(c, c.Default()); got.Truth == Unknown && len(got.Missing) == 0 {
			t.Errorf("%q is unknown, and nothing is missing", condition)
		}
	})
}
