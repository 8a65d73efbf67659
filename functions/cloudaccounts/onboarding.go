package cloudaccounts

import (
	"context"
	"slices"

	"lamplighter.dev/functions/cloudaccounts/onboarding"
	"lamplighter.dev/shared/api/identity"
	"lamplighter.dev/shared/domain/connection"
	"lamplighter.dev/shared/foundation/fault"
)

// nobody stands for the principal in what is made and then left out, where this deployment has none.
const nobody = "000000000000"

// getOnboarding returns what to set up, for an account or for a provider. The provider's page is there before any account is,
// since a role has to demand the external id before it can be connected.
func (s *service) getOnboarding(ctx context.Context, in *accountInput) (onboarding.Steps, error) {
	org, name := identity.CallerOrg(ctx), in.AccountID
	if !connection.IsProvider(s.p, name) {
		a, err := s.readAccount(ctx, org, in.AccountID)
		if err != nil {
			return onboarding.Steps{}, err
		}
		name = a.Provider
	}
	external, err := s.opener.ExternalID(ctx, org)
	if err != nil {
		return onboarding.Steps{}, err
	}
	o := onboarding.Organisation{ID: org, ExternalID: external, Principal: s.p.Settings.Principal,
		Issuer: s.p.Settings.TokenIssuer, Subject: s.p.Settings.CloudsRole,
		TemplateURL: s.p.Settings.RoleTemplateURL}
	if o.Principal != "" {
		return onboarding.StepsFor(name, o)
	}
	o.Principal = nobody
	steps, err := onboarding.StepsFor(name, o)
	steps.Principal, steps.ExternalID = nil, nil
	if name == "aws" { // whose members are opened by roles that demand a principal
		steps.Organisation = nil
	}
	steps.Methods = slices.DeleteFunc(steps.Methods, func(m onboarding.Method) bool {
		return m.AuthMethod == "assume_role"
	})
	return steps, fault.Wrap("onboarding of "+name, err)
}
