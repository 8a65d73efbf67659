package pricing

import (
	"bytes"
	"fmt"
	"strings"

	"lamplighter.dev/shared/cloud"
	"lamplighter.dev/shared/foundation/fault"
	"lamplighter.dev/shared/foundation/money"
	"lamplighter.dev/shared/foundation/packing"
)

// maxTable is the largest size of an unpacked table, in bytes.
const maxTable = 64 << 20

var (
	packer   packing.Packer
	unpacker = packing.Unpacker{Max: maxTable}
)

// Pack writes the prices in few bytes: lines of key, unit and amount in the order of keys, compressed.
func (t *Table) Pack() ([]byte, error) {
	var b bytes.Buffer
	for _, k := range t.Keys() {
		e := t.prices[k]
		fmt.Fprintf(&b, "%s\t%s\t%s\n", k, e.Unit, e.USD)
	}
	return packer.Append(nil, b.Bytes()), nil
}

// Unpack adds the prices that Pack wrote.
func (t *Table) Unpack(packed []byte) error {
	text, err := unpacker.Unpack(packed)
	if err != nil {
		return fault.NewWithCause(fault.Internal, err, "prices of %s in %s cannot be read", t.Provider, t.Region)
	}
	for line := range strings.Lines(string(text)) {
		if err = t.addLine(strings.Split(strings.TrimSuffix(line, "\n"), "\t")); err != nil {
			return err
		}
	}
	return nil
}

func (t *Table) addLine(fields []string) error {
	if len(fields) != 3 {
		return fault.New(fault.Internal, "a price of %s in %s is %q; want key, unit and amount", t.Provider, t.Region,
			fields)
	}
	usd, err := money.Parse(fields[2])
	if err != nil {
		return fmt.Errorf("read the price of %s: %w", fields[0], err)
	}
	t.Add(cloud.Price{Key: fields[0], Unit: cloud.PriceUnit(fields[1]), USD: usd})
	return nil
}
