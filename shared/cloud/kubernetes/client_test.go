package kubernetes

import (
	"testing"
)

func TestQuantity_ReadsDigitsAndTheirSuffix(t *testing.T) {
	for text, want := range map[any]float64{
		"1": 1, "500m": 0.5, "250u": 0.00025, "7n": 7e-9, "1.5Gi": 1.5 * (1 << 30), "2Ki": 2048, "3Ei": 3 * (1 << 60),
		"10G": 1e10, "2k": 2000, "1E": 1e18, "1e3": 1000, "5E-2": 0.05, "-2": -2, "+.5": 0.5, "4.": 4, int64(3): 3,
		0.25: 0.25,
		"":   0, "Gi": 0, "1g": 0, "1KI": 0, "1/2": 0, "0x10": 0, "1e9999": 0, " 1": 0, "1 Gi": 0, "1e": 0,
	} {
		if got := quantity(text); got != want {
			t.Errorf("%v is %v; want %v", text, got, want)
		}
	}
	if got := quantity(nil); got != 0 {
		t.Errorf("nil is %v; want 0", got)
	}
}

func TestLabelSelector_MatchesAndIsSpelledAsTheAPIDoes(t *testing.T) {
	front := map[string]string{"app": "web", "zone": "a"}
	for name, tt := range map[string]struct {
		selector *labelSelector
		text     string
		matches  bool
	}{
		"no selector":  {nil, "<none>", false},
		"an empty one": {&labelSelector{}, "<none>", false},
		"labels": {
			&labelSelector{MatchLabels: map[string]string{"zone": "a", "app": "web"}}, "app=web,zone=a",
			true,
		},
		"another label":  {&labelSelector{MatchLabels: map[string]string{"app": "api"}}, "app=api", false},
		"one of values":  {selecting("zone", "In", "b", "a"), "zone in (a,b)", true},
		"none of values": {selecting("zone", "NotIn", "b"), "zone notin (b)", true},
		"a label that is missing is none of values": {selecting("tier", "NotIn", "b"), "tier notin (b)", true},
		"a value that is excluded":                  {selecting("zone", "NotIn", "a"), "zone notin (a)", false},
		"a label that is there":                     {selecting("app", "Exists"), "app", true},
		"a label that is not there":                 {selecting("tier", "DoesNotExist"), "!tier", true},
		"an operator that is unknown":               {selecting("app", "Near", "web"), "<none>", false},
		"In without values":                         {selecting("app", "In"), "<none>", false},
	} {
		if got := tt.selector.matches(front); got != tt.matches {
			t.Errorf("%s matches: %v; want %v", name, got, tt.matches)
		}
		if got := tt.selector.String(); got != tt.text {
			t.Errorf("%s is %q; want %q", name, got, tt.text)
		}
	}
}

func selecting(key, operator string, values ...string) *labelSelector {
	return &labelSelector{MatchExpressions: []labelRequirement{{key, operator, values}}}
}
