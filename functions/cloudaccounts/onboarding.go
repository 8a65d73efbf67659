package cloudaccounts

import (
	"context"
	"slices"

	"lamplighter.dev/functions/cloudaccounts/onboarding"
	"lamplighter.dev/shared/api/identity"
	"lamplighter.dev/shared/domain/connection"
	"lamplighter.dev/shared/foundation/fault"
)

// noPrincipal is a placeholder principal for a deployment that has none. The parts with it are removed from the
// answer.
const noPrincipal = "000000000000"

// getOnboarding returns the onboarding steps for an account or for a provider. The provider's steps are available
// before any account exists, because a role must demand the external ID before it can be connected.
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
	o := onboarding.Organisation{
		ID: org, ExternalID: external, Principal: s.p.Settings.Principal,
		Issuer: s.p.Settings.TokenIssuer, Subject: s.p.Settings.CloudsRole,
		TemplateURL: s.p.Settings.RoleTemplateURL,
	}
	if o.Principal != "" {
		return onboarding.StepsFor(name, o)
	}
	o.Principal = noPrincipal
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
