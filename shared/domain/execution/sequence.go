package execution

import (
	"cmp"
	"fmt"
	"slices"

	"lamplighter.dev/shared/cloud"
	"lamplighter.dev/shared/domain/inventory"
)

// Sequence orders members into the steps of a bulk action. A start goes up the tiers, and within a tier up the orders;
// a stop goes in the exact reverse. A step is one order of one tier. Within a step, members of one account, region and
// kind are adjacent.
func Sequence(verb cloud.Verb, members []inventory.Member) [][]inventory.Member {
	sorted := slices.Clone(members)
	slices.SortFunc(sorted, func(a, b inventory.Member) int { return compare(verb, a, b) })
	var steps [][]inventory.Member
	for i, m := range sorted {
		if i == 0 || m.Tier != sorted[i-1].Tier || m.Order != sorted[i-1].Order {
			steps = append(steps, nil)
		}
		steps[len(steps)-1] = append(steps[len(steps)-1], m)
	}
	return steps
}

func compare(verb cloud.Verb, a, b inventory.Member) int {
	way := cmp.Or(cmp.Compare(a.Tier, b.Tier), cmp.Compare(a.Order, b.Order))
	if verb == cloud.Stop {
		way = -way
	}
	return cmp.Or(way, cmp.Compare(a.Provider, b.Provider), cmp.Compare(a.CloudAccountID, b.CloudAccountID),
		cmp.Compare(a.Region, b.Region), cmp.Compare(a.Type, b.Type), cmp.Compare(a.UID, b.UID))
}

// Refusal returns why no resource of an account can be acted on, because the account is gone, read_only, disconnected
// or excluded. Otherwise it returns "". The zero account means that it is gone.
func Refusal(accountID string, a inventory.Account) string {
	switch {
	case a.ID == "":
		return "cloud account " + accountID + " is not connected any more"
	case a.ReadOnly():
		return "cloud account " + a.ID + " is read_only: its resources are never acted on"
	case a.Disconnection() != "":
		return a.Disconnection()
	}
	return ""
}

// Unactionable returns the reason why resources of a kind cannot be started or stopped.
func Unactionable(provider, kind string) string {
	return provider + " resources of type " + kind + " cannot be started or stopped"
}

// InFlight returns why an action under way prevents verb on a resource, according to its record, or "". An action of
// the same type is joined.
func InFlight(verb cloud.Verb, r inventory.Resource) string {
	if r.ActionID == "" || r.ActionType == verb {
		return ""
	}
	return fmt.Sprintf("a %s of the resource is in flight (%s)", r.ActionType, r.ActionID)
}

// Prospect is a member with its account and record, before a bulk action acts on it.
type Prospect struct {
	Member  inventory.Member
	Account inventory.Account  // zero when it is gone
	Record  inventory.Resource // zero when it is gone
}

// Foresee returns how a bulk action would end on a resource without acting: Succeeded if the resource is in the
// desired state already, or Failed with the reason. Status is "" for a resource that it would act on.
func Foresee(verb cloud.Verb, p Prospect) (Status, string) {
	if p.Record.UID == "" {
		return Failed, gone
	}
	if why := cmp.Or(InFlight(verb, p.Record), Refusal(p.Member.CloudAccountID, p.Account)); why != "" {
		return Failed, why
	}
	if p.Record.Status == verb.WantedStatus() {
		return Succeeded, "the resource is " + string(p.Record.Status) + " already"
	}
	if why := unactionable(p.Member); why != "" {
		return Failed, why
	}
	return "", ""
}

// gone is the reason for a resource without a record.
const gone = "the resource is gone from the inventory"

// Blocked returns why an action cannot be created on a resource that it could not claim, according to its record. It
// returns "" if the action joins the one that holds the claim. The zero record means that the resource is gone.
func Blocked(verb cloud.Verb, r inventory.Resource) string {
	if r.UID == "" {
		return gone
	}
	return InFlight(verb, r)
}
