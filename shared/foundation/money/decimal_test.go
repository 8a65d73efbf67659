package money_test

import (
	"testing"

	"lamplighter.dev/shared/foundation/money"
)

func TestAmount_Decimal128(t *testing.T) {
	cases := []struct {
		name, amount, read string
		exact              bool
	}{
		{"nothing", "0", "0", true},
		{"the smallest that fits", "0.00000000000000000000000001", "0.00000000000000000000000001", true},
		{
			"the largest that fits", "999999999999.99999999999999999999999999",
			"999999999999.99999999999999999999999999",
			true,
		},
		{"less than nothing", "-12.34", "-12.34", true},
		{
			"the least that fits", "-999999999999.99999999999999999999999999",
			"-999999999999.99999999999999999999999999",
			true,
		},
		{"more places than fit", "0.000000000000000000000000015", "0.00000000000000000000000002", false},
		{"too large", "1000000000000", "0", false},
		{"too far below nothing", "-1000000000000", "0", false},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			b, exact := money.MustParse(c.amount).Decimal128()
			read, ok := money.FromDecimal(b[:], money.DecimalPlaces)
			if exact != c.exact || !ok || read.String() != c.read {
				t.Errorf("read %s, %t, exact %t; want %s, exact %t", read, ok, exact, c.read, c.exact)
			}
		})
	}
}

func TestFromDecimal(t *testing.T) {
	cases := []struct {
		name   string
		b      []byte
		places int
		want   string
		ok     bool
	}{
		{"no bytes", nil, 2, "0", true},
		{"one byte", []byte{0x7f}, 2, "1.27", true},
		{"one byte below nothing", []byte{0x80}, 2, "-1.28", true},
		{"-1 in nine bytes", []byte{255, 255, 255, 255, 255, 255, 255, 255, 255}, 0, "-1", true},
		{
			"32 bytes of -1",
			[]byte{
				255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255,
				255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255,
			},
			30, "-0.000000000000000000000000000001",
			true,
		},
		{"33 bytes", make([]byte, 33), 0, "0", false},
		{"too many places", []byte{1}, 31, "0", false},
		{"too large", append([]byte{0x7f}, make([]byte, 31)...), 0, "0", false},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			got, ok := money.FromDecimal(c.b, c.places)
			if got.String() != c.want || ok != c.ok {
				t.Errorf("%s, %t; want %s, %t", got, ok, c.want, c.ok)
			}
		})
	}
}
