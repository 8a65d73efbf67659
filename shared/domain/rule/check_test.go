package rule

import (
	"strings"
	"testing"

	"lamplighter.dev/shared/foundation/fault"
	"lamplighter.dev/shared/foundation/money"
)

// sound returns a rule without a fault, changed.
func sound(change func(*Rule)) *Rule {
	r := *ByID("aws-ebs-iops-unused")
	change(&r)
	return &r
}

// target sets a target in machine form, which must be well formed.
func target(t *testing.T, r *Rule, text string) {
	t.Helper()
	var err error
	if r.Target, err = ParseTarget(r.Verb, text); err != nil {
		t.Fatal(err)
	}
}

func TestCheck_SaysWhatIsWrong(t *testing.T) {
	for name, c := range map[string]struct {
		change func(*Rule)
		says   string
	}{
		"nothing":             {func(*Rule) {}, ""},
		"an ID in capitals":   {func(r *Rule) { r.ID = "AWS-ebs" }, "lower-case"},
		"another provider":    {func(r *Rule) { r.Provider = "gcp" }, "no type of provider"},
		"an unknown category": {func(r *Rule) { r.Category = "waste" }, "category"},
		"an unknown risk":     {func(r *Rule) { r.Risk = "none" }, "risk"},
		"an unknown verb":     {func(r *Rule) { r.Verb = "explode" }, "verb"},
		"no title":            {func(r *Rule) { r.Title = "" }, "title"},
		"version 0":           {func(r *Rule) { r.Version = 0 }, "version"},
		"autonomous at risk":  {func(r *Rule) { r.Autonomous, r.Risk = true, Medium }, "autonomous"},
		"autonomous advice":   {func(r *Rule) { r.Autonomous, r.Verb = true, VerbAdvice }, "autonomous"},
		"an unknown fact": {
			func(r *Rule) { r.Condition += " && res.volume_typ == 'io1'" }, "nearest name is volume_type",
		},
		"a fact of a change": {
			func(r *Rule) { r.Type, r.Condition = "aws-s3", "res.storage_class == 'X'" }, "no fact",
		},
		"an unknown metric":    {func(r *Rule) { r.Condition += " && m.iops_max > 1" }, "nearest name is iops_max_14d"},
		"an unknown setting":   {func(r *Rule) { r.Condition += " && size(org.tags) > 0" }, "org.tags"},
		"a missing parameter":  {func(r *Rule) { r.Params = nil }, "p.used_share"},
		"an unused parameter":  {func(r *Rule) { r.Params = append(r.Params, Param{"days", IntParam, "1"}) }, "days"},
		"reads nothing":        {func(r *Rule) { r.Condition, r.Params = "true", nil }, "reads no fact"},
		"sets an unknown fact": {func(r *Rule) { target(t, r, "iop=3000") }, "nearest name is iops"},
		"an undeclared value":  {func(r *Rule) { target(t, r, "iops=m.iops_max_9d*1.2") }, "m.iops_max_9d"},
		"an undeclared param":  {func(r *Rule) { target(t, r, "iops=p.iops") }, "p.iops"},
		"another target":       {func(r *Rule) { target(t, r, "throughput_mibps=125") }, "does not set iops"},
		"savings of no amount": {
			func(r *Rule) { r.Savings = Savings{Form: SavesFact, Names: []string{"iops"}} }, "USD or GB",
		},
		"savings of security": {
			func(r *Rule) { r.Category, r.Savings = Security, Savings{Form: SavesAll} }, "security",
		},
		"confirms by a metric that it does not read": {
			func(r *Rule) { r.Confirm = []string{"mibps_p99_14d"} }, "mibps_p99_14d confirms",
		},
	} {
		t.Run(name, func(t *testing.T) {
			err := Check(sound(c.change))
			if (err == nil) != (c.says == "") || err != nil && !strings.Contains(err.Error(), c.says) {
				t.Errorf("%v; want one that says %q", err, c.says)
			}
			if err != nil && !fault.Is(err, fault.Invalid) {
				t.Errorf("%v is of kind %v", err, fault.KindOf(err))
			}
		})
	}
}

func TestCheckAll_RefusesAnIDThatOccursTwice(t *testing.T) {
	twice := []Rule{*ByID("aws-ec2-idle"), *ByID("aws-ec2-idle")}
	if err := CheckAll(twice); !fault.Is(err, fault.Invalid) || !strings.Contains(err.Error(), "twice") {
		t.Errorf("%v", err)
	}
	bad := sound(func(r *Rule) { r.Params = nil })
	if err := CheckAll([]Rule{*ByID("aws-ec2-idle"), *bad}); err == nil || !strings.Contains(err.Error(), bad.ID) {
		t.Errorf("%v", err)
	}
}

func TestParseSavings_ReadsWhatStringWrites(t *testing.T) {
	for _, text := range []string{
		"none", "all", "compute", "hours", "rate", "part:nodes", "part:control_plane+nodes", "to:class",
		"fact:cost_30d",
		"bound:all", "bound:part:storage", "bound:to:memory_mb", "bound:fact:x_30d",
	} {
		s, err := ParseSavings(text)
		if err != nil || s.String() != text || s.Bound != strings.HasPrefix(text, "bound") {
			t.Errorf("%q is read as %q, %v", text, s, err)
		}
	}
	for _, text := range []string{
		"", "most", "part", "part:", "part:gold", "part:nodes+", "to", "to:", "to:a+b", "to:Class", "fact:", "all:x",
		"none:x", "bound:none", "bound:", "bound:bound:all", "hours:8", "ALL", "to:class\n",
	} {
		if s, err := ParseSavings(text); !fault.Is(err, fault.Invalid) {
			t.Errorf("%q is read as %+v, %v", text, s, err)
		}
	}
}

func TestSavings_BoundsAndNothingDoNotCount(t *testing.T) {
	for text, want := range map[string]bool{"all": true, "to:class": true, "none": false, "bound:all": false} {
		if s, err := ParseSavings(text); err != nil || s.Counts() != want {
			t.Errorf("%s counts: %v, %v", text, s.Counts(), err)
		}
	}
}

func TestParseTarget_ReadsStepsAndSettings(t *testing.T) {
	got, err := ParseTarget(VerbDelete, "reroute siblings vpc_nat_count=1")
	if err != nil || len(got.Steps) != 2 || got.Steps[1] != "siblings" || got.Settings[0].Name != "vpc_nat_count" {
		t.Errorf("%+v, %v", got, err)
	}
	got, err = ParseTarget(VerbResize, "memory_mb=m.memory_used_max_14d*1.25 days+=2 ports-=22,80 name='' zones=? "+
		"size_gb=@used*2 class=res.newer_type needs=drivers restore=start validate=72h payback=2160h")
	if err != nil || len(got.Settings) != 7 || len(got.Needs) != 1 || !got.Restore || got.Validate.Hours() != 72 ||
		got.Payback.Hours() != 2160 {
		t.Fatalf("%+v, %v", got, err)
	}
	for i, want := range []Setting{
		{"memory_mb", "=", Value{FromUse, "memory_used_max_14d", 1.25}},
		{"days", "+=", Value{Literal, "2", 1}},
		{"ports", "-=", Value{Literal, "22,80", 1}},
		{"name", "=", Value{Literal, "", 1}},
		{"zones", "=", Value{Asked, "", 1}},
		{"size_gb", "=", Value{Computed, "used", 2}},
		{"class", "=", Value{FromFact, "newer_type", 1}},
	} {
		if got.Settings[i] != want {
			t.Errorf("setting %d is %+v; want %+v", i, got.Settings[i], want)
		}
	}
}

func TestParseTarget_RefusesWhatIsNotInTheGrammar(t *testing.T) {
	for text, verb := range map[string]Verb{
		"":                      VerbResize,
		"self":                  VerbResize,
		"iops=3000":             VerbStop,
		"explode":               VerbDelete,
		"restart":               VerbDelete,
		"iops=@magic":           VerbChangeStorage,
		"iops=@used*":           VerbChangeStorage,
		"iops=@used*0":          VerbChangeStorage,
		"iops=@used*NaN":        VerbChangeStorage,
		"iops=@used*11":         VerbChangeStorage,
		"iops=":                 VerbChangeStorage,
		"iops=a,,b":             VerbChangeStorage,
		"iops=a;b":              VerbChangeStorage,
		"=3":                    VerbChangeStorage,
		"+=3":                   VerbChangeStorage,
		"IOPS=3":                VerbChangeStorage,
		"iops=m.":               VerbChangeStorage,
		"iops=3 needs=courage":  VerbChangeStorage,
		"iops=3 restore=later":  VerbChangeStorage,
		"iops=3 validate=soon":  VerbChangeStorage,
		"iops=3 payback=-1h":    VerbChangeStorage,
		"iops=3 validate=0s":    VerbChangeStorage,
		"needs=drivers":         VerbResize,
		"buy volume_type=gold!": VerbPurchase,
	} {
		if got, err := ParseTarget(verb, text); !fault.Is(err, fault.Invalid) {
			t.Errorf("%q of %s is read as %+v, %v", text, verb, got, err)
		}
	}
	if _, err := ParseTarget(VerbAdvice, ""); err != nil {
		t.Errorf("advice needs no target: %v", err)
	}
}

// A word of the machine form that no rule uses would be one that nothing tests.
func TestMachineForm_HasNoWordThatNoRuleUses(t *testing.T) {
	used := map[string]bool{}
	for _, r := range All() {
		used[string(r.Verb)] = true
		for _, list := range [][]string{r.Savings.Names, r.Target.Needs} {
			for _, name := range list {
				used[name] = true
			}
		}
		for _, step := range r.Target.Steps {
			used[string(r.Verb)+" "+step] = true
		}
		for _, s := range r.Target.Settings {
			used["@"+s.Value.Text] = used["@"+s.Value.Text] || s.Value.Kind == Computed
		}
	}
	var words []string
	for class := range chargeClasses {
		words = append(words, class)
	}
	for formula := range formulas {
		words = append(words, "@"+formula)
	}
	for need := range needs {
		words = append(words, need)
	}
	for _, v := range verbs {
		words = append(words, string(v))
		for _, step := range stepsOf[v] {
			words = append(words, string(v)+" "+step)
		}
	}
	for _, word := range words {
		if !used[word] {
			t.Errorf("no rule uses %q", word)
		}
	}
}

// Every fact that is added here is read or set by a rule.
func TestFacts_OfOursAreUsed(t *testing.T) {
	used := map[string]bool{}
	for _, r := range All() {
		for _, name := range ReferencesOf(r.Condition).Facts {
			used[r.Type+"."+name] = true
		}
		for _, s := range r.Target.Settings {
			used[r.Type+"."+s.Name] = true
			used["*."+s.Name] = true
		}
	}
	for kind, facts := range readFacts() {
		for _, f := range facts {
			if f.Origin != OfRules && f.Origin != OfInput && !used[kind+"."+f.Name] {
				t.Errorf("no rule uses %s.%s", kind, f.Name)
			}
		}
	}
}

func TestReferencesOf_SkipsTextInQuotes(t *testing.T) {
	got := ReferencesOf(`res.name != 'res.wrong \' m.wrong' && m.cpu_max_14d < p.cpu && "p.wrong" in res.tags.keys ` +
		`&& has(m.mem) && now - res.created_at > duration(p.age) && xres.no > 0 ` +
		`&& org.required_tags.exists(k, k in res.tags)`)
	for i, list := range [][]string{got.Facts, got.Metrics, got.Params, got.Settings} {
		want := []string{"created_at name tags", "cpu_max_14d mem", "age cpu", "required_tags"}[i]
		if text := strings.Join(list, " "); text != want {
			t.Errorf("names %d are %s; want %s", i, text, want)
		}
	}
	if got := ReferencesOf("res.a == 'never closed m.b"); len(got.Facts) != 1 || got.Metrics != nil {
		t.Errorf("%+v", got)
	}
}

func TestSeverityAt_FallsWithTheAmount(t *testing.T) {
	cost, security := ByID("aws-ec2-gpu-idle"), ByID("aws-ebs-snapshot-public")
	for amount, want := range map[string]Severity{
		"-5": Info, "0": Info, "0.99": Info, "1": LowSeverity, "9.99": LowSeverity, "10": MediumSeverity,
		"99.999": MediumSeverity, "100": Critical, "4000": Critical,
	} {
		if got := cost.SeverityAt(cost.Severity, money.MustParse(amount)); got != want {
			t.Errorf("$%s: %s; want %s", amount, got, want)
		}
		if got := security.SeverityAt(security.Severity, money.MustParse(amount)); got != Critical {
			t.Errorf("$%s of a security rule: %s; want critical", amount, got)
		}
	}
	if got := cost.SeverityAt(Info, money.MustParse("50")); got != Info {
		t.Errorf("an amount raised info to %s", got)
	}
	if r := ByID("aws-ec2-low-use"); r.SeverityAt(MediumSeverity, money.Amount{}) != MediumSeverity {
		t.Error("a rule without savings lost its severity")
	}
}

func TestParseSeverity_ReadsWhatStringWrites(t *testing.T) {
	for s := Info; s <= Critical; s++ {
		if got, err := ParseSeverity(s.String()); err != nil || got != s {
			t.Errorf("%s is read as %s, %v", s, got, err)
		}
	}
	if _, err := ParseSeverity("High"); !fault.Is(err, fault.Invalid) {
		t.Errorf("%v", err)
	}
}

func TestParseParams_KnowsNumbersAndDurations(t *testing.T) {
	got, err := ParseParams(`{"b": 0.5, "a": 5, "c": "336h", "d": -1, "e": 1e3}`)
	if err != nil || len(got) != 5 || got[0].Value() != int64(5) || got[1].Value() != 0.5 || got[2].Value() != "336h" ||
		got[3].Value() != int64(-1) || got[4].Value() != 1000.0 {
		t.Errorf("%+v, %v", got, err)
	}
	for _, text := range []string{
		"", "[]", `{"a": true}`, `{"a": "5"}`, `{"a": 336h}`, `{"a": "long"}`, `{"a": "-1h"}`, `{"a": null}`,
		`{"A": 1}`, `{"a b": 1}`, `{"": 1}`, `{"a": 1e16}`, `{"a": {"b": 1}}`,
	} {
		if got, err := ParseParams(text); !fault.Is(err, fault.Invalid) {
			t.Errorf("%s is read as %+v, %v", text, got, err)
		}
	}
}
