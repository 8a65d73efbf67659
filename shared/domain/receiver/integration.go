// Package integration is the services of others that an organization has connected: where its code and its images lie, and where its people
// are told of issues and incidents.
package receiver

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"time"

	"lamplighter.dev/shared/domain/delivery"
	"lamplighter.dev/shared/domain/event"
	"lamplighter.dev/shared/engine/table"
	"lamplighter.dev/shared/foundation/fault"
	"lamplighter.dev/shared/foundation/seal"
)

// IntegrationPartition is of the integrations of an organization, their names, and the issues that Jira was asked for.
const IntegrationPartition table.Partition = "ORG#*#INTEGRATION"

// IntegrationSending is what NewMatcher and Sender touch; who sends opens Secret as well.
var IntegrationSending = table.Access{Writes: []table.Partition{IntegrationPartition}}

// IntegrationSecret is the kind of what is sealed of an integration.
const IntegrationSecret = "integration"

// IntegrationPrefix begins the ids.
const IntegrationPrefix = "int"

var integrationKind = Kind{Target: delivery.Integration, Noun: "integration", Prefix: IntegrationPrefix, Partition: IntegrationPartition}

// Integration is a connected service as it is stored. Sealed holds the secrets of its configuration by their names, Inbound the secret that its
// webhooks are signed with.
type Integration struct {
	Row
	Kind     string            `json:"kind"`
	Config   map[string]string `json:"config"`
	Secrets  []string          `json:"secrets"` // their names
	Sealed   []byte            `json:"sealed,omitempty"`
	Inbound  []byte            `json:"inbound,omitempty"`
	Status   string            `json:"status"`
	Message  string            `json:"message"` // what the service said at the last test
	TestedAt time.Time         `json:"testedAt,omitzero"`
}

// The statuses of integrations.
const (
	IntegrationUntested  = "untested"
	IntegrationConnected = "connected"
	IntegrationFailed    = "failed" // at the last test, or all tries of a delivery have failed
)

// IntegrationStore keeps the integrations of organizations.
type IntegrationStore struct {
	*Store[Integration, *Integration]
	table  table.Store
	sealer seal.Sealer
}

// NewIntegrationStore returns the store on t, which seals by s.
func NewIntegrationStore(t table.Store, s seal.Sealer) *IntegrationStore {
	return &IntegrationStore{NewStore[Integration, *Integration](t, integrationKind), t, s}
}

// NewIntegrationMatcher returns what finds the integrations that are told of an event: those of kinds that take events.
func NewIntegrationMatcher(s *IntegrationStore, a *Audience) delivery.Matcher {
	return NewMatcher(s.Store, a, func(i *Integration) bool {
		entry, _ := IntegrationKindOf(i.Kind)
		return entry.TakesEvents
	})
}

// CloudAccountID is the field of a configuration that names one of the organization's cloud accounts.
const CloudAccountID = "cloudAccountID"

// IntegrationsFor lists the integrations that name a scope by their filter, or a cloud account by their
// configuration, oldest first. One round trip.
func (s *IntegrationStore) IntegrationsFor(ctx context.Context, org string, of event.Scope) ([]Integration, error) {
	all, err := s.List(ctx, org)
	return slices.DeleteFunc(all, func(i Integration) bool {
		configured := of.Type == event.ScopeAccount && i.Config[CloudAccountID] == of.ID
		return !configured && (i.ScopeType != of.Type || i.ScopeID != of.ID)
	}), err
}

// Configure gives i, which has its id and kind, the configuration that follows from what it has and what is given: see KindEntry for the fields.
// Secrets that are not given stay, unless an address to which they are sent is another one. What cannot be is fault.Invalid and named.
func (s *IntegrationStore) Configure(ctx context.Context, org string, i *Integration, rules IntegrationRules, given map[string]string) error {
	entry, known := IntegrationKindOf(i.Kind)
	if !known {
		return fault.New(fault.Invalid, "kind: %.64q is none; GET /integrations/catalogue lists them", i.Kind)
	}
	have, err := s.Open(ctx, org, i)
	if err != nil {
		return err
	}
	config := merge(have, given)
	if err = entry.check(rules, config); err != nil {
		return err
	}
	plain, secrets := entry.split(config)
	if field := entry.redirected(i.Config, plain); field != "" && i.Config != nil {
		for name := range secrets {
			if given[name] == "" {
				return fault.New(fault.Invalid, "config.%s: it says where config.%s is sent; send that again with it",
					field, name)
			}
		}
	}
	i.Config, i.Secrets, i.Status, i.Message, i.TestedAt = plain, slices.Sorted(maps.Keys(secrets)), IntegrationUntested, "",
		time.Time{}
	i.FailingAt, i.FailingWhy = time.Time{}, ""
	i.Sealed, err = s.seal(ctx, place(org, i.ID), secrets)
	return err
}

// MakeInbound gives i a secret for the webhooks that its service sends, and returns it.
func (s *IntegrationStore) MakeInbound(ctx context.Context, org string, i *Integration) (string, error) {
	key := NewWebhookKey()
	var err error
	i.Inbound, err = s.seal(ctx, inboundPlace(org, i.ID), map[string]string{"secret": key})
	return key, err
}

// OpenInbound returns the secret that webhooks of the service are signed with, "" where there is none.
func (s *IntegrationStore) OpenInbound(ctx context.Context, org string, i *Integration) (string, error) {
	m, err := s.open(ctx, inboundPlace(org, i.ID), i.Inbound)
	return m["secret"], err
}

// Open returns the whole configuration of i, with its secrets.
func (s *IntegrationStore) Open(ctx context.Context, org string, i *Integration) (map[string]string, error) {
	out, err := s.open(ctx, place(org, i.ID), i.Sealed)
	if err != nil {
		return nil, err
	}
	maps.Copy(out, i.Config)
	return out, nil
}

func place(org, integrationID string) seal.Place {
	return seal.Place{Org: org, Kind: IntegrationSecret, ID: integrationID}
}

func inboundPlace(org, integrationID string) seal.Place {
	return place(org, integrationID+"/inbound")
}

func (s *IntegrationStore) seal(ctx context.Context, at seal.Place, secrets map[string]string) ([]byte, error) {
	if len(secrets) == 0 {
		return nil, nil
	}
	plain, err := json.Marshal(secrets)
	if err != nil {
		return nil, fmt.Errorf("encode secrets of %s: %w", at.ID, err)
	}
	sealed, err := s.sealer.Seal(ctx, at, plain)
	return sealed, fault.Wrap("seal integration "+at.ID, err)
}

func (s *IntegrationStore) open(ctx context.Context, at seal.Place, sealed []byte) (map[string]string, error) {
	out := map[string]string{}
	if len(sealed) == 0 {
		return out, nil
	}
	plain, err := s.sealer.Open(ctx, at, sealed)
	if err != nil {
		return nil, fault.Wrap("open integration "+at.ID, err)
	}
	return out, fault.Wrap("decode secrets of "+at.ID, json.Unmarshal(plain, &out))
}

var _ delivery.HealthRecorder = (*IntegrationStore)(nil)
