package packedfile

import "testing"

func TestRead_PanicsOnABrokenFile(t *testing.T) {
	for name, packed := range map[string][]byte{
		"no gzip":       []byte("type,name"),
		"a header only": {0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 255},
	} {
		t.Run(name, func(t *testing.T) {
			defer func() {
				if recover() == nil {
					t.Error("read; want a panic")
				}
			}()
			Read(packed)
		})
	}
}
