package evaluation

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"lamplighter.dev/shared/cloud"
	"lamplighter.dev/shared/domain/event"
	"lamplighter.dev/shared/domain/execution"
	"lamplighter.dev/shared/domain/inventory"
	"lamplighter.dev/shared/domain/override"
	"lamplighter.dev/shared/domain/scheduling"
	"lamplighter.dev/shared/engine/table"
	"lamplighter.dev/shared/foundation/fault"
)

// BeginOverride stores an override on the target and queues its action, in one transaction with the writes in more. It
// returns the override as it is stored.
func (s *Store) BeginOverride(ctx context.Context, org string, o override.Override, t Target,
	more ...table.Write,
) (override.Override, error) {
	if err := t.checkEvents(o); err != nil {
		return o, err
	}
	if len(t.Members) > MaxHeld {
		return o, fault.New(fault.Invalid, "groupID: group %s has %d resources that can be acted on; an override "+
			"holds at most %d", o.GroupID, len(t.Members), MaxHeld)
	}
	orders := t.orders(t.Members, execution.Order{
		Verb: o.Action.Verb(), Reason: execution.ReasonOverride,
		ChangedBy: execution.ChangedBy("override", string(o.Action)), Cause: o.ID, At: o.CreatedAt,
		Force: o.Force, Scopes: o.Scopes,
	})
	o.BulkActionID, o.BulkActionIDs = orders[0].ID(), idsOf(orders)
	queued, err := s.stage(ctx, org, orders)
	if err != nil {
		return o, err
	}
	err = override.ChangeLive(within(ctx), s.p.Table, org, func(l override.Live) (override.Live, []table.Write, error) {
		l, err := l.With(o)
		if err != nil {
			return l, nil, err
		}
		ws, err := beginWrites(org, o, queued)
		if err != nil {
			return l, nil, err
		}
		told, err := tellOfOverride(org, o, t)
		return l, append(append(ws, told), more...), err
	})
	if _, refused := errors.AsType[*table.ConditionError](err); refused {
		return o, fault.NewWithCause(fault.Conflict, err, "other overrides begin or end at the same moment, or what "+
			"this one is about has changed: try again")
	}
	if err != nil {
		return o, fmt.Errorf("begin override %s: %w", o.ID, err)
	}
	s.start(ctx, org, orders)
	return o, nil
}

func beginWrites(org string, o override.Override, orders []execution.Order) ([]table.Write, error) {
	row, err := override.NewItem(org, o)
	if err != nil {
		return nil, err
	}
	due, err := scheduling.AddDue(org, o.ExpiresAt.Truncate(time.Minute))
	if err != nil {
		return nil, err
	}
	ws, err := writesOf(org, orders)
	return append(ws, table.Put(row, table.Absent()), due), err
}

// ToldOverride is the data of the event of an override that has begun: on a resource, or on a group.
type ToldOverride struct {
	OverrideID     string          `json:"overrideID"`
	Action         override.Action `json:"action"`
	Reason         string          `json:"reason"`
	CreatedBy      string          `json:"createdBy"` // an address, or the id of a wake link
	ExpiresAt      time.Time       `json:"expiresAt"`
	Force          bool            `json:"force,omitempty"` // it also holds targets of active event readiness plans
	BulkActionID   string          `json:"bulkActionID"`    // the bulk action that applies it
	Resources      int             `json:"resources"`       // how many it holds by now
	ResourceUID    string          `json:"resourceUID,omitempty"`
	ResourceName   string          `json:"resourceName,omitempty"`
	ResourceType   string          `json:"resourceType,omitempty"`
	Provider       string          `json:"provider,omitempty"`
	Region         string          `json:"region,omitempty"`
	CloudAccountID string          `json:"cloudAccountID,omitempty"`
	CloudAccount   string          `json:"cloudAccount,omitempty"` // its name
	GroupID        string          `json:"groupID,omitempty"`
	GroupName      string          `json:"groupName,omitempty"`
}

// tellOfOverride returns the write that stores the event of an override on the target.
func tellOfOverride(org string, o override.Override, t Target) (table.Write, error) {
	e := event.Event{
		Key: event.ResourceOverride, ScopeType: event.ScopeGroup, ScopeID: o.GroupID, At: o.CreatedAt,
		Subject: o.ID,
	}
	r := t.Resource
	if o.GroupID == "" {
		e.ScopeType, e.ScopeID, e.Within = event.ScopeResource, o.ResourceUID,
			event.Belongs(r.CloudAccountID, r.GroupIDs, r.TeamIDs)
	}
	var err error
	e.Data, err = json.Marshal(ToldOverride{
		OverrideID: o.ID, Action: o.Action, Reason: o.Reason, CreatedBy: o.CreatedBy, ExpiresAt: o.ExpiresAt,
		Force:        o.Force,
		BulkActionID: o.BulkActionID,
		Resources:    len(t.Members), ResourceUID: o.ResourceUID, ResourceName: r.Name, ResourceType: r.Type,
		Provider: r.Provider, Region: r.Region,
		CloudAccountID: r.CloudAccountID, CloudAccount: r.AccountName, GroupID: o.GroupID, GroupName: t.Group.Name,
	})
	if err != nil {
		return table.Write{}, fmt.Errorf("encode the event of %s: %w", o.ID, err)
	}
	return event.Put(org, o.ID, o.CreatedAt, e)
}

// EndOverride ends an override. The address by is empty if its time is over. Each resource that it held goes to the
// state that another live override wants, or else to the state that the schedules want now. A resource without a
// desired state stays as it is. EndOverride runs in one transaction and takes effect once. It returns fault.Conflict
// if the override has ended already, fault.NotFound if there is none.
func (s *Store) EndOverride(ctx context.Context, org, overrideID, by string) (override.Override, error) {
	o, err := table.Read[override.Override](ctx, s.p.Table, override.Key(org, overrideID))
	if err != nil {
		return o, err
	}
	if !o.EndedAt.IsZero() {
		return o, fault.New(
			fault.Conflict, "override %s has ended already, at %s", o.ID, o.EndedAt.Format(time.RFC3339))
	}
	t, err := s.held(ctx, org, o)
	if err != nil {
		return o, err
	}
	at, orders := s.p.Clock.Now(), []execution.Order(nil)
	err = override.ChangeLive(within(ctx), s.p.Table, org, func(l override.Live) (override.Live, []table.Write, error) {
		l = l.Without(o.ID)
		var err error
		if orders, err = s.restoring(ctx, org, ended{o, t, at, l}); err != nil {
			return l, nil, err
		}
		o.RestoredBy = idsOf(orders)
		queued, err := s.stage(ctx, org, orders)
		if err != nil {
			return l, nil, err
		}
		ws, err := writesOf(org, queued)
		return l, append(ws, override.EndWrite(org, o, at, by)), err
	})
	if _, refused := errors.AsType[*table.ConditionError](err); refused {
		return o, fault.NewWithCause(fault.Conflict, err, "override %s ended at the same moment, or others began or "+
			"ended: read it and try again", o.ID)
	}
	if err != nil {
		return o, fmt.Errorf("end override %s: %w", o.ID, err)
	}
	s.start(ctx, org, orders)
	o.EndedAt, o.EndedBy = at, by
	return o, nil
}

// held returns the target of an override, reduced to the resources that its end restores. It returns the zero Target
// if the target is gone.
func (s *Store) held(ctx context.Context, org string, o override.Override) (t Target, err error) {
	if o.GroupID != "" {
		t, err = s.GroupTarget(ctx, org, o.GroupID)
	} else {
		t, err = s.ResourceTarget(ctx, org, o.ResourceID)
	}
	if fault.Is(err, fault.NotFound) {
		return Target{}, nil
	}
	if err != nil {
		return t, fault.Wrap("read what "+o.ID+" holds", err)
	}
	may, err := o.Restorable(ctx, s.inventory, org)
	t.Members, _ = execution.Within(t.Members, may)
	return t, err
}

// ended is an override at its end: its target, its end time, and the overrides that are still live.
type ended struct {
	override.Override
	target Target
	at     time.Time
	live   override.Live
}

// restoring returns the orders that restore the resources of an override.
func (s *Store) restoring(ctx context.Context, org string, e ended) ([]execution.Order, error) {
	holding, err := e.live.Holding(ctx, s.inventory, org, e.at)
	if err != nil {
		return nil, err
	}
	wanted, err := s.wanted(ctx, org, e.target.Members, e.at)
	if err != nil {
		return nil, err
	}
	by := map[cloud.Verb][]inventory.Member{}
	for _, m := range e.target.Members {
		verb := wanted[m.ResourceID]
		if verb == "" && e.WakeLinkID != "" {
			verb = cloud.Stop // as the page of the link has promised
		}
		if h, held := holding[m.ResourceID]; held {
			verb = h.Action.Verb()
		}
		if verb != "" {
			by[verb] = append(by[verb], m)
		}
	}
	var out []execution.Order
	for _, verb := range []cloud.Verb{cloud.Start, cloud.Stop} {
		if len(by[verb]) == 0 {
			continue
		}
		out = append(out, e.target.orders(by[verb], execution.Order{
			Verb: verb, Reason: execution.ReasonOverrideExpired,
			ChangedBy: execution.ChangedBy("override_expired", string(e.Action)),
			Cause:     e.ID + " end " + string(verb), At: e.at, Force: e.Force, Promised: e.WakeLinkID != "" &&
				verb == cloud.Stop,
		})...)
	}
	return out, nil
}
