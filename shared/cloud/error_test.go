package cloud

import "testing"

func TestIsTransientStatus_501IsAnAnswer(t *testing.T) {
	for status, want := range map[int]bool{
		200: false, 400: false, 404: false, 408: true, 429: false, 500: true, 501: false, 502: true, 503: true,
		504: true, 599: true,
	} {
		if got := IsTransientStatus(status); got != want {
			t.Errorf("IsTransientStatus(%d) = %t", status, got)
		}
	}
}
