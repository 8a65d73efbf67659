package condition

import (
	"strings"
	"testing"

	"lamplighter.dev/shared/domain/rule"
)

const ownYAML = `
rules:
  - id: custom-big-volume
    title: Volume is big
    resourceType: aws-ebs
    category: governance
    severity: low
    condition: res.size_gb > p.gb && now - res.created_at > duration(p.min_age)
    params: {gb: 50, min_age: 24h}
    remediation: Make it smaller
    fixtures:
      true: {res: {size_gb: 51, created_at: 2026-01-01T00:00:00Z}}
      false: {res: {size_gb: 50}}
      unknown: [res.size_gb]
overrides:
  - rule: aws-ec2-idle
    scope: org
    enabled: false
    params: {cpu_pct: 2}
    excludes: ["res.name.startsWith('bastion')"]
`

func TestReadDocument_ReadsYAMLAndJSON(t *testing.T) {
	d, err := ReadDocument([]byte(ownYAML))
	if err != nil {
		t.Fatal(err)
	}
	if r := d.Rules[0]; r.Params["gb"] != 50.0 || r.Params["min_age"] != "24h" ||
		r.Fixtures.True.Res["created_at"] != "2026-01-01T00:00:00Z" || *d.Overrides[0].Enabled {
		t.Errorf("%+v", d)
	}
	if err = NewCatalogue().CheckDocument(&d, at); err != nil {
		t.Error(err)
	}
	if d, err = ReadDocument([]byte(`{"overrides":[{"rule":"aws-ec2-idle","scope":"org"}]}`)); err != nil ||
		d.Overrides[0].Rule != "aws-ec2-idle" {
		t.Errorf("%+v, %v", d, err)
	}
}

func TestCheckDocument_NamesThePlaceAndTheWayOut(t *testing.T) {
	for _, c := range []struct{ old, replacement, want string }{
		{"res.size_gb > p.gb", "res.size_gib > p.gb", `line 1, column 1: fact "size_gib" is not declared for aws-ebs`},
		{"res.size_gb > p.gb", "res.size_gib > p.gb", "the nearest name is size_gb"},
		{"res.size_gb > p.gb", "res.size_gb > p.gigabytes", `parameter "gigabytes" is not declared; add it to params`},
		{"res.size_gb > p.gb", "res.size_gb + p.gb", "expected type 'bool' but found 'double'"},
		{"&& now", "&&& now", "line 1"},
		{"gb: 50,", "gb: 50, more: 1,", "parameter more is not used"},
		{"gb: 50,", "gb: fifty,", "give a number"},
		{"size_gb: 51", "size_gb: 49", `fixture "true": the condition is false`},
		{"size_gb: 50}", "size_gb: 52}", `fixture "false": the condition is true`},
		{"unknown: [res.size_gb]", "unknown: [res.name]", `fixture "unknown"`},
		{"size_gb: 51", "size_tb: 51", "res.size_tb is not declared; the nearest name is size_gb"},
		{"aws-ebs", "aws-ebz", `resource type "aws-ebz" is unknown; the nearest name is aws-ebs`},
		{"res.name.startsWith", "res.nam.startsWith", "override for org, excludes[0]: rule aws-ec2-idle: line 1"},
		{"cpu_pct: 2", "cpu: 2.5", "rule aws-ec2-idle has no parameter cpu"},
		{"custom-big-volume", "aws-ebs-unattached", "is a built-in rule; give another id"},
		{
			"res.size_gb > p.gb",
			"res.size_gb > p.gb && res.tags.all(a, res.tags.all(b, a != b || res.tags.all(c, c != a)))",
			"its cost may be",
		},
	} {
		d, err := ReadDocument([]byte(strings.Replace(ownYAML, c.old, c.replacement, 1)))
		if err == nil {
			err = NewCatalogue().CheckDocument(&d, at)
		}
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v; want %q", c.replacement, err, c.want)
		}
	}
}

func TestReadDocument_RefusesWhatIsNone(t *testing.T) {
	for text, want := range map[string]string{
		"rules: [":                      "no YAML",
		"rule: []":                      `unknown field "rule"`,
		"rules: [{id: a, titel: b}]":    `unknown field "titel"`,
		"rules: {a: 1}":                 "cannot unmarshal object",
		"rules: [{id: a, id: b}]":       `key "id" occurs twice`,
		"{":                             "unexpected EOF",
		"rules: [{params: {a: 0x1zz}}]": "",
		"rules: [{title: 5}]":           "cannot unmarshal number",
		"a: &a [x,x,x,x,x,x,x,x,x,x]\nb: &b [*a,*a,*a,*a,*a,*a,*a,*a,*a]\nc: &c [*b,*b,*b,*b,*b,*b,*b,*b,*b]\n" +
			"d: &d [*c,*c,*c,*c,*c,*c,*c,*c,*c]\ne: &e [*d,*d,*d,*d,*d,*d,*d,*d,*d,*d,*d,*d,*d,*d]\n" +
			"f: [*e,*e,*e,*e,*e,*e,*e,*e]": "more than 200000 values",
	} {
		_, err := ReadDocument([]byte(text))
		if want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("%.40s: %v; want %q", text, err, want)
		}
	}
	var empty rule.Document
	if d, err := ReadDocument([]byte("{}")); err != nil || len(d.Rules) != len(empty.Rules) {
		t.Error(err)
	}
}
