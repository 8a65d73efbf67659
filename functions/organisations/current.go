package organisations

import (
	"context"
	"errors"
	"net/http"
	"slices"

	"lamplighter.dev/shared/api/audit"
	"lamplighter.dev/shared/api/identity"
	"lamplighter.dev/shared/api/rest"
	"lamplighter.dev/shared/domain/billimport"
	"lamplighter.dev/shared/engine/mail"
	"lamplighter.dev/shared/engine/table"
	"lamplighter.dev/shared/engine/workqueue"
	"lamplighter.dev/shared/foundation/displayname"
	"lamplighter.dev/shared/foundation/fault"
)

// Current is the organization that the caller works in, with its settings.
type Current struct {
	identity.Organisation
	identity.Preferences
}

func (s service) currentOperations(g *rest.Group) {
	const path = "/organisation"
	rest.Handle(g, rest.Op{
		ID: "getOrganisation", Method: http.MethodGet, Path: path, Policy: "organisation:read",
		Statuses: []int{http.StatusNotFound},
		Summary:  "Read the current organization",
	}, s.readCurrent)
	rest.Handle(g, rest.Op{
		ID: "updateOrganisation", Method: http.MethodPut, Path: path, Policy: "organisation:write",
		Statuses: []int{http.StatusBadRequest, http.StatusNotFound, http.StatusConflict},
		Summary:  "Change the current organization",
		Description: "Changes only the fields present; null resets a setting to its default. If its creator " +
			"renames it to the name of another of their organizations, the answer is 409. requireMFA acts on the " +
			"next request: it admits sessions that have proved a second factor, those of the organization's single " +
			"sign-on, whose provider is responsible for it, and personal access tokens that were made in such " +
			"sessions. Other members get 403 until they set one up (POST /auth/mfa/totp) or prove it (POST " +
			"/auth/refresh). Owners without one get a mail. A caller with a second factor must have proved it within " +
			"10 minutes to change it.",
	}, s.changeCurrent)
	rest.Handle(g, rest.Op{
		ID: "deleteOrganisation", Method: http.MethodDelete, Path: path, Policy: "organisation:delete", Session: true,
		StepUp:   true,
		Statuses: []int{http.StatusBadRequest, http.StatusNotFound},
		Summary:  "Delete the current organization",
		Description: "Ends the organization for all of its members. From then on access is refused and its clouds " +
			"are not changed. All of its data is erased within half an hour, including the audit log: export it " +
			"before. The resources in its clouds stay as they are. confirm is its name, in the body or, for " +
			"clients that send no body with DELETE, in the query.",
	}, s.endOrganisation)
}

// readOrganisation reads the record of the organization that the caller works in.
func (s service) readOrganisation(ctx context.Context) (identity.OrganisationRecord, error) {
	org := identity.CallerOrg(ctx)
	o, err := table.Read[identity.OrganisationRecord](ctx, s.Table, identity.OrganisationKey(org))
	if fault.Is(err, fault.NotFound) || err == nil && o.Ended {
		return o, errOrganisationGone(org)
	}
	return o, fault.Wrap("read organization "+org, err)
}

func errOrganisationGone(org string) error {
	return fault.New(fault.NotFound, "organization %s does not exist", org)
}

func newCurrent(o identity.OrganisationRecord) Current {
	return Current{o.Organisation, o.Preferences()}
}

func (s service) readCurrent(ctx context.Context, _ *struct{}) (Current, error) {
	o, err := s.readOrganisation(ctx)
	return newCurrent(o), err
}

// ChangedOrganisation is the body of PUT /organisation.
type ChangedOrganisation struct {
	Name             rest.Patch[string]  `json:"name,omitzero" minLength:"1" maxLength:"100" doc:"The new name"`
	Currency         rest.Patch[string]  `json:"currency,omitzero" minLength:"3" maxLength:"3" doc:"ISO 4217; null is USD" example:"EUR"`
	RequireMFA       rest.Patch[bool]    `json:"requireMFA,omitzero" doc:"Whether only log-ins with a second factor are admitted; null is false"`
	MCPEnabled       rest.Patch[bool]    `json:"mcpEnabled,omitzero" doc:"Whether assistants may work in the organization over MCP; null is false"`
	DefaultDashboard rest.Patch[string]  `json:"defaultDashboard,omitzero" minLength:"1" maxLength:"64" doc:"The id of a dashboard, or a preset: executive, engineering, finops, operations"`
	SavingsRealism   rest.Patch[float64] `json:"savingsRealism,omitzero" minimum:"0" maximum:"1" doc:"At most 4 decimals; null is 0.7"`
	AnomalyMinUSD    rest.Patch[string]  `json:"anomalyMinUSD,omitzero" maxLength:"16" doc:"A decimal from 0 to 999999999.99; null is 1" example:"1"`
	RetentionMonths  rest.Patch[int]     `json:"retentionMonths,omitzero" minimum:"1" maximum:"120" doc:"How many months after their own month actions, bulk actions and state history are kept; null is 13. It applies to records created from then on" example:"13"`

	EventAllOrNothing rest.Patch[bool] `json:"eventAllOrNothing,omitzero" doc:"Whether an event readiness plan fails, and gives back all targets, if one target does not get its capacity; null is false"`
	AttributionMonths rest.Patch[int]  `json:"attributionMonths,omitzero" minimum:"0" maximum:"36" doc:"How many closed months before the current month follow changes of teams and resource groups in costs; null is 13, 0 keeps every closed month as it is. A larger number attributes more closed months within some minutes; a smaller number changes no month" example:"13"`

	RequiredTags    rest.Patch[[]string] `json:"requiredTags,omitzero" maxItems:"50" doc:"Keys of tags that every resource must have, each of 1 to 128 characters; case does not matter; null or [] for none" example:"[\"team\",\"env\"]"`
	AllowedRegions  rest.Patch[[]string] `json:"allowedRegions,omitzero" maxItems:"200" doc:"Regions in which resources may be, as the providers name them; null or [] for all" example:"[\"eu-central-1\",\"westeurope\"]"`
	MinLogDays      rest.Patch[int]      `json:"minLogDays,omitzero" minimum:"0" maximum:"3650" doc:"For how many days production must keep its logs; null or 0 for no requirement" example:"365"`
	AutonomousRules rest.Patch[[]string] `json:"autonomousRules,omitzero" maxItems:"100" doc:"Rules that are marked autonomous (GET /recommendations/rules) and whose recommendations for non-production resources need no approval; null is none"`
}

type changeInput struct{ Body ChangedOrganisation }

func (s service) changeCurrent(ctx context.Context, in *changeInput) (Current, error) {
	old, err := s.readOrganisation(ctx)
	if err != nil {
		return Current{}, err
	}
	next := old
	changes, err := in.Body.applyTo(&next)
	if err != nil {
		return Current{}, err
	}
	if err = checkMFAChange(ctx, revision{old, next}); err != nil {
		return Current{}, err
	}
	next.UpdatedAt = s.Clock.Now()
	if in.Body.AutonomousRules.Sent {
		next.AutonomousBy = enablers(old, next, identity.CallerFrom(ctx))
		changes = append(changes, table.Set("autonomousBy", next.AutonomousBy))
	}
	changes = append(changes, table.Set("updatedAt", next.UpdatedAt))
	holds, err := in.Body.holdDashboard(old.ID)
	if err != nil {
		return Current{}, err
	}
	if holds, err = s.andRebuild(holds, old, next); err != nil {
		return Current{}, err
	}
	if err = s.storeChanges(ctx, revision{old, next}, changes, holds); err != nil {
		return Current{}, err
	}
	audit.NoteChange(ctx, audit.Change{Target: next.ID, Before: newCurrent(old), After: newCurrent(next)})
	return newCurrent(next), nil
}

// applyTo changes the sent fields, and returns only their changes for the store, so that concurrent changes of
// different settings do not undo each other.
func (c ChangedOrganisation) applyTo(o *identity.OrganisationRecord) ([]table.Change, error) {
	if err := c.checkSettings(); err != nil {
		return nil, err
	}
	c.RequiredTags.Value = lowerTexts(c.RequiredTags.Value)
	c.AllowedRegions.Value = lowerTexts(c.AllowedRegions.Value)
	changes := []table.Change{}
	if c.Name.Sent {
		var err error
		if o.Name, err = displayname.CleanName("name", c.Name.Value, 100); err != nil {
			return nil, err
		}
		changes = append(changes, table.Set("name", o.Name))
	}
	changes = addChoice(changes, "currency", c.Currency, &o.Currency)
	changes = addChoice(changes, "requireMFA", c.RequireMFA, &o.RequireMFA)
	changes = addChoice(changes, "mcpEnabled", c.MCPEnabled, &o.MCPEnabled)
	changes = addChoice(changes, "defaultDashboard", c.DefaultDashboard, &o.DefaultDashboard)
	changes = addChoice(changes, "savingsRealism", c.SavingsRealism, &o.SavingsRealism)
	changes = addChoice(changes, "anomalyMinUSD", c.AnomalyMinUSD, &o.AnomalyMinUSD)
	changes = addChoice(changes, "eventAllOrNothing", c.EventAllOrNothing, &o.EventAllOrNothing)
	changes = addChoice(changes, "autonomousRules", c.AutonomousRules, &o.AutonomousRules)
	changes = addChoice(changes, "attributionMonths", c.AttributionMonths, &o.AttributionMonths)
	changes = addChoice(changes, "requiredTags", c.RequiredTags, &o.RequiredTags)
	changes = addChoice(changes, "allowedRegions", c.AllowedRegions, &o.AllowedRegions)
	changes = addChoice(changes, "minLogDays", c.MinLogDays, &o.MinLogDays)
	return addChoice(changes, "retentionMonths", c.RetentionMonths, &o.RetentionMonths), nil
}

// enablers returns who let each rule run without approval: of the new ones, the caller.
func enablers(old, next identity.OrganisationRecord, c identity.Caller) map[string]identity.Enabler {
	out := map[string]identity.Enabler{}
	before := old.Preferences().AutonomousRules
	for _, ruleID := range next.Preferences().AutonomousRules {
		by, known := old.AutonomousBy[ruleID]
		if !known || !slices.Contains(before, ruleID) {
			by = identity.Enabler{User: c.User, Email: c.Email, At: next.UpdatedAt}
		}
		out[ruleID] = by
	}
	return out
}

// addChoice appends the change of a setting that was sent. null removes the setting.
func addChoice[T any](changes []table.Change, field string, p rest.Patch[T], to **T) []table.Change {
	switch {
	case !p.Sent:
		return changes
	case p.Null:
		*to = nil
		return append(changes, table.Remove(field))
	}
	*to = &p.Value
	return append(changes, table.Set(field, p.Value))
}

// holdDashboard returns the condition that the sent default dashboard exists in the organization.
func (c ChangedOrganisation) holdDashboard(org string) ([]table.Write, error) {
	if !c.DefaultDashboard.Set() {
		return nil, nil
	}
	holds, known := identity.HoldDashboard(org, c.DefaultDashboard.Value)
	if !known {
		return nil, errNoDashboard(c.DefaultDashboard.Value)
	}
	return holds, nil
}

// andRebuild returns ws and, if other closed months than before follow teams and groups, a write that rebuilds the
// costs.
func (s service) andRebuild(ws []table.Write, old, next identity.OrganisationRecord) ([]table.Write, error) {
	if next.Preferences().AttributionMonths == old.Preferences().AttributionMonths {
		return ws, nil
	}
	w, err := billimport.AddRebuild(old.ID, s.Clock.Now())
	return append(ws, w), err
}

func errNoDashboard(dashboardID string) error {
	return fault.New(fault.Invalid, "defaultDashboard: %.64q: there is no such dashboard; GET /dashboards lists them",
		dashboardID)
}

// revision is an organization before and after a change.
type revision struct{ old, next identity.OrganisationRecord }

// storeChanges writes the changes together with holds, and moves the claim to a new name. The hold on a dashboard is
// the first of holds.
func (s service) storeChanges(ctx context.Context, r revision, changes []table.Change, holds []table.Write) error {
	old, next := r.old, r.next
	claims, err := reclaimName(ctx, old, next)
	if err != nil {
		return err
	}
	if len(claims) > 0 {
		changes = append(changes, table.Set("loose", !isCreator(ctx, old)))
	}
	mails, err := s.tellOwners(ctx, r)
	if err != nil {
		return err
	}
	writes := append([]table.Write{
		table.Update(identity.OrganisationKey(old.ID), changes, table.Equal("name", old.Name)), r.accessWrite(),
	}, claims...)
	ctx = table.Within(ctx, identity.UserPrefix+old.CreatedBy, workqueue.Prefix, mail.Prefix)
	err = s.Table.Transact(ctx, slices.Concat(writes, holds, mails)...)
	failed, ok := errors.AsType[*table.ConditionError](err)
	if !ok {
		return fault.Wrap("change organization "+old.ID, err)
	}
	if _, ended := failed.Old(1); ended {
		return errOrganisationGone(old.ID)
	}
	if _, gone := failed.Old(len(writes)); gone && len(holds) > 0 {
		return errNoDashboard(*next.DefaultDashboard)
	}
	if _, taken := failed.Old(2); taken && isCreator(ctx, old) {
		return fault.New(fault.Conflict, "name: there is an organization %q of the same creator already", next.Name)
	}
	return fault.New(fault.Conflict,
		"the organization was renamed by somebody else at the same time: read it again, then repeat")
}

// isCreator reports whether the caller created o and may know the creator's other organizations.
func isCreator(ctx context.Context, o identity.OrganisationRecord) bool {
	c := identity.CallerFrom(ctx)
	return c.User == o.CreatedBy && !c.SSO
}

// reclaimName returns the writes that move the claim to a new name among the creator's organizations. Another
// caller's new name is not claimed: a conflict would reveal the names of the creator's other organizations.
func reclaimName(ctx context.Context, old, next identity.OrganisationRecord) ([]table.Write, error) {
	is := nameKey(old.CreatedBy, next.Name)
	if is == nameKey(old.CreatedBy, old.Name) {
		return nil, nil
	}
	if !isCreator(ctx, old) {
		return nameReleaseWrites(old), nil
	}
	claim, err := table.NewItem(is, identity.Membership{Org: old.ID, Joined: next.UpdatedAt})
	return append([]table.Write{table.Put(claim, table.Absent())}, nameReleaseWrites(old)...), err
}

// nameReleaseWrites returns the writes that release the claim to the name of o. If o has no claim, the claim belongs
// to another organization or does not exist.
func nameReleaseWrites(o identity.OrganisationRecord) []table.Write {
	if o.Loose {
		return nil
	}
	return []table.Write{table.Delete(nameKey(o.CreatedBy, o.Name),
		table.Any(table.Lacks("org"), table.Equal("org", o.ID)))}
}
