package cloudaccounts_test

import (
	"strings"
	"testing"

	"lamplighter.dev/functions/cloudaccounts/onboarding"
	"lamplighter.dev/shared/api/identity"
	"lamplighter.dev/shared/api/platform"
	"lamplighter.dev/shared/testkit/apitest"
)

func TestOnboardingGivesOutOneExternalIDForAnOrganization(t *testing.T) {
	s := newFixture(t, func(p *platform.Platform) { p.Settings.Principal = "210987654321" })
	of := func(c identity.Caller, name string) onboarding.Steps {
		return apitest.Data[onboarding.Steps](s.call(c, "GET", "/cloud-accounts/"+name+"/onboarding", nil))
	}
	one := of(alice, "aws")
	if one.Principal == nil || *one.Principal != "210987654321" || one.ExternalID == nil || len(one.Policies) == 0 {
		t.Errorf("%+v", one)
	}
	if two := of(viewer, "aws"); *two.ExternalID != *one.ExternalID {
		t.Errorf("external id %q, then %q", *one.ExternalID, *two.ExternalID)
	}
	if bobs := of(bob, "aws"); *bobs.ExternalID == *one.ExternalID {
		t.Error("another organization has the same external id")
	}
	role := fields{
		"provider": "aws", "authMethod": "assume_role",
		"credentials": keys{"roleArn": "arn:aws:iam::111122223333:role/x", "externalID": *one.ExternalID},
	}
	got := s.call(alice, "POST", "/cloud-accounts", accountBody(role)) // as far as the worker, which has no AWS here
	if got.Status != 400 || !strings.Contains(got.Body, "not available") {
		t.Errorf("with our external id: %d %s", got.Status, got.Body)
	}
	if a := s.connectSettled(alice); of(alice, a.ID).Provider != "simulated" {
		t.Error("the steps of an account are not those of its provider")
	}
	s.call(alice, "GET", "/cloud-accounts/oracle/onboarding", nil).Want(404) // a provider that is not here
}

func TestOnboardingLeavesOutRolesWhereNobodyCanAssumeThem(t *testing.T) {
	s := newFixture(t)
	got := s.call(alice, "GET", "/cloud-accounts/aws/onboarding", nil)
	if steps := apitest.Data[onboarding.Steps](got); len(steps.Methods) == 0 ||
		strings.Contains(got.Body, "000000000000") || strings.Contains(got.Body, "assume_role") {
		t.Errorf("%s", got.Body)
	}
}
