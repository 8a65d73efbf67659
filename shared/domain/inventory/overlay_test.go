package inventory

import (
	"errors"
	"slices"
	"testing"

	"github.com/oklog/ulid/v2"
)

// TestDecodePlaces_RefusesWhatIsCut checks that decoded places equal the encoded ones, and that truncated bytes are an
// error.
func TestDecodePlaces_RefusesWhatIsCut(t *testing.T) {
	want := []place{{ulid.ULID{1}, 1, 300}, {ulid.ULID{2}, 70_000, 2}}
	z := encodePlaces([]place{want[1], want[0]})
	got, err := decodePlaces(z)
	if err != nil || !slices.Equal(got, want) {
		t.Fatalf("got %v, %v, want %v", got, err, want)
	}
	whole := len(encodePlaces(want[:1]))
	for n := range z {
		if _, err = decodePlaces(z[:n]); (err == nil) != (n == 0 || n == whole) {
			t.Errorf("%d of %d bytes: %v", n, len(z), err)
		}
	}
	if _, err = decodePlaces(append(slices.Clone(z), 0)); !errors.Is(err, errPlaces) {
		t.Errorf("a byte too many: %v", err)
	}
}
