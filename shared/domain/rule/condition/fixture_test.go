package condition

import (
	"bufio"
	"bytes"
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "find the fixtures of the rules anew")

// fixtureFile holds the fixtures of the built-in rules, a line of JSON for each rule, at the time of at.
var fixtureFile = filepath.Join("testdata", "fixtures.ndjson")

// fixtureLine is the fixtures of a rule.
type fixtureLine struct {
	Rule string `json:"rule"`
	Fixtures
}

func readFixtures(t *testing.T) map[string]Fixtures {
	t.Helper()
	content, err := os.ReadFile(fixtureFile)
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]Fixtures{}
	for lines := bufio.NewScanner(bytes.NewReader(content)); lines.Scan(); {
		var one fixtureLine
		if err := json.Unmarshal(lines.Bytes(), &one); err != nil {
			t.Fatal(err)
		}
		out[one.Rule] = one.Fixtures
	}
	return out
}

// neverTrue are the rules without an example that makes them true, and why.
var neverTrue = map[string]string{}

func TestFixtures_EachRuleIsTrueFalseAndUnknownAsTheySay(t *testing.T) {
	all := rules(t)
	if *update {
		writeFixtures(t, all)
	}
	fixtures := readFixtures(t)
	for _, c := range all.conditions {
		f, has := fixtures[c.ID]
		delete(fixtures, c.ID)
		if why := neverTrue[c.ID]; why != "" || !has {
			if why == "" || has {
				t.Errorf("%s: fixtures %v, but a reason for none is %q; run with -update", c.ID, has, why)
			}
			continue
		}
		if err := all.CheckFixtures(c, f, at); err != nil {
			t.Errorf("%v; run with -update if the rule has changed: %s", err, c.Condition)
		}
		holdPlain(t, c, f)
	}
	for id := range fixtures {
		t.Errorf("the fixtures are of rule %s, which is gone; run with -update", id)
	}
}

// holdPlain tries the fixtures with the second implementation.
func holdPlain(t *testing.T, c *Condition, f Fixtures) {
	t.Helper()
	tree, err := parsePlain(c.Condition)
	if err != nil {
		t.Fatal(err)
	}
	for want, e := range map[Truth]Example{
		True: f.True, False: withChange(f.True, f.False), Unknown: withoutNames(f.True, f.Unknown),
	} {
		got, names := plainResult(tree, c.sample(e))
		if got != want || want == Unknown && !sameNames(names, f.Unknown) {
			t.Errorf("%s: the second implementation says %s, missing %v; want %s", c.ID, got, names, want)
		}
	}
}

// writeFixtures finds the fixtures of all rules.
func writeFixtures(t *testing.T, all *builtIn) {
	t.Helper()
	trees := plainTrees(t, all)
	var out bytes.Buffer
	for _, c := range all.conditions {
		f, found := newSolver(t, c, trees).solve()
		if !found {
			t.Errorf("%s: no example makes it true: %s", c.ID, c.Condition)
			continue
		}
		line, err := json.Marshal(fixtureLine{c.ID, f})
		if err != nil {
			t.Fatal(err)
		}
		out.Write(append(line, '\n'))
	}
	if err := os.WriteFile(fixtureFile, out.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
}

func TestCheckFixtures_SaysWhichExampleIsWrongAndWhy(t *testing.T) {
	all := rules(t)
	c := all.byType["aws-ebs"][0]
	good := readFixtures(t)[c.ID]
	if err := all.CheckFixtures(c, good, at); err != nil {
		t.Fatal(err)
	}
	for what, tt := range map[string]struct {
		fixtures Fixtures
		want     string
	}{
		"nothing known": {Fixtures{False: good.False}, `fixture "true": the condition is unknown, and res.`},
		"false without a change": {
			Fixtures{True: good.True, Unknown: good.Unknown}, `fixture "false": the condition is true`,
		},
		"unknown by no name": {
			Fixtures{True: good.True, False: good.False}, `fixture "unknown": the condition is true`,
		},
		"unknown by another name": {
			Fixtures{True: good.True, False: good.False, Unknown: []string{"res.name"}},
			`fixture "unknown": the condition is true, and nothing is missing; it must be unknown, and res.name`,
		},
		"a fact that is not declared": {
			Fixtures{True: Example{Res: map[string]any{"atachment_count": 1.0}}},
			`res.atachment_count is not declared; the nearest name is attachment_count`,
		},
		"a metric that is not declared": {Fixtures{True: Example{M: map[string]float64{"iops": 1}}}, `metric "iops"`},
		"a fact of another kind": {
			Fixtures{True: Example{Res: map[string]any{"attachment_count": "one"}}},
			"res.attachment_count: unreadable the record holds another kind than number",
		},
	} {
		if err := all.CheckFixtures(c, tt.fixtures, at); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: %v; want %q", what, err, tt.want)
		}
	}
}
