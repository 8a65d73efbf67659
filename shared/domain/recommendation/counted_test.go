package recommendation

import (
	"testing"

	"lamplighter.dev/shared/foundation/money"
)

func TestCounted_IsInWholeCentsTowardsZero(t *testing.T) {
	for amount, want := range map[string]string{
		"444.106": "444.10", "444.1": "444.10", "0.009": "0.00", "0": "0.00", "9.999999999": "9.99",
	} {
		if got := Counted(money.MustParse(amount)).Fixed(2); got != want {
			t.Errorf("%s counts as %s, want %s", amount, got, want)
		}
	}
}
