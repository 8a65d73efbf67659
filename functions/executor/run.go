package executor

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"lamplighter.dev/shared/cloud"
	"lamplighter.dev/shared/domain/execution"
	"lamplighter.dev/shared/domain/inventory"
	"lamplighter.dev/shared/engine/table"
	"lamplighter.dev/shared/foundation/fault"
)

// RunResult tells the machine whether the phase is over, or else when to run again.
type RunResult struct {
	Done        bool `json:"done"`
	WaitSeconds int  `json:"waitSeconds"`
}

// run is one pass over actions of one kind, account and region.
type run struct {
	e       *Executor
	in      execution.RunInput
	now     time.Time
	kind    cloud.Kind
	account inventory.Account
	conn    cloud.Conn
	actions []*execution.Action
	states  map[string]cloud.State
	seen    cloud.Status   // of all resources as the inventory had it; "" is unknown
	groupID string         // that the bulk action is on
	bulk    execution.Bulk // zero for a single action
	ended   []execution.Outcome
	started []*execution.Action // went from pending to running, or are tried again
	ready   []*execution.Action // stand still where they are not wanted
	act     []*execution.Action // the subset of ready that the provider takes now
	untried map[*execution.Action]bool
	// memories are the snapshots of the resources that are to be started, by UID.
	memories map[string]snapshot
	foundOff map[string]bool // stops that have found their resource off, by action
	waiting  []*execution.Action
	turn     time.Duration // until it is worth to ask for the rest of ready
}

func newRun(e *Executor, in execution.RunInput, actions []*execution.Action) *run {
	return &run{e: e, in: in, now: e.p.Clock.Now(), actions: actions, untried: map[*execution.Action]bool{}}
}

// RunActions advances the actions named by in by one step: it reads their resources, ends actions that have reached
// their state or cannot reach it, and acts on the rest.
func (e *Executor) RunActions(ctx context.Context, in execution.RunInput) (RunResult, error) {
	actions, chunk, err := e.loadActions(ctx, in)
	var bulk execution.Bulk
	if err == nil {
		actions, bulk, err = e.uncancelledActions(ctx, in, actions)
	}
	behind := 0 // seconds
	if err == nil {
		actions, behind, err = e.unblockedActions(ctx, in.Org, actions)
	}
	if err == nil {
		actions, behind, err = e.unheldActions(ctx, heldCheck{in.Org, bulk, actions, behind})
	}
	if err != nil || len(actions) == 0 {
		return RunResult{Done: err == nil && behind == 0, WaitSeconds: behind}, err
	}
	r := newRun(e, in, actions)
	r.seen, r.groupID, r.bulk = chunk.Seen, chunk.GroupID, bulk
	got, err := r.takeStep(ctx)
	if behind > 0 {
		got = RunResult{WaitSeconds: min(cmp.Or(got.WaitSeconds, behind), behind)}
	}
	return got, err
}

// takeStep advances actions that wait behind no other action by one step.
func (r *run) takeStep(ctx context.Context) (RunResult, error) {
	reason, err := r.openAccount(ctx)
	if err != nil {
		return RunResult{}, err
	}
	if reason != "" {
		r.failAll(reason)
		return r.finishRun(ctx)
	}
	if err := r.readDecideAct(ctx); err != nil {
		return RunResult{}, err
	}
	return r.finishRun(ctx)
}

// readDecideAct reads the states, decides and acts.
func (r *run) readDecideAct(ctx context.Context) error {
	if err := r.readStates(ctx); err != nil {
		r.tripAll(ctx, err)
		return r.storeProgress(ctx, r.waiting)
	}
	if err := r.loadMemories(ctx); err != nil {
		return err
	}
	r.decideActions()
	if err := r.leaveOut(ctx); err != nil {
		return err
	}
	r.admitReady(ctx)
	if err := r.storeProgress(ctx, r.started); err != nil {
		return err
	}
	if err := r.actOn(ctx); err != nil {
		return err
	}
	r.glanceAtActed(ctx)
	return nil
}

// admitReady begins as many of the ready actions as the provider takes now. The others continue to wait and are not
// written: they have not begun and may still be cancelled.
func (r *run) admitReady(ctx context.Context) {
	n := len(r.ready)
	if n == 0 {
		return
	}
	if c, ok := r.conn.(cloud.Admitter); ok {
		n, r.turn = c.Admit(ctx, r.ready[0].Action, r.kind.Type, r.ready[0].Region, n)
	}
	for _, a := range r.ready[:n] {
		r.beginAction(a)
	}
	for _, a := range r.ready[n:] {
		r.lookLater(a)
	}
}

// glanceAfter is when resources that were acted on are looked at before the run ends. Many acts complete at once, and
// another run would cost more. For kinds that are verified many at a time, one call's worth of resources is looked at
// after sampleAfter; if all of those have arrived, the run does not wait for the rest.
const (
	sampleAfter = 200 * time.Millisecond
	sampleSize  = 100
	glanceAfter = time.Second
)

// glanceAtActed checks, a moment after the act, whether it has already completed. Other resources are left to the
// next run. So are all resources if the provider does not answer, and those of kinds that usually take long: for
// kinds that are read one by one, looks without a result were a third of all reads.
func (r *run) glanceAtActed(ctx context.Context) {
	left := slices.DeleteFunc(slices.Clone(r.waiting), func(a *execution.Action) bool {
		return !a.Progress.ActedAt.Equal(r.now)
	})
	if len(left) == 0 || r.kind.Usual > minUsualTime || r.in.Until != execution.UntilSettled {
		return
	}
	wait := glanceAfter
	if r.kind.Verifies {
		if r.e.p.Clock.Sleep(ctx, sampleAfter) != nil {
			return
		}
		wait -= sampleAfter
		n := min(len(left), sampleSize)
		late, rest := r.takeArrived(ctx, left[:n]), left[n:]
		if len(late) == 0 {
			rest = r.takeArrived(ctx, rest)
		}
		left = slices.Concat(late, rest)
	}
	if len(left) > 0 && r.e.p.Clock.Sleep(ctx, wait) == nil {
		r.takeArrived(ctx, left)
	}
}

// takeArrived ends the actions whose resources have arrived in the desired state, and returns the others.
func (r *run) takeArrived(ctx context.Context, asked []*execution.Action) []*execution.Action {
	states, err := r.verifyActed(ctx, asked)
	if err != nil {
		return asked
	}
	r.now = r.e.p.Clock.Now()
	there := map[string]cloud.State{}
	for _, s := range states {
		there[s.UID] = s
	}
	done := map[*execution.Action]bool{}
	for _, a := range asked {
		if s, ok := there[a.ResourceUID]; ok && s.Status == a.Action.WantedStatus() {
			done[a] = true
			r.succeedAction(a, s)
		}
	}
	r.waiting = withoutGone(r.waiting, done)
	return withoutGone(asked, done)
}

func resourceUIDs(actions []*execution.Action) []string {
	out := make([]string, len(actions))
	for i, a := range actions {
		out[i] = a.ResourceUID
	}
	return out
}

// finishRun records the ended actions and returns when to look again.
func (r *run) finishRun(ctx context.Context) (RunResult, error) {
	if err := r.recordEnded(ctx); err != nil {
		return RunResult{}, err
	}
	if len(r.waiting) == 0 || (r.in.Until == execution.UntilAccepted && r.allAccepted()) {
		return RunResult{Done: true}, nil
	}
	return RunResult{WaitSeconds: r.waitSeconds()}, nil
}

// recordEnded records the ended actions and their events. An event names the account, groups and teams of its
// resource at that time.
func (r *run) recordEnded(ctx context.Context) error {
	if len(r.ended) == 0 {
		return nil
	}
	if err := r.keepMemories(ctx); err != nil {
		return err
	}
	known, err := r.e.inventory.OpenSnapshot(ctx, r.in.Org)
	if err != nil {
		return err
	}
	for i := range r.ended {
		o := &r.ended[i]
		if o.LeftOut {
			continue // an action that was not begun sends no event
		}
		b := known.BelongingOf(o.Action.ResourceUID)
		o.About = &execution.About{
			Name: b.Name, AccountName: r.account.Name, GroupIDs: b.GroupIDs, TeamIDs: b.TeamIDs, GroupID: r.groupID,
		}
	}
	if err = execution.SettleActions(ctx, r.e.patientStore(), r.in.Org, r.ended); err != nil {
		return err
	}
	if err = known.Compact(ctx); err != nil {
		r.e.p.Log.WarnContext(ctx, "index not compacted", "org", r.in.Org, "error", err)
	}
	return nil
}

// allAccepted reports whether the provider has accepted every action that has not ended.
func (r *run) allAccepted() bool {
	for _, a := range r.waiting {
		if a.Progress.ActedAt.IsZero() && r.states[a.ResourceUID].Status != transitionalStatus(a.Action) {
			return false
		}
	}
	return true
}

// loadActions reads the open actions of in and their chunk, if any.
func (e *Executor) loadActions(ctx context.Context, in execution.RunInput) ([]*execution.Action, execution.Chunk,
	error,
) {
	if in.Chunk == "" {
		actions, err := e.readActions(ctx, in.Org, in.Actions)
		return actions, execution.Chunk{}, err
	}
	c, err := table.Read[execution.Chunk](ctx, e.p.Table,
		table.Key{PK: execution.ChunkPK(in.Org, in.BulkID), SK: in.Chunk})
	if err != nil {
		return nil, c, fmt.Errorf("read chunk %s of %s: %w", in.Chunk, in.BulkID, err)
	}
	ids := make([]string, len(c.Members))
	for i, m := range c.Members {
		ids[i] = m.ActionID
	}
	actions, err := e.readActions(ctx, in.Org, ids)
	return actions, c, err
}

// readActions reads the actions of ids that have not ended.
func (e *Executor) readActions(ctx context.Context, org string, ids []string) ([]*execution.Action, error) {
	keys := make([]table.Key, len(ids))
	for i, id := range ids {
		keys[i] = execution.ActionKey(org, id)
	}
	got, err := e.p.Table.BatchGet(ctx, keys...)
	if err != nil {
		return nil, fmt.Errorf("read %d actions: %w", len(keys), err)
	}
	out := make([]*execution.Action, 0, len(got))
	for _, k := range keys {
		a, err := decodeOpen(got[k])
		if err != nil {
			return nil, err
		}
		if a != nil {
			out = append(out, a)
		}
	}
	return out, nil
}

// decodeOpen decodes an action. It returns nil if the action is absent or has ended.
func decodeOpen(it table.Item) (*execution.Action, error) {
	if it.Data == nil {
		return nil, nil //nolint:nilnil // absence is no failure: the action was never created or its record is gone
	}
	a, err := table.Decode[execution.Action](it)
	if err != nil || a.Status.IsFinal() {
		return nil, err
	}
	if a.Progress == nil {
		a.Progress = &execution.Progress{}
	}
	return &a, nil
}

// openAccount connects to the account of the actions. A non-empty reason says why the actions can never run.
func (r *run) openAccount(ctx context.Context) (reason string, err error) {
	first := r.actions[0]
	r.account, err = r.e.inventory.ReadAccount(ctx, r.in.Org, first.CloudAccountID)
	if err != nil && !fault.Is(err, fault.NotFound) {
		return "", fmt.Errorf("read account %s: %w", first.CloudAccountID, err)
	}
	if reason = execution.Refusal(first.CloudAccountID, r.account); reason != "" {
		return reason, nil
	}
	var ok bool
	if r.kind, ok = r.e.providers.Kind(first.Provider, first.ResourceType); !ok || !r.kind.Actionable {
		return execution.Unactionable(first.Provider, first.ResourceType), nil
	}
	r.conn, err = r.connectAccount(ctx)
	return "", err
}

// connectAccount connects to the account, and through it to its clusters if the resources are inside a cluster.
func (r *run) connectAccount(ctx context.Context) (cloud.Conn, error) {
	if r.kind.Provider != inventory.ClusterProvider || r.account.Provider == inventory.ClusterProvider {
		return r.e.newClouds().Connect(ctx, r.in.Org, r.account)
	}
	known, err := inventory.ReadRegistrations(ctx, r.e.p.Table, r.in.Org, r.account.ID)
	if err != nil {
		return nil, err
	}
	return r.e.newClouds().ConnectInside(ctx, r.in.Org, r.account, known)
}
