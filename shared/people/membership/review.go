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

// ReviewPrefix is the prefix of the partition of reviews. A transaction that writes one runs in table.Within(ctx,
// ReviewPrefix).
const ReviewPrefix = "RIGHTS#"

// ReviewPartition lists the users of all organizations whose rights have changed. The notifier reads it each minute.
const ReviewPartition table.Partition = ReviewPrefix + "*"

// Everybody is the user of a Review for all users of an organization, because one of its roles has changed.
const Everybody = "*"

// NoMember is the user ID in a Review of the receivers that have no maker. Such a review is requested when an event
// matches one of them. It is also the user ID of a maker who is not a member any more.
const NoMember = "?"

// reviewTTL is how long a review is kept if it is not carried out.
const reviewTTL = 30 * 24 * time.Hour

// Review says that the rights of a user have changed, so that records that act with their rights (receivers of events,
// schedules, overrides) must be checked. It is written in the transaction of the change.
type Review struct {
	Org   string    `json:"org"`
	User  string    `json:"user"`            // or Everybody, or NoMember
	Email string    `json:"email,omitempty"` // of the user
	Left  bool      `json:"left,omitempty"`  // the user was removed from the organization
	Told  bool      `json:"told,omitempty"`  // the owners were told the result of this review
	At    time.Time `json:"at"`
	// Nonce identifies this request: completing an older review does not remove a newer one.
	Nonce string `json:"nonce"`
}

func reviewKey(org, user string) table.Key {
	return table.Key{PK: ReviewPrefix + "DUE", SK: org + "#" + user}
}

// AddReview returns the write that requests a review.
func AddReview(r Review) (table.Write, error) {
	r.Nonce = rand.Text()
	it, err := table.NewItem(reviewKey(r.Org, r.User), r)
	it.Expires = r.At.Add(reviewTTL)
	return table.Put(it), err
}

// RequestReview requests a review, unless it is requested already. One round trip.
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

// reviewPage is the number of reviews of one read.
const reviewPage = 200

// ReadReviews reads up to 200 pending reviews. One round trip.
func ReadReviews(ctx context.Context, s table.Store) ([]Review, error) {
	out, _, err := table.ReadPage[Review](table.Within(ctx, ReviewPrefix), s,
		table.Query{PK: reviewKey("", "").PK, Limit: reviewPage})
	return out, fault.Wrap("read the reviews of changed rights", err)
}

// MarkTold returns the write that records that the owners were told the result of r. It fails if they were told
// already, or if r was requested again.
func (r Review) MarkTold() table.Write {
	return table.Update(reviewKey(r.Org, r.User), []table.Change{table.Set("told", true)},
		table.Equal("nonce", r.Nonce), table.NotEqual("told", true))
}

// RemoveReview removes a completed review, unless it was requested again in the meantime.
func RemoveReview(ctx context.Context, s table.Store, r Review) error {
	_, err := s.Write(table.Within(ctx, ReviewPrefix),
		table.Delete(reviewKey(r.Org, r.User), table.Any(table.Absent(), table.Equal("nonce", r.Nonce))))
	if _, anew := errors.AsType[*table.ConditionError](err); err != nil && !anew {
		return fmt.Errorf("note that the rights of %s in %s were looked at: %w", r.User, r.Org, err)
	}
	return nil
}
