package discovery

import (
	"context"
	"testing"
	"time"

	"lamplighter.dev/shared/cloud"
	"lamplighter.dev/shared/cloud/simulated"
	"lamplighter.dev/shared/domain/discovery"
	"lamplighter.dev/shared/domain/opinion"
	"lamplighter.dev/shared/foundation/money"
	"lamplighter.dev/shared/testkit/apitest"
)

// readImport returns the last import of opinions of the account.
func (s *fixture) readImport() opinion.Account {
	s.Helper()
	return apitest.Value(opinion.New(s.Platform).LastImport(s.ctx, org, s.account.ID))(s)
}

func TestImporting_OnceADayWithAPass(t *testing.T) {
	s := newFixture(t, settings{"size": "200", "regions": "2", "stopped": "0"})
	s.runPass(discovery.Succeeded)
	if a := s.readImport(); !a.TriedAt.IsZero() {
		t.Errorf("the first pass, which knows no locations, imported %+v", a)
	}
	s.noteCollection()
	s.clk.Advance(time.Hour)
	s.runPass(discovery.Succeeded)
	a := s.readImport()
	if a.State != cloud.OpinionsRead || a.Source != cloud.SimulatedAdvisor || a.Count < 10 || a.Count > 200 {
		t.Errorf("imported %+v", a)
	}
	s.clk.Advance(time.Hour)
	s.runPass(discovery.Succeeded)
	if again := s.readImport(); again.Gen != a.Gen || s.countCalls("ReadOpinions") != 1 {
		t.Errorf("another pass of the day imported again: %d calls", s.countCalls("ReadOpinions"))
	}
	s.advanceDays(1)
	if next := s.readImport(); next.Gen == a.Gen || next.Count != a.Count {
		t.Errorf("the next day imported %+v", next)
	}
}

func TestImporting_AFailureKeepsTheLastImport(t *testing.T) {
	s := newFixture(t, settings{"size": "60", "regions": "1"})
	s.runPass(discovery.Succeeded)
	s.noteCollection()
	s.runPass(discovery.Succeeded)
	before := s.readImport()
	s.clk.Advance(24 * time.Hour)
	sh := s.newShare("eu-west-1")
	sh.Importing = &Importing{Tries: maxImporting}
	w := newWorker(s.Platform, s.providers)
	got := apitest.Value(w.importShare(s.ctx, sh, s.account, &failing{}))(s)
	after := s.readImport()
	if !got.Done || after.Error == "" || after.Gen != before.Gen || after.Count != before.Count ||
		!after.At.Equal(before.At) {
		t.Errorf("after a failure: %+v, %+v", got, after)
	}
	sh.Importing = &Importing{}
	if got = apitest.Value(w.importShare(s.ctx, sh, s.account, &failing{}))(s); got.Done || got.WaitSeconds == 0 ||
		got.Importing.Tries != 1 {
		t.Errorf("a failure that may pass is %+v; want another try", got)
	}
	simulated.DenyCapability(s.providers[simulated.Name], s.account.ID, "discover", true)
	sh.Importing = &Importing{}
	_, conn, err := w.connectAccount(s.ctx, sh.Input)
	s.Must(err)
	apitest.Value(w.importShare(s.ctx, sh, s.account, conn))(s)
	if a := s.readImport(); a.State != cloud.OpinionsDenied || a.Message == "" || a.Count != 0 {
		t.Errorf("denied: %+v", a)
	}
}

// failing is a connection whose opinions cannot be read now.
type failing struct{ cloud.OpinionReader }

// ReadOpinions fails.
func (*failing) ReadOpinions(context.Context, cloud.OpinionRequest, func(cloud.Opinion)) (cloud.OpinionAnswer, error) {
	return cloud.OpinionAnswer{}, &cloud.Error{Class: cloud.Transient, Message: "the cloud is away"}
}

func TestImporting_ConvertsCurrenciesWithAKnownRate(t *testing.T) {
	s := newFixture(t, settings{"size": "1", "regions": "1"})
	all := make([]opinion.Opinion, 3)
	all[0].Saving, all[0].Currency = new(money.FromInt(7)), "USD"
	all[1].Saving, all[1].Currency = new(money.FromInt(7)), "EUR"
	s.Must(newWorker(s.Platform, s.providers).convertSavings(s.ctx, all))
	if all[0].USD.String() != "7" || all[1].USD != nil || all[1].Saving.String() != "7" || all[2].USD != nil {
		t.Errorf("%v %v %v; want 7, and none without a rate", all[0].USD, all[1].USD, all[2].USD)
	}
}
