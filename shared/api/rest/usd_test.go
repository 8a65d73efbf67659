package rest_test

import (
	"encoding/json"
	"strings"
	"testing"

	"lamplighter.dev/shared/api/rest"
)

func TestUSD_IsReadExactly(t *testing.T) {
	for sent, want := range map[string]string{
		`"1500.10"`: "1500.1", `1500.10`: "1500.1", `"0.1"`: "0.1", `-3`: "-3", `1e3`: "1000",
		`9007199254740993`: "9007199254740993",
	} {
		var u rest.USD
		if err := json.Unmarshal([]byte(sent), &u); err != nil {
			t.Fatal(err)
		}
		if a, err := u.Read("amountUSD"); err != nil || a.String() != want {
			t.Errorf("%s: %s, %v", sent, a, err)
		}
	}
	for _, sent := range []string{`"a lot"`, `true`, `""`, `[1]`, `"1,000"`, `{}`} {
		var u rest.USD
		if err := json.Unmarshal([]byte(sent), &u); err != nil {
			t.Fatal(err)
		}
		if _, err := u.Read("amountUSD"); err == nil || !strings.Contains(err.Error(), "amountUSD: ") {
			t.Errorf("%s: %v", sent, err)
		}
	}
}
