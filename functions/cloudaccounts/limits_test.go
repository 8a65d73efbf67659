package cloudaccounts_test

import (
	"fmt"
	"testing"

	"lamplighter.dev/functions/cloudaccounts"
	"lamplighter.dev/shared/domain/connection"
	"lamplighter.dev/shared/domain/inventory"
	"lamplighter.dev/shared/testkit/apitest"
)

func TestAccounts_SeveralAtOnceAreNoMoreThanTheMost(t *testing.T) {
	s := newFixture(t)
	s.CheckLimit(apitest.Addition{
		PK: inventory.AccountKey(alice.Org, "").PK, Limit: connection.MaxAccounts,
		Send: func(name string) apitest.Answer {
			native := fmt.Sprintf("111122223%03d", name[len(name)-1]) // the digit or letter that the names end with
			return s.Call(alice, "POST /cloud-accounts",
				accountBody(map[string]any{"name": name, "cloudAccountID": native}))
		},
	}, cloudaccounts.Operations)
}
