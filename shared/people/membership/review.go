package membership

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"time"

	"lamplighter.dev/shared/engine/table"
	"lamplighter.dev/shared/foundation/fault"
)

// ReviewPrefix begins the partition of reviews; a transaction that writes one runs in table.Within(ctx, ReviewPrefix).
const ReviewPrefix = "RIGHTS#"

// ReviewPartition lists the users whose rights have changed, of all organizations. The notifier reads it each minute.
const ReviewPartition table.Partition = ReviewPrefix + "*"

// Everybody stands for all users of an organization in a Review: one of its roles has changed.
const Everybody = "*"

// Nobody is the user in a Review of the receivers that name no maker: an event has met one of them.
const Nobody = "?"

// reviewTTL is how long a review is kept that nobody comes to do.
const reviewTTL = 30 * 24 * time.Hour

// Review says that what a user may do has changed, so that what acts by their right (receivers of events, schedules, overrides) is to be looked at.
// It is written in the transaction of the change.
type Review struct {
	Org   string    `json:"org"`
	User  string    `json:"user"`            // or Everybody, or Nobody
	Email string    `json:"email,omitempty"` // of the user
	Left  bool      `json:"left,omitempty"`  // the user was removed from the organization
	Told  bool      `json:"told,omitempty"`  // the owners were, of what this review has found
	At    time.Time `json:"at"`
	// of the write: a review that was put anew meanwhile is not taken away by who has done the old one
	Nonce string `json:"nonce"`
}

func reviewKey(org, user string) table.Key {
	return table.Key{PK: ReviewPrefix + "DUE", SK: org + "#" + user}
}

// AddReview returns the write that asks for a review.
func AddReview(r Review) (table.Write, error) {
	r.Nonce = rand.Text()
	it, err := table.NewItem(reviewKey(r.Org, r.User), r)
	it.Expires = r.At.Add(reviewTTL)
	return table.Put(it), err
}

// RequestReview asks for a review that is not asked for yet. One round trip.
func RequestReview(ctx context.Context, s table.Store, r Review) error {
	w, err := AddReview(r)
	if err != nil {
		return err
	}
	w.If = append(w.If, table.Absent())
	_, err = s.Write(table.Within(ctx, ReviewPrefix), w)
	if _, asked := errors.AsType[*table.ConditionError](err); asked {
		return nil
	}
	return fault.Wrap("ask for a review of the rights of "+r.User+" in "+r.Org, err)
}

// reviewPage is how many reviews are read at a time.
const reviewPage = 200

// ReadReviews reads reviews that are to be done, 200 at most. One round trip.
func ReadReviews(ctx context.Context, s table.Store) ([]Review, error) {
	out, _, err := table.ReadPage[Review](table.Within(ctx, ReviewPrefix), s,
		table.Query{PK: reviewKey("", "").PK, Limit: reviewPage})
	return out, fault.Wrap("read whose rights have changed", err)
}

// MarkTold returns the write that notes that owners were told of what r has found. It fails when they were, or when r was put anew.
func (r Review) MarkTold() table.Write {
	return table.Update(reviewKey(r.Org, r.User), []table.Change{table.Set("told", true)},
		table.Equal("nonce", r.Nonce), table.NotEqual("told", true))
}

// RemoveReview takes a review away that was done, unless it was put anew meanwhile.
func RemoveReview(ctx context.Context, s table.Store, r Review) error {
	_, err := s.Write(table.Within(ctx, ReviewPrefix),
		table.Delete(reviewKey(r.Org, r.User), table.Any(table.Absent(), table.Equal("nonce", r.Nonce))))
	if _, anew := errors.AsType[*table.ConditionError](err); err != nil && !anew {
		return fmt.Errorf("note that the rights of %s in %s were looked at: %w", r.User, r.Org, err)
	}
	return nil
}
