// Package auditanchor is the worker that anchors the audit chains outside of the table, each night: it compares each
// chain with its last anchor, and records the new heads in a signed document. It also answers which row of a chain is
// anchored, for the operation that verifies it.
package auditanchor

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"lamplighter.dev/shared/api/audit/anchor"
	"lamplighter.dev/shared/api/identity"
	"lamplighter.dev/shared/api/platform"
	"lamplighter.dev/shared/engine/lambdacall"
	"lamplighter.dev/shared/engine/table"
	"lamplighter.dev/shared/foundation/fault"
)

const (
	stretch  = 10 * time.Minute // after it, the other files of the night before are kept
	notAgain = 20 * time.Hour   // between two nights: a service that starts often makes no more
	pageSize = 500
)

// Anchored summarizes a night.
type Anchored struct {
	Chains int `json:"chains"`          // with an anchor
	Moved  int `json:"moved"`           // with a new row since the night before
	Ended  int `json:"ended,omitempty"` // of organizations that were erased
	// that do not continue, because of a restore that the operator has recorded
	Restored int  `json:"restored,omitzero"`
	Broken   int  `json:"broken,omitempty"` // that do not continue, for no known reason
	Early    bool `json:"early,omitempty"`  // the last night is less than 20 hours ago, and there is none now
}

// Handler makes a night for EventBridge. For GET /audit-logs/verify it answers an anchor.Question.
func Handler(p *platform.Platform) lambdacall.Handler {
	return func(ctx context.Context, input json.RawMessage) (any, error) {
		var in anchor.Question
		if err := json.Unmarshal(input, &in); err != nil {
			return nil, fault.NewWithCause(fault.Invalid, err, "%s was called with no JSON", anchor.Worker)
		}
		book := anchor.NewBook(p.Vault, p.AnchorKeys.Verify)
		if in.Org != "" {
			return book.Find(ctx, anchor.ChainOf(in.Org).Name)
		}
		n := &notary{Platform: p, book: book, until: p.Clock.Now().Add(stretch)}
		did, err := n.anchorAll(ctx)
		if err != nil { // an error of any kind fails the call, so that alarms see it
			return did, fault.NewWithCause(fault.Internal, err, "not every chain of the audit log continues its anchor")
		}
		return did, nil
	}
}

// notary makes a night.
type notary struct {
	*platform.Platform
	book  *anchor.Book
	until time.Time
	last  anchor.Night // the night before
	night anchor.Night
	did   Anchored
	errs  []error
}

// maxErrors is the number of errors of a night that are told one by one.
const maxErrors = 20

// fail records an error of one chain or file. The others are anchored all the same.
func (n *notary) fail(err error) {
	if err == nil {
		return
	}
	if n.errs = append(n.errs, err); len(n.errs) == maxErrors+1 {
		n.errs[maxErrors] = errors.New("and others")
	}
	n.errs = n.errs[:min(len(n.errs), maxErrors+1)]
}

// anchorAll makes a night, unless the last one is recent. The night is stored although some chains do not continue: for
// them it has the anchors of the night before.
func (n *notary) anchorAll(ctx context.Context) (Anchored, error) {
	ctx = table.Within(ctx, identity.DirectoryPrefix, "ORG#", "AUDIT#SYS#")
	last, refused, err := n.book.Latest(ctx)
	if err != nil {
		return n.did, err
	}
	now := n.Clock.Now().UTC().Truncate(time.Second)
	if last != nil && now.Sub(last.At) < notAgain {
		return Anchored{Early: true}, refused
	}
	n.fail(refused)
	n.beginNight(now, last)
	n.anchorFile(ctx, anchor.SystemFile, n.systemChains)
	for shard := range identity.DirectoryShards {
		n.anchorFile(ctx, anchor.ShardFile(shard), func(ctx context.Context) ([]anchor.Chain, error) {
			return n.organizations(ctx, shard)
		})
	}
	return n.closeNight(ctx)
}

// beginNight begins a night that follows the last one, if there is one.
func (n *notary) beginNight(now time.Time, last *anchor.Signed) {
	n.night = anchor.Night{At: now, Epoch: n.Settings.Epoch, Files: map[string]anchor.File{}}
	if last == nil {
		return
	}
	n.last, n.night.Previous = last.Night, last.Digest
	if last.UnknownKey { // as after each change of keys
		n.Log.Warn("the key that signed the last night of anchors is not in use any more: if it was not replaced "+
			"since, the night was made by somebody else", slog.String("night", last.Name))
	}
}

// closeNight signs the night and stores it.
func (n *notary) closeNight(ctx context.Context) (Anchored, error) {
	err := n.book.Add(ctx, n.AnchorKeys, &n.night)
	if fault.Is(err, fault.Conflict) {
		return Anchored{Early: true}, nil // another run was faster, and reports
	}
	n.fail(err)
	return n.did, errors.Join(n.errs...)
}

// anchorFile makes one file of the night. If that fails, the night has the file of the night before.
func (n *notary) anchorFile(ctx context.Context, name string, chains func(context.Context) ([]anchor.Chain, error)) {
	before, had := n.last.Files[name]
	err := n.makeFile(ctx, name, chains)
	if err == nil {
		return
	}
	n.fail(fmt.Errorf("anchor the chains of %s: %w", name, err))
	if had {
		n.night.Files[name] = before
	}
}

// makeFile compares the chains of a file with their anchors, and stores the new ones.
func (n *notary) makeFile(ctx context.Context, name string,
	chains func(context.Context) ([]anchor.Chain, error),
) error {
	if n.Clock.Now().After(n.until) {
		return errors.New("there was no time left; the anchors of the night before are kept")
	}
	was, err := n.book.Leaves(ctx, &n.last, name)
	if err != nil && !n.last.At.Before(n.Settings.Epoch) { // after a restore, the chains may begin anew
		return err
	}
	all, err := chains(ctx)
	if err != nil {
		return err
	}
	leaves := n.compareChains(ctx, all, was)
	if len(leaves) == 0 {
		return nil
	}
	n.did.Chains += len(leaves)
	return n.book.AddFile(ctx, &n.night, name, leaves, n.last.Files[name])
}

func (n *notary) systemChains(context.Context) ([]anchor.Chain, error) {
	return anchor.SystemChains(), nil
}

// organizations returns the chains of the organizations in a shard of the directory.
func (n *notary) organizations(ctx context.Context, shard int) ([]anchor.Chain, error) {
	var out []anchor.Chain
	for q := (table.Query{PK: identity.DirectoryPK(shard), Limit: pageSize}); ; {
		page, err := n.Table.Query(ctx, q)
		if err != nil {
			return nil, fmt.Errorf("read the directory: %w", err)
		}
		for _, it := range page.Items {
			out = append(out, anchor.ChainOf(it.SK))
		}
		if q.Cursor = page.Next; q.Cursor == "" {
			return out, nil
		}
	}
}
