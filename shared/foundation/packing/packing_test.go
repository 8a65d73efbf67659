package packing_test

import (
	"bytes"
	"sync"
	"testing"

	"lamplighter.dev/shared/foundation/packing"
)

func TestUnpack_ReturnsWhatWasPacked(t *testing.T) {
	for name, p := range map[string]*packing.Packer{"default": {}, "fastest": {Level: packing.Fastest}} {
		u := &packing.Unpacker{Max: 1 << 20}
		var all sync.WaitGroup
		for n := range 20 {
			all.Go(func() {
				want := bytes.Repeat([]byte{byte(n)}, n*1000)
				z := p.Append([]byte{7}, want)
				if got, err := u.Unpack(z[1:]); err != nil || !bytes.Equal(got, want) || z[0] != 7 || n > 1 &&
					len(z) > 100 {
					t.Errorf("%s: %d bytes came back as %d of %d: %v", name, len(want), len(got), len(z), err)
				}
			})
		}
		all.Wait()
	}
}

func TestUnpack_RefusesWhatIsTooLargeOrDamaged(t *testing.T) {
	p, u := &packing.Packer{}, &packing.Unpacker{Max: 1000}
	z := p.Append(nil, make([]byte, 100_000))
	for name, b := range map[string][]byte{"too large": z, "cut off": z[:len(z)-3], "none": []byte("none")} {
		if _, err := u.Unpack(b); err == nil {
			t.Errorf("%s: it was unpacked", name)
		}
	}
}
