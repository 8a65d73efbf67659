package organisationsync_test

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"

	"lamplighter.dev/shared/cloud"
	"lamplighter.dev/shared/cloud/simulated"
	"lamplighter.dev/shared/domain/connection"
	"lamplighter.dev/shared/domain/inventory"
	"lamplighter.dev/shared/testkit/apitest"
)

// watched is the simulated cloud, which calls opened when the first account is opened.
type watched struct {
	cloud.Provider
	once   sync.Once
	opened func()
}

func (*watched) Name() string { return simulated.Name }

func (w *watched) Connect(ctx context.Context,
	a cloud.Account, //nolint:gocritic // as cloud.Provider
) (cloud.Conn, error) {
	if strings.HasPrefix(a.ID, "ca_") {
		w.once.Do(w.opened)
	}
	return w.Provider.Connect(ctx, a)
}

// The synchronization counts the accounts when it begins. Somebody connects the last one by hand while it opens its
// members.
func TestSync_ConnectsNoMemberInAPlaceThatWasTakenMeanwhile(t *testing.T) {
	w := &watched{}
	s := newFixture(t, w)
	w.Provider = simulated.New(s.Table, s.Platform.Clock)
	put := func(i int) {
		accountID := fmt.Sprintf("ca_%026d", i)
		s.Put(inventory.AccountKey(alice.Org, accountID),
			inventory.Account{ID: accountID, Name: accountID, Provider: "aws"})
	}
	for i := range connection.MaxAccounts - 1 {
		put(i)
	}
	w.opened = func() { put(connection.MaxAccounts - 1) }
	o := s.connectOrganisation(cloudSettings(settings{"members": "2", "size": "0"}))
	if o.Members["refused"] != 2 || o.Members["connected"] != 0 {
		t.Errorf("%+v", o.Members)
	}
	all := apitest.Rows[inventory.Account](s.Fixture, inventory.AccountKey(alice.Org, "").PK)
	s.Equal("accounts", len(all), connection.MaxAccounts)
	for _, m := range s.listMembers(o.ID, "") {
		if m.Error == nil || !strings.Contains(*m.Error, "which is the most") {
			t.Errorf("%+v", m)
		}
	}
}
