package connection

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"time"
)

// A member whose account is connected is ending when a listing lacks it, shows it closed, or shows it where the selection no longer
// names it. One listing may be short or wrong, so an account is disconnected only when these rules allow it.
const (
	// EndingWait is the shortest time between the first and the last listing that end a member.
	EndingWait = 24 * time.Hour
	// maxEndedPercent is the largest part of the connected members that is disconnected within EndingWait without a person's confirmation.
	maxEndedPercent = 10
)

// PendingEnding describes the members of an organization that are ending while their accounts are still connected.
type PendingEnding struct {
	Members  int       `json:"members"`
	Awaiting int       `json:"awaiting,omitempty"` // of Members: those that wait for a person's confirmation
	Since    time.Time `json:"since,omitzero"`     // MissingSince of the first
}

// EndingConfirmation is a person's consent to disconnect the members that wait under ID.
type EndingConfirmation struct {
	ID string    `json:"id"`
	By string    `json:"by"`
	At time.Time `json:"at"`
}

// EndingRules are what EndMembers judges by.
type EndingRules struct {
	Now       time.Time
	Connected int    // members with a connected account, ending ones included
	Recent    int    // members disconnected within EndingWait without a confirmation
	Confirmed string // the ID of the last Confirmation
}

// EndingVerdict splits the ending members of a listing.
type EndingVerdict struct {
	Disconnect []Member // their accounts are disconnected now
	Wait       []Member // their accounts stay connected
	// ConfirmationID names those of Wait that wait for a person; empty when there are none.
	ConfirmationID string
}

// EndMembers decides which of the ending members are disconnected now. A member waits until listings EndingWait apart agree. Those that
// have waited are disconnected together when they are few, as by maxEndedPercent, and else wait for a person's confirmation. The ID of a
// confirmation is a digest of the members and of the time since when each is missing, so that it is good for no other members, and not
// for the same ones later.
func EndMembers(r EndingRules, ending []Member) EndingVerdict {
	var v EndingVerdict
	var ripe []Member
	for _, m := range ending {
		switch {
		case r.Now.Sub(m.MissingSince) < EndingWait:
			m.Awaits = ""
			v.Wait = append(v.Wait, m)
		case r.Confirmed != "" && m.Awaits == r.Confirmed:
			v.Disconnect = append(v.Disconnect, m)
		default:
			ripe = append(ripe, m)
		}
	}
	if (len(ripe)+r.Recent)*100 <= (r.Connected+r.Recent)*maxEndedPercent {
		for _, m := range ripe {
			m.EndedAt = r.Now
			v.Disconnect = append(v.Disconnect, m)
		}
		return v
	}
	if len(ripe) == 0 {
		return v
	}
	v.ConfirmationID = confirmationID(ripe)
	for _, m := range ripe {
		m.Awaits = v.ConfirmationID
		v.Wait = append(v.Wait, m)
	}
	return v
}

// confirmationID returns the digest of the members and of the time since when each is missing.
func confirmationID(members []Member) string {
	members = slices.Clone(members)
	slices.SortFunc(members, func(a, b Member) int { return cmp.Compare(a.NativeID, b.NativeID) })
	h := sha256.New()
	for _, m := range members {
		_, _ = fmt.Fprintf(h, "%q %d\n", m.NativeID, m.MissingSince.UnixNano()) // a hash never fails
	}
	const bytes = 16
	return hex.EncodeToString(h.Sum(nil)[:bytes])
}

// Shown returns the status that the API shows: what the listings say of a member that is ending, although its account is still connected.
func (m Member) Shown() MemberStatus { return cmp.Or(m.Ending, m.Status) }

// IsEnding reports whether the member's account is to be disconnected and is not yet.
func (m Member) IsEnding() bool { return m.Ending != "" }

// HasEnded reports whether the member is closed, left or excluded and its account, if it had one, is disconnected.
func (m Member) HasEnded() bool {
	return m.Status == MemberClosed || m.Status == MemberLeft || m.Status == MemberExcluded
}

// DisconnectsFrom returns the time of the first listing that may disconnect the account of a member that is ending.
func (m Member) DisconnectsFrom() time.Time { return m.MissingSince.Add(EndingWait) }
