package ssrfguard

import "testing"

func TestIsWithinDomain_EndsAtADot(t *testing.T) {
	for _, tt := range []struct {
		host, domain string
		within       bool
	}{
		{"gcr.io", "gcr.io", true},
		{"eu.gcr.io", "gcr.io", true},
		{"a.b.gcr.io", "gcr.io", true},
		{"EU.GCR.IO.", "gcr.io", true},
		{"evilgcr.io", "gcr.io", false},
		{"gcr.io.evil.example", "gcr.io", false},
		{"evil-gcr.io", "gcr.io", false},
		{"io", "gcr.io", false},
		{"gcr.io", "eu.gcr.io", false},
		{"gcr.io", "", false},
		{"", "", false},
	} {
		if got := IsWithinDomain(tt.host, tt.domain); got != tt.within {
			t.Errorf("IsWithinDomain(%q, %q) = %t", tt.host, tt.domain, got)
		}
	}
}
