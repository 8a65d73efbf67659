package ssrfguard

import (
	"net/netip"
	"net/url"
	"strings"
	"testing"

	"lamplighter.dev/shared/foundation/fault"
)

var fair = []string{
	"https://hooks.slack.com/services/T/B/x", "https://8.8.8.8/", "https://[2606:4700:4700::1111]/",
	"https://example.com:443/a?b=c",
	"https://EXAMPLE.com./", "https://under_score.example.com", "https://[::ffff:8.8.8.8]/",
}

// check 60, when an address is given.
func TestHostileAddressesAreRefusedWhenTheyAreGiven(t *testing.T) {
	if len(hostile) < 72 {
		t.Fatalf("%d addresses, where 72 belong", len(hostile))
	}
	for _, s := range hostile {
		t.Run(s, func(t *testing.T) {
			if err := (Policy{}).CheckAddress(s); !fault.Is(err, fault.Invalid) ||
				!strings.HasPrefix(fault.Message(err), "the address ") {
				t.Errorf("%v", err)
			}
		})
	}
	for _, s := range fair {
		if err := (Policy{}).CheckAddress(s); err != nil {
			t.Errorf("%s is refused: %v", s, err)
		}
	}
}

func TestPrivateAddresses(t *testing.T) {
	for _, s := range insideOnly {
		if err := (Policy{}).CheckAddress(s); !fault.Is(err, fault.Invalid) {
			t.Errorf("%s: %v", s, err)
		}
		if err := (Policy{Private: true}).CheckAddress(s); err != nil {
			t.Errorf("%s is refused where private addresses are allowed: %v", s, err)
		}
	}
	for _, s := range nowhere {
		if err := (Policy{Private: true}).CheckAddress(s); !fault.Is(err, fault.Invalid) {
			t.Errorf("%s where private addresses are allowed: %v", s, err)
		}
	}
}

func TestCheckAddress_NamesTheSchemesThatArePermitted(t *testing.T) {
	for policy, want := range map[Policy]string{
		{}:              "the address must begin with https://",
		{Private: true}: "the address must begin with https:// or http://",
	} {
		if err := policy.CheckAddress("ftp://example.com"); fault.Message(err) != want {
			t.Errorf("%+v: %v, want %s", policy, err, want)
		}
	}
}

func TestARefusalSaysNothingOfOurNetwork(t *testing.T) {
	err := Policy{}.permitAddress(netip.MustParseAddr("10.1.2.3"))
	if m := fault.Message(err); strings.Contains(m, "10.1") || !strings.Contains(err.Error(), "10.1.2.3") {
		t.Errorf("the client sees %q, the log %q", m, err)
	}
}

func TestAnAddressHasAnEnd(t *testing.T) {
	long := "https://example.com/" + strings.Repeat("a", maxAddressBytes)
	if err := (Policy{}).CheckAddress(long); !fault.Is(err, fault.Invalid) {
		t.Error(err)
	}
}

func FuzzCheck(f *testing.F) {
	for _, list := range [][]string{hostile, leading, insideOnly, nowhere, fair} {
		for _, s := range list {
			f.Add(s)
		}
	}
	f.Fuzz(func(t *testing.T, s string) {
		open, closed := Policy{Private: true}.CheckAddress(s), Policy{}.CheckAddress(s)
		if closed == nil && open != nil {
			t.Errorf("%q is refused only where more is allowed: %v", s, open)
		}
		if closed != nil {
			return
		}
		u, err := url.Parse(s)
		if err != nil || u.Scheme != "https" || u.User != nil || u.Host == "" || (u.Port() != "" && u.Port() != "443") {
			t.Fatalf("%q passed, and reads as %+v, %v", s, u, err)
		}
		if a, err := netip.ParseAddr(u.Hostname()); err == nil {
			a = a.Unmap()
			if a.IsPrivate() || a.IsLoopback() || a.IsLinkLocalUnicast() || a.IsUnspecified() || a.IsMulticast() ||
				a.Zone() != "" {
				t.Errorf("%q passed, and is %s", s, a)
			}
		}
	})
}

func BenchmarkCheck(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		if err := (Policy{}).CheckAddress("https://hooks.example.com/services/T/B/x"); err != nil {
			b.Fatal(err)
		}
	}
}
