package organisations

import (
	"cmp"
	"context"
	"errors"

	"lamplighter.dev/shared/api/audit"
	"lamplighter.dev/shared/api/identity"
	"lamplighter.dev/shared/engine/table"
	"lamplighter.dev/shared/foundation/fault"
	"lamplighter.dev/shared/people/erasure"
)

type endInput struct {
	Confirm string `query:"confirm" maxLength:"400" doc:"The name of the organization, where the body cannot carry it"`
	Body    *struct {
		Confirm string `json:"confirm,omitempty" maxLength:"100" doc:"The name of the organization"`
	}
}

// Ended names the organization that was deleted.
type Ended struct {
	ID string `json:"id" doc:"The organization" example:"org_01k8z3v5y0e6m9x2q4t7r1c8bd"`
}

func (s service) end(ctx context.Context, in *endInput) (Ended, error) {
	o, err := s.row(ctx)
	if err != nil {
		return Ended{}, err
	}
	confirm := in.Confirm
	if in.Body != nil {
		confirm = cmp.Or(in.Body.Confirm, confirm)
	}
	if confirm != o.Name {
		return Ended{}, fault.New(fault.Invalid, "confirm: it must be the name of the organization, %q", o.Name)
	}
	err = erasure.Begin(table.Within(ctx, identity.UserPrefix+o.CreatedBy), s.Platform, o.ID, unclaimed(o)...)
	if errors.Is(err, erasure.ErrEnded) {
		return Ended{}, gone(o.ID)
	}
	if err != nil {
		return Ended{}, err
	}
	audit.Note(ctx, audit.Change{Target: o.ID, Before: shown(o)})
	return Ended{o.ID}, nil
}
