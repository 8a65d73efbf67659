package cloudorganisations_test

import (
	"testing"

	"lamplighter.dev/functions/cloudorganisations"
	"lamplighter.dev/shared/domain/connection"
	"lamplighter.dev/shared/testkit/apitest"
)

func TestOrganisations_SeveralAtOnceAreNoMoreThanTheMost(t *testing.T) {
	s := newFixture(t)
	s.CheckLimit(apitest.Addition{
		PK: connection.OrganisationKey(alice.Org, "").PK, Limit: connection.MaxOrganisations,
		Send: func(name string) apitest.Answer {
			return s.Call(alice, "POST /cloud-organisations", fields{
				"provider": "simulated", "name": name, "authMethod": "simulated", "permissionLevel": "read_only",
				"credentials": keys{"organisation": "o-" + name, "members": "1", "size": "0"},
			})
		},
	}, cloudorganisations.Operations)
}
