package integrations

import (
	"context"
	"net/url"
	"slices"
	"time"

	"lamplighter.dev/shared/api/audit"
	"lamplighter.dev/shared/api/identity"
	"lamplighter.dev/shared/api/rest"
	"lamplighter.dev/shared/domain/event"
	"lamplighter.dev/shared/domain/inventory"
	"lamplighter.dev/shared/domain/receiver"
	"lamplighter.dev/shared/engine/table"
	"lamplighter.dev/shared/foundation/fault"
	"lamplighter.dev/shared/foundation/id"
)

// shownReceived is the number of received webhooks in the detail of an integration.
const shownReceived = 10

// Integration is a connected service as clients see it.
type Integration struct {
	ID           string             `json:"id" example:"int_01k6v0e4y0c2b7m9q8r5t3w1xz"`
	Kind         string             `json:"kind" enum:"github,gitlab,ecr,gar,acr,dockerhub,jira,pagerduty"`
	Name         string             `json:"name"`
	Config       map[string]string  `json:"config" doc:"Without its secrets"`
	Secrets      []ConfiguredSecret `json:"secrets"`
	EventTypes   []string           `json:"eventTypes" doc:"[] is all; of kinds that take events"`
	ScopeType    string             `json:"scopeType" enum:"org,cloud_account,resource_group,resource,team"`
	ScopeID      string             `json:"scopeID"`
	Enabled      bool               `json:"enabled"`
	Status       string             `json:"status" enum:"untested,connected,failed" doc:"As of the last test; failed also when all tries of a delivery have failed and nothing has reached it since"`
	Message      string             `json:"message" doc:"The service's last answer"`
	TestedAt     *time.Time         `json:"testedAt"`
	PausedAt     *time.Time         `json:"pausedAt" doc:"The time since when it gets no events, because its maker has left or may read no events; null while it gets events"`
	PausedReason *string            `json:"pausedReason" doc:"Why it is paused"`
	WebhookURL   *string            `json:"webhookURL" doc:"Where its webhooks are to be sent; null for kinds that send none"`
	CreatedBy    string             `json:"createdBy"`
	CreatedAt    time.Time          `json:"createdAt"`
	UpdatedAt    time.Time          `json:"updatedAt"`
}

// ConfiguredSecret states that a secret is set, without its value.
type ConfiguredSecret struct {
	Name       string `json:"name" example:"apiToken"`
	Configured bool   `json:"configured"`
}

// IssuedIntegration is an integration with the secret of its webhooks.
type IssuedIntegration struct {
	Integration
	WebhookSecret *string `json:"webhookSecret" doc:"Its webhooks are signed with it; it is told this once, and null where none was made"`
}

// IntegrationDetail is an integration with its last received webhooks.
type IntegrationDetail struct {
	Integration
	LastReceivedAt *time.Time        `json:"lastReceivedAt" doc:"When the last webhook came; null while none has, or not within 90 days"`
	Received       []ReceivedWebhook `json:"received" doc:"The last ten webhooks that came, the newest first"`
}

// ReceivedWebhook is a webhook that a service has sent.
type ReceivedWebhook struct {
	ID         string    `json:"id" example:"rcv_01k6v0e4y0c2b7m9q8r5t3w1xz"`
	Event      string    `json:"event" example:"push"`
	Repository string    `json:"repository"`
	Ref        string    `json:"ref"`
	Commit     string    `json:"commit"`
	DeliveryID string    `json:"deliveryID" doc:"As the service calls it"`
	At         time.Time `json:"at"`
}

// shown returns an integration of the caller's organization as clients see it.
func (s *service) shown(ctx context.Context, i receiver.Integration) Integration {
	out := Integration{
		ID: i.ID, Kind: i.Kind, Name: i.Name, Config: i.Config, Secrets: []ConfiguredSecret{},
		EventTypes: append([]string{}, i.EventTypes...), ScopeType: i.ScopeType, ScopeID: i.ScopeID,
		Enabled: i.Enabled, Status: i.Status, Message: i.Message, TestedAt: rest.Optional(i.TestedAt),
		PausedAt: rest.Optional(i.PausedAt), PausedReason: rest.Optional(i.PausedWhy), CreatedBy: i.CreatedBy,
		CreatedAt: i.CreatedAt, UpdatedAt: i.UpdatedAt,
	}
	if !i.FailingAt.IsZero() {
		out.Status, out.Message = receiver.IntegrationFailed, i.FailingWhy
	}
	entry, _ := receiver.IntegrationKindOf(i.Kind)
	for _, f := range entry.Fields {
		if f.Secret {
			out.Secrets = append(out.Secrets, ConfiguredSecret{f.Name, slices.Contains(i.Secrets, f.Name)})
		}
	}
	if entry.SendsEvents {
		q := url.Values{"organisation": {identity.CallerOrg(ctx)}, "integration": {i.ID}}
		address := s.p.Settings.BaseURL + "/webhooks/" + i.Kind + "?" + q.Encode()
		out.WebhookURL = &address
	}
	return out
}

// NewIntegration is the body of POST /integrations.
type NewIntegration struct {
	Kind       string            `json:"kind" enum:"github,gitlab,ecr,gar,acr,dockerhub,jira,pagerduty"`
	Name       string            `json:"name" minLength:"1" maxLength:"100"`
	Config     map[string]string `json:"config" maxProperties:"20"`
	EventTypes []string          `json:"eventTypes,omitempty" maxItems:"50" doc:"Left out or []: all"`
	ScopeType  string            `json:"scopeType,omitempty" enum:"org,cloud_account,resource_group,resource,team" default:"org"`
	ScopeID    string            `json:"scopeID,omitempty" maxLength:"1024"`
	Enabled    *bool             `json:"enabled,omitempty" default:"true"`
}

func (s *service) create(ctx context.Context, in *struct{ Body NewIntegration }) (IssuedIntegration, error) {
	org, now, b := identity.CallerOrg(ctx), s.p.Clock.Now(), in.Body
	i := receiver.Integration{Kind: b.Kind, Row: receiver.Row{
		ID: id.New(receiver.IntegrationPrefix, now), Name: b.Name,
		Filter:  receiver.Filter{EventTypes: b.EventTypes, ScopeType: b.ScopeType, ScopeID: b.ScopeID},
		Enabled: b.Enabled == nil || *b.Enabled, CreatedBy: identity.CallerFrom(ctx).Email, CreatedAt: now,
		UpdatedAt: now,
	}}
	i.TakeOver(identity.CallerFrom(ctx), i.EventTypes, now)
	holds, err := s.prepare(ctx, &i, b.Config)
	if err != nil {
		return IssuedIntegration{}, err
	}
	secret, err := s.issue(ctx, &i)
	if err != nil {
		return IssuedIntegration{}, err
	}
	audit.NoteChange(ctx, audit.Change{Target: i.ID, After: s.shown(ctx, i)})
	if err = s.store.Create(ctx, org, &i, holds...); err != nil {
		return IssuedIntegration{}, err
	}
	return IssuedIntegration{s.shown(ctx, i), secret}, nil
}

// issue creates the signing secret for the webhooks of i. It returns nil if the kind of i sends none.
func (s *service) issue(ctx context.Context, i *receiver.Integration) (*string, error) {
	if entry, _ := receiver.IntegrationKindOf(i.Kind); !entry.SendsEvents {
		return nil, nil //nolint:nilnil // there is none
	}
	secret, err := s.store.MakeInbound(ctx, identity.CallerOrg(ctx), i)
	return &secret, err
}

// prepareChange is prepare for a change from old to next. It holds only references that are new in next. An unchanged
// reference may be deleted by now, which is no reason to refuse the change.
func (s *service) prepareChange(ctx context.Context, old, next *receiver.Integration, given map[string]string,
) ([]table.Write, error) {
	if err := s.shape(ctx, next, given); err != nil {
		return nil, err
	}
	moved := *next
	if next.ScopeType == old.ScopeType && next.ScopeID == old.ScopeID {
		moved.ScopeType, moved.ScopeID = event.ScopeOrg, ""
	}
	if next.Config[receiver.CloudAccountID] == old.Config[receiver.CloudAccountID] {
		moved.Config = nil
	}
	return s.hold(ctx, &moved)
}

// prepare validates an integration, sets the given configuration, and returns the writes that record its references as
// uses.
func (s *service) prepare(ctx context.Context, i *receiver.Integration, given map[string]string) ([]table.Write,
	error,
) {
	if err := s.shape(ctx, i, given); err != nil {
		return nil, err
	}
	return s.hold(ctx, i)
}

// shape validates an integration and sets the given configuration.
func (s *service) shape(ctx context.Context, i *receiver.Integration, given map[string]string) error {
	if err := i.Check(); err != nil || given == nil {
		return err
	}
	return s.store.Configure(ctx, identity.CallerOrg(ctx), i, s.rules, given)
}

// hold returns the writes that record an integration as a use of its scope and of the account in its configuration.
func (s *service) hold(ctx context.Context, i *receiver.Integration) ([]table.Write, error) {
	holds, err := i.Holds(ctx, s.inventory, identity.CallerOrg(ctx))
	if err != nil {
		return nil, err
	}
	account, err := s.holdAccount(ctx, i)
	return append(holds, account...), err
}

// holdAccount returns the writes that record an integration as a use of the cloud account in its configuration, or
// none without an account. It returns fault.Invalid if the organization has no such account.
func (s *service) holdAccount(ctx context.Context, i *receiver.Integration) ([]table.Write, error) {
	accountID := i.Config[receiver.CloudAccountID]
	if accountID == "" {
		return nil, nil
	}
	_, err := s.inventory.ReadAccount(ctx, identity.CallerOrg(ctx), accountID)
	if fault.Is(err, fault.NotFound) {
		return nil, fault.New(fault.Invalid, "config.%s: %.64q: there is no such cloud account; GET /cloud-accounts "+
			"lists them",
			receiver.CloudAccountID, accountID)
	}
	if err != nil || i.ScopeType == event.ScopeAccount && i.ScopeID == accountID { // its scope holds it already
		return nil, err
	}
	return inventory.HoldAccounts(identity.CallerOrg(ctx), []string{accountID})
}

type listInput struct {
	rest.Page
	rest.Sort[receiver.Integration, orders]
	Kind []string `query:"kind" maxItems:"8" enum:"github,gitlab,ecr,gar,acr,dockerhub,jira,pagerduty" doc:"Only those of these kinds"`
}

func (s *service) list(ctx context.Context, in *listInput) (rest.List[Integration], error) {
	all, err := s.store.List(ctx, identity.CallerOrg(ctx))
	if err != nil {
		return rest.List[Integration]{}, err
	}
	all = slices.DeleteFunc(all, func(i receiver.Integration) bool { return !rest.Among(in.Kind, i.Kind) })
	in.Apply(all)
	return rest.MapItems(rest.PageOf(all, in.Page), func(i receiver.Integration) Integration {
		return s.shown(ctx, i)
	}), nil
}

func (*service) catalogue(context.Context, *struct{}) ([]receiver.IntegrationKind, error) {
	return receiver.IntegrationCatalogue(), nil
}

func (s *service) get(ctx context.Context, in *IntegrationInput) (IntegrationDetail, error) {
	i, err := s.store.Read(ctx, identity.CallerOrg(ctx), in.IntegrationID)
	if err != nil {
		return IntegrationDetail{}, err
	}
	out := IntegrationDetail{Integration: s.shown(ctx, i), Received: []ReceivedWebhook{}}
	came, err := s.store.LastReceived(ctx, identity.CallerOrg(ctx), i.ID, shownReceived)
	if err != nil {
		return IntegrationDetail{}, err
	}
	for n, r := range came {
		if n == 0 {
			out.LastReceivedAt = &came[0].At
		}
		out.Received = append(out.Received, ReceivedWebhook(r))
	}
	return out, nil
}

// ChangedIntegration is the body of PUT /integrations/{integrationID}.
type ChangedIntegration struct {
	Name                rest.Patch[string]            `json:"name,omitzero" minLength:"1" maxLength:"100"`
	Config              rest.Patch[map[string]string] `json:"config,omitzero" maxProperties:"20"`
	EventTypes          rest.Patch[[]string]          `json:"eventTypes,omitzero" maxItems:"50" doc:"null or []: all"`
	ScopeType           rest.Patch[string]            `json:"scopeType,omitzero" enum:"org,cloud_account,resource_group,resource,team" doc:"null: org"`
	ScopeID             rest.Patch[string]            `json:"scopeID,omitzero" maxLength:"1024"`
	Enabled             rest.Patch[bool]              `json:"enabled,omitzero"`
	RotateWebhookSecret bool                          `json:"rotateWebhookSecret,omitempty" doc:"Makes the secret of its webhooks anew; the one before is good for nothing then"`
}

type updateInput struct {
	IntegrationInput
	Body ChangedIntegration
}

func (s *service) update(ctx context.Context, in *updateInput) (IssuedIntegration, error) {
	org := identity.CallerOrg(ctx)
	old, err := s.store.Read(ctx, org, in.IntegrationID)
	if err != nil {
		return IssuedIntegration{}, err
	}
	audit.NoteChange(ctx, audit.Change{Target: old.ID, Before: s.shown(ctx, old)})
	next := old
	if err = in.Body.apply(&next); err != nil {
		return IssuedIntegration{}, err
	}
	next.UpdatedAt = s.p.Clock.Now()
	if in.Body.takesOver() {
		next.TakeOver(identity.CallerFrom(ctx), next.EventTypes, next.UpdatedAt)
	}
	holds, err := s.prepareChange(ctx, &old, &next, in.Body.Config.Value)
	if err != nil {
		return IssuedIntegration{}, err
	}
	var secret *string
	if in.Body.RotateWebhookSecret {
		if secret, err = s.issue(ctx, &next); err != nil {
			return IssuedIntegration{}, err
		}
	}
	if err = s.store.Update(ctx, org, &old, &next, holds...); err != nil {
		return IssuedIntegration{}, err
	}
	audit.NoteChange(ctx, audit.Change{After: s.shown(ctx, next)})
	return IssuedIntegration{s.shown(ctx, next), secret}, nil
}

// takesOver reports whether the change makes the caller the maker of the integration: a change of its configuration,
// its event types or its scope, or one that enables it.
func (c *ChangedIntegration) takesOver() bool {
	return c.Config.Sent || c.EventTypes.Sent || c.ScopeType.Sent || c.ScopeID.Sent || c.Enabled.Sent && c.Enabled.Value
}

// apply sets the fields that were sent, except the configuration.
func (c *ChangedIntegration) apply(to *receiver.Integration) error {
	if err := rest.RefuseNull(map[string]bool{
		"name": c.Name.Null, "config": c.Config.Null, "enabled": c.Enabled.Null,
	}); err != nil {
		return err
	}
	c.Name.Apply(&to.Name)
	c.EventTypes.Apply(&to.EventTypes)
	c.ScopeType.Apply(&to.ScopeType)
	c.ScopeID.Apply(&to.ScopeID)
	c.Enabled.Apply(&to.Enabled)
	return nil
}

func (s *service) remove(ctx context.Context, in *IntegrationInput) (rest.Deleted, error) {
	i, err := s.store.Read(ctx, identity.CallerOrg(ctx), in.IntegrationID)
	if err != nil {
		return rest.Deleted{}, err
	}
	audit.NoteChange(ctx, audit.Change{Target: i.ID, Before: s.shown(ctx, i)})
	return rest.Deleted{ID: i.ID}, s.store.Delete(ctx, identity.CallerOrg(ctx), &i)
}
