package remediating

import (
	"context"
	"strings"

	"lamplighter.dev/shared/cloud"
	"lamplighter.dev/shared/foundation/fault"
)

// checkPermissions returns fault.Denied if the credentials of the account lack permissions that the change needs. Where
// the provider does not tell, the reads of the plan and the call itself will.
func (s *changing) checkPermissions(ctx context.Context, c cloud.Change) error {
	prober, ok := s.conn.(cloud.ChangeProber)
	if !ok {
		return nil
	}
	all, err := prober.ChangePermissions(ctx, c)
	if err != nil {
		return err
	}
	var denied []string
	for _, p := range all {
		if p.Status == "denied" {
			denied = append(denied, p.Action)
		}
	}
	if len(denied) == 0 {
		return nil
	}
	return fault.New(fault.Denied, "its account lacks %s, which the change needs: %s", strings.Join(denied, ", "),
		s.grantHint())
}

// grantHint returns how to give the account the permissions of changes.
func (s *changing) grantHint() string {
	return "give its credentials the permissions of level remediate, which GET /cloud-accounts/" +
		s.t.CloudAccountID + "/onboarding lists, and ask again"
}

// explainDenial returns fault.Denied for a cloud's denial, with the way to get the permission. It returns other errors,
// and nil, as they are.
func (s *changing) explainDenial(err error) error {
	if !isCloudError(err) || cloud.ClassOf(err) != cloud.Denied {
		return err
	}
	return fault.New(fault.Denied, "%s: %s", reasonOf(err), s.grantHint())
}
