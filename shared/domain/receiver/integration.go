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

// IntegrationPartition holds the integrations of an organization, their names, and the issues created in Jira.
const IntegrationPartition table.Partition = "ORG#*#INTEGRATION"

// IntegrationSending is the access that NewMatcher and Sender need. A function that sends also opens
// IntegrationSecret.
var IntegrationSending = table.Access{Writes: []table.Partition{IntegrationPartition}}

// IntegrationSecret is the secret kind of an integration's sealed data.
const IntegrationSecret = "integration"

// IntegrationPrefix is the prefix of integration IDs.
const IntegrationPrefix = "int"

var integrationKind = Kind{
	Target: delivery.Integration, Noun: "integration", Prefix: IntegrationPrefix,
	Partition: IntegrationPartition,
}

// Integration is a stored connected service. Sealed holds the secret fields of its configuration by name. Inbound
// holds the secret that signs the service's webhooks.
type Integration struct {
	Row
	Kind     string            `json:"kind"`
	Config   map[string]string `json:"config"`
	Secrets  []string          `json:"secrets"` // their names
	Sealed   []byte            `json:"sealed,omitempty"`
	Inbound  []byte            `json:"inbound,omitempty"`
	Status   string            `json:"status"`
	Message  string            `json:"message"` // the service's answer to the last test
	TestedAt time.Time         `json:"testedAt,omitzero"`
}

// The statuses of integrations.
const (
	IntegrationUntested  = "untested"
	IntegrationConnected = "connected"
	IntegrationFailed    = "failed" // the last test failed, or all tries of a delivery
)

// IntegrationStore stores the integrations of organizations.
type IntegrationStore struct {
	*Store[Integration, *Integration]
	table  table.Store
	sealer seal.Sealer
}

// NewIntegrationStore returns a store on t that seals with s.
func NewIntegrationStore(t table.Store, s seal.Sealer) *IntegrationStore {
	return &IntegrationStore{NewStore[Integration, *Integration](t, integrationKind), t, s}
}

// NewIntegrationMatcher returns the matcher for integrations of kinds that take events.
func NewIntegrationMatcher(s *IntegrationStore, a *Audience) delivery.Matcher {
	return NewMatcher(s.Store, a, func(i *Integration) bool {
		entry, _ := IntegrationKindOf(i.Kind)
		return entry.TakesEvents
	})
}

// CloudAccountID is the configuration field for one of the organization's cloud accounts.
const CloudAccountID = "cloudAccountID"

// IntegrationsFor lists the integrations that use a scope in their filter, or a cloud account in their configuration,
// oldest first. It takes one round trip.
func (s *IntegrationStore) IntegrationsFor(ctx context.Context, org string, of event.Scope) ([]Integration, error) {
	all, err := s.List(ctx, org)
	return slices.DeleteFunc(all, func(i Integration) bool {
		configured := of.Type == event.ScopeAccount && i.Config[CloudAccountID] == of.ID
		return !configured && (i.ScopeType != of.Type || i.ScopeID != of.ID)
	}), err
}

// Configure merges given into the configuration of i, whose ID and kind are set. IntegrationKind lists the fields.
// Secrets that are not given are kept, unless the address that they are sent to has changed. The error is
// fault.Invalid and names the field.
func (s *IntegrationStore) Configure(ctx context.Context, org string, i *Integration, rules IntegrationRules,
	given map[string]string,
) error {
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
	i.Config, i.Secrets, i.Status, i.Message, i.TestedAt = plain, slices.Sorted(maps.Keys(secrets)),
		IntegrationUntested, "",
		time.Time{}
	i.FailingAt, i.FailingWhy = time.Time{}, ""
	i.Sealed, err = s.seal(ctx, place(org, i.ID), secrets)
	return err
}

// MakeInbound sets and returns a new secret for the webhooks of i's service.
func (s *IntegrationStore) MakeInbound(ctx context.Context, org string, i *Integration) (string, error) {
	key := NewWebhookKey()
	var err error
	i.Inbound, err = s.seal(ctx, inboundPlace(org, i.ID), map[string]string{"secret": key})
	return key, err
}

// OpenInbound returns the secret that signs the service's webhooks, or "" when there is none.
func (s *IntegrationStore) OpenInbound(ctx context.Context, org string, i *Integration) (string, error) {
	m, err := s.open(ctx, inboundPlace(org, i.ID), i.Inbound)
	return m["secret"], err
}

// Open returns the configuration of i with its secrets.
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
