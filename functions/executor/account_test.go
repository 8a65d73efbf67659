package executor

import (
	"strings"
	"testing"

	"lamplighter.dev/shared/cloud"
	"lamplighter.dev/shared/domain/execution"
	"lamplighter.dev/shared/domain/inventory"
	"lamplighter.dev/shared/foundation/id"
	"lamplighter.dev/shared/testkit/apitest"
)

// Credentials are revoked while an action waits for its resource. The next look is refused: the action fails with the
// cloud's error text, the account shows it, and another account's action continues.
func TestRun_RevokedCredentialsDegradeTheirAccountAlone(t *testing.T) {
	slow := map[string]string{"size": "60", "regions": "1", "transitionSeconds": "120"}
	w := newFixture(t, slow)
	r := w.pick("aws-ec2", cloud.Running)
	a := w.submit(r, cloud.Stop)
	in := execution.RunInput{Org: org, Actions: []string{a.ID}, Until: execution.UntilSettled}
	apitest.Value(w.e.RunActions(w.ctx, in))(t) // it is stopping
	other := w.account
	other.ID, other.Name, other.CloudAccountID = id.New("ca", noon), "other", "100000000002"
	other.Sealed = apitest.Value(inventory.SealCredentials(w.ctx, w.e.p.Sealer, inventory.SecretPlace(org, other.ID),
		slow))(t)
	w.Put(inventory.AccountKey(org, other.ID), other)
	w.sealCredentials(map[string]string{"refuse": "true"})
	w.driveRun(in)
	const said = "The security token included in the request is invalid."
	if got := w.action(a.ID); got.Status != execution.Failed || !strings.Contains(got.ErrorMessage, said) {
		t.Errorf("the action is %s: %s; want it failed with the cloud's words", got.Status, got.ErrorMessage)
	}
	revoked := apitest.Read[inventory.Account](w.Fixture, inventory.AccountKey(org, w.account.ID))
	if revoked.Status != inventory.AccountDegraded || !strings.Contains(revoked.Error, said) {
		t.Errorf("the account is %s: %s; want it degraded with the cloud's words", revoked.Status, revoked.Error)
	}
	w.account, w.resources = other, nil
	w.conn = apitest.Value(w.e.newClouds().Connect(w.ctx, org, other))(t)
	w.discoverAll()
	b := w.submit(w.pick("aws-ec2", cloud.Running), cloud.Stop)
	w.driveRun(execution.RunInput{Org: org, Actions: []string{b.ID}, Until: execution.UntilSettled})
	if got := w.action(b.ID); got.Status != execution.Succeeded {
		t.Errorf("the action in the other account is %s: %s", got.Status, got.ErrorMessage)
	}
	if got := apitest.Read[inventory.Account](w.Fixture,
		inventory.AccountKey(org, other.ID)); got.Status != inventory.AccountConnected {
		t.Errorf("the other account is %s: %s", got.Status, got.Error)
	}
}
