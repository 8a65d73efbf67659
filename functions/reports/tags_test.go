package reports

import (
	"testing"

	"lamplighter.dev/shared/foundation/money"
)

func TestPercent_OfTotalsOfAnySign(t *testing.T) {
	for name, c := range map[string]struct {
		part, whole string
		want        float64
	}{
		"a part":                           {"25", "200", 12.5},
		"a credit in a month of costs":     {"-25", "200", -12.5},
		"a credit in a month of credits":   {"-25", "-200", 12.5},
		"costs in a month of more credits": {"25", "-200", -12.5},
		"nothing of nothing":               {"0", "0", 0},
	} {
		if got := percent(money.MustParse(c.part), money.MustParse(c.whole)); got != c.want {
			t.Errorf("%s: %v; want %v", name, got, c.want)
		}
	}
}
