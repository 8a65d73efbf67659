package connection

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"time"
)

// A member with a connected account is ending when a listing does not contain it, shows it closed, or shows it
// outside of the selection. A single listing may be incomplete or wrong, so an account is disconnected only when
// these rules allow it.
const (
	// EndingWait is the minimum time between the first and the last listing that end a member.
	EndingWait = 24 * time.Hour
	// maxEndedPercent is the maximum percentage of connected members that are disconnected within EndingWait without
	// a person's confirmation.
	maxEndedPercent = 10
)

// PendingEnding describes an organization's ending members whose accounts are still connected.
type PendingEnding struct {
	Members  int       `json:"members"`
	Awaiting int       `json:"awaiting,omitempty"` // number of Members that wait for a person's confirmation
	Since    time.Time `json:"since,omitzero"`     // the earliest MissingSince
}

// EndingConfirmation is a person's consent to disconnect the members that wait under ID.
type EndingConfirmation struct {
	ID string    `json:"id"`
	By string    `json:"by"`
	At time.Time `json:"at"`
}

// EndingRules are the inputs of EndMembers, except the members.
type EndingRules struct {
	Now       time.Time
	Connected int    // members with a connected account, including ending ones
	Recent    int    // members disconnected within EndingWait without a confirmation
	Confirmed string // the ID of the last confirmation
}

// EndingVerdict is the result of EndMembers.
type EndingVerdict struct {
	Disconnect []Member // to disconnect now
	Wait       []Member // to keep connected
	// ConfirmationID identifies the members of Wait that wait for a person; empty when there are none.
	ConfirmationID string
}

// EndMembers decides which of the ending members are disconnected now. A member waits until listings EndingWait apart
// agree. The members that have waited are disconnected if they are at most maxEndedPercent; else they wait for a
// person's confirmation. The ID of a confirmation is a digest of the members and their MissingSince, so it is not
// valid for other members, or for the same members later.
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

// confirmationID returns the digest of the members and their MissingSince.
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

// Shown returns the status for the API: for an ending member the status from the listings, although its account is
// still connected.
func (m Member) Shown() MemberStatus { return cmp.Or(m.Ending, m.Status) }

// IsEnding reports whether the member's account is to be disconnected but is still connected.
func (m Member) IsEnding() bool { return m.Ending != "" }

// HasEnded reports whether the member is closed, left or excluded and its account, if it had one, is disconnected.
func (m Member) HasEnded() bool {
	return m.Status == MemberClosed || m.Status == MemberLeft || m.Status == MemberExcluded
}

// DisconnectsFrom returns the earliest time at which a listing may disconnect the account of an ending member.
func (m Member) DisconnectsFrom() time.Time { return m.MissingSince.Add(EndingWait) }
