package organisations

import (
	"cmp"
	"context"
	"errors"

	"lamplighter.dev/shared/api/audit"
	"lamplighter.dev/shared/api/identity"
	"lamplighter.dev/shared/api/rest"
	"lamplighter.dev/shared/engine/table"
	"lamplighter.dev/shared/foundation/fault"
	"lamplighter.dev/shared/people/erasure"
)

// Confirmation is the body of DELETE /organisation, which may be left out.
type Confirmation struct {
	Confirm string `json:"confirm,omitempty" maxLength:"100" doc:"The name of the organization"`
}

type endInput struct {
	Confirm string `query:"confirm" maxLength:"400" doc:"The name of the organization, where the body cannot carry it"`
	Body    *Confirmation
}

func (s service) endOrganisation(ctx context.Context, in *endInput) (rest.Deleted, error) {
	o, err := s.readOrganisation(ctx)
	if err != nil {
		return rest.Deleted{}, err
	}
	confirm := in.Confirm
	if in.Body != nil {
		confirm = cmp.Or(in.Body.Confirm, confirm)
	}
	if confirm != o.Name {
		return rest.Deleted{}, fault.New(fault.Invalid, "confirm: it must be the name of the organization, %q", o.Name)
	}
	err = erasure.BeginErasure(table.Within(ctx, identity.UserPrefix+o.CreatedBy), s.Platform, o.ID,
		append(nameReleaseWrites(o), table.Delete(madeKey(o.CreatedBy, o.ID)))...)
	if errors.Is(err, erasure.ErrEnded) {
		return rest.Deleted{}, errOrganisationGone(o.ID)
	}
	if err != nil {
		return rest.Deleted{}, err
	}
	audit.NoteChange(ctx, audit.Change{Target: o.ID, Before: newCurrent(o)})
	return rest.Deleted{ID: o.ID}, nil
}
