package platform

import (
	"bytes"
	"testing"
	"time"
)

func TestFromEnvironment_TakesTheEpoch(t *testing.T) {
	for text, want := range map[string]time.Time{
		"":                          {},
		"2026-03-10T10:30:00+01:00": time.Date(2026, time.March, 10, 9, 30, 0, 0, time.UTC),
	} {
		p, err := FromEnvironment(Secrets, newEnviron(map[string]string{"LAMPLIGHTER_EPOCH": text}))
		if err != nil || p.Settings.Epoch != want {
			t.Errorf("%q: %v, %v; want %v", text, p.Settings.Epoch, err, want)
		}
	}
}

func TestCodeKey_IsAnotherOneAfterEachRestore(t *testing.T) {
	s := Settings{Pepper: []byte("pepper")}
	if !bytes.Equal(s.CodeKey(), s.Pepper) {
		t.Error("without a restore it is not the pepper")
	}
	seen := map[string]bool{string(s.Pepper): true}
	for i := range 3 {
		s.Epoch = time.Unix(int64(i+1), 0)
		again := s
		again.Epoch = s.Epoch.UTC()
		if k := string(s.CodeKey()); seen[k] || k != string(again.CodeKey()) {
			t.Errorf("epoch %v: the key of another", s.Epoch)
		} else {
			seen[k] = true
		}
	}
}
