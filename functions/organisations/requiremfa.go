package organisations

import (
	"context"
	"fmt"

	"lamplighter.dev/shared/api/identity"
	"lamplighter.dev/shared/engine/mail"
	"lamplighter.dev/shared/engine/table"
)

// changesMFA reports whether the demand of a second factor changes.
func (r revision) changesMFA() bool {
	return r.old.Preferences().RequireMFA != r.next.Preferences().RequireMFA
}

// checkMFAChange refuses to change the demand of a second factor for a caller whose own proof is too old.
func checkMFAChange(ctx context.Context, r revision) error {
	if !r.changesMFA() {
		return nil
	}
	return identity.CallerFrom(ctx).CheckStepUp()
}

// accessWrite returns the write that demands that the organization has not ended. If the demand of a second factor
// changes, it stores the copy of the setting that the authorizer reads with every request.
func (r revision) accessWrite() table.Write {
	k, conds := identity.AccessKey(r.old.ID), []table.Cond{table.Exists(), table.NotEqual("ended", true)}
	if !r.changesMFA() {
		return table.Check(k, conds...)
	}
	return table.Update(k, []table.Change{table.Set("requireMFA", r.next.Preferences().RequireMFA)}, conds...)
}

// tellOwners returns the mails to the owners who have no second factor, if the organization begins to demand one.
func (s service) tellOwners(ctx context.Context, r revision) ([]table.Write, error) {
	if !r.changesMFA() || !r.next.Preferences().RequireMFA {
		return nil, nil
	}
	owners, err := s.readOwners(ctx, r.old.ID)
	if err != nil {
		return nil, err
	}
	var out []table.Write
	for _, u := range owners {
		if u.HasSecondFactor() {
			continue
		}
		w, err := mail.QueueMail(ctx, s.Sealer, s.Clock.Now(), mail.Mail{
			Template: mail.SecondFactorDemanded, To: u.Email, Data: map[string]string{"organisation": r.next.Name},
		})
		if err != nil {
			return nil, err
		}
		out = append(out, w)
	}
	return out, nil
}

// readOwners reads the accounts of up to identity.MaxToldOwners owners.
func (s service) readOwners(ctx context.Context, org string) ([]identity.User, error) {
	ids, err := identity.OwnerIDs(ctx, s.Table, org)
	if err != nil || len(ids) == 0 {
		return nil, err
	}
	keys, partitions := make([]table.Key, len(ids)), make([]string, len(ids))
	for i, user := range ids {
		keys[i] = identity.UserKey(user)
		partitions[i] = keys[i].PK
	}
	rows, err := s.Table.BatchGet(table.Within(ctx, partitions...), keys...)
	if err != nil {
		return nil, fmt.Errorf("read owners of %s: %w", org, err)
	}
	var out []identity.User
	for _, k := range keys {
		row, ok := rows[k]
		if !ok {
			continue
		}
		u, err := table.Decode[identity.User](row)
		if err != nil {
			return nil, err
		}
		out = append(out, u)
	}
	return out, nil
}
