package maildomain_test

import (
	"context"
	"net"
	"testing"
	"testing/synctest"
	"time"

	"lamplighter.dev/shared/people/maildomain"
)

var proven = time.Date(2026, time.March, 2, 6, 0, 0, 0, time.UTC)

const day = 24 * time.Hour

func TestDomain_Settle(t *testing.T) {
	found, absent, silent := maildomain.Result{Found: true}, maildomain.Result{Absent: true, Reason: "none"},
		maildomain.Result{Reason: "DNS did not answer"}
	since := proven.Add(7 * day)
	missing := maildomain.Domain{Verified: proven, Missing: since, Warned: since, Reason: "none"}
	for name, c := range map[string]struct {
		domain  maildomain.Domain
		result  maildomain.Result
		after   time.Duration // the record was first missing
		want    maildomain.Outcome
		missing bool
	}{
		"a record that is there": {
			maildomain.Domain{Verified: proven},
			found, 0, maildomain.Kept,
			false,
		},
		"a record that is gone": {
			maildomain.Domain{Verified: proven},
			absent, 0, maildomain.Warning,
			true,
		},
		"no answer about a proven domain": {
			maildomain.Domain{Verified: proven},
			silent, 0,
			maildomain.Unchanged, false,
		},
		"still gone on the next day":               {missing, absent, day, maildomain.Warning, true},
		"still gone an hour later":                 {missing, absent, time.Hour, maildomain.Unchanged, true},
		"no answer on the next day":                {missing, silent, day, maildomain.Warning, true},
		"no answer when the week is over":          {missing, silent, 30 * day, maildomain.Warning, true},
		"still gone a second before the week ends": {missing, absent, 7*day - time.Second, maildomain.Warning, true},
		"still gone when the week is over":         {missing, absent, 7 * day, maildomain.Lapsed, false},
		"back on the last day":                     {missing, found, 7 * day, maildomain.Kept, false},
	} {
		t.Run(name, func(t *testing.T) {
			d := c.domain
			if got := d.Settle(c.result, since.Add(c.after)); got != c.want || d.Missing.IsZero() == c.missing {
				t.Errorf("outcome %d, %+v", got, d)
			}
			if d.IsVerified() != (c.want != maildomain.Lapsed) || d.Lapses().IsZero() == c.missing {
				t.Errorf("%+v", d)
			}
		})
	}
}

func TestDomain_IsDueEachWeekOfDailyRuns(t *testing.T) {
	d, runs := maildomain.Domain{Verified: proven}, 0
	for n := range 29 {
		now := proven.Add(time.Duration(n) * day).Add(time.Duration(n%3) * time.Minute) // not to the second
		if d.IsDue(now) {
			runs++
			d.Settle(maildomain.Result{Found: true}, now)
		}
	}
	if runs != 4 {
		t.Errorf("looked up %d times in four weeks", runs)
	}
	if (maildomain.Domain{}).IsDue(proven) {
		t.Error("a domain that was never proven is due")
	}
}

// silentDNS answers nothing until the question is given up.
type silentDNS struct{}

func (silentDNS) LookupTXT(ctx context.Context, name string) ([]string, error) {
	<-ctx.Done()
	return nil, &net.DNSError{Err: ctx.Err().Error(), Name: name, IsTimeout: true}
}

func TestLookUp_HasADeadline(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		began := time.Now()
		got := maildomain.LookUp(t.Context(), silentDNS{}, make([]maildomain.Domain, 5))
		if took := time.Since(began); took != 6*time.Second {
			t.Errorf("five domains took %s", took)
		}
		for _, r := range got {
			if r.Found || r.Absent {
				t.Errorf("without an answer: %+v", r)
			}
		}
	})
}
