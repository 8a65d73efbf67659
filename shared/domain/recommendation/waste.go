package recommendation

import (
	"slices"

	"lamplighter.dev/shared/foundation/money"
)

// wasteCategories are the categories of recommendations that end or shrink use.
var wasteCategories = []string{"idle", "orphan", "schedule", "rightsizing"}

// leastWaste is the smallest saving of a recommendation that counts as waste, in cents a month.
const leastWaste = 5000

// Waste is the saving of an open recommendation that will end or shrink use. A commitment should not cover that use.
type Waste struct {
	ResourceType   string
	CloudAccountID string
	Region         string
	USD            money.Amount // a month, as it counts in the totals
}

// Waste returns the waste of the organization as it was when the pass began: open recommendations of more than 50 USD
// a month. It makes no call to the store.
func (t *Settling) Waste() []Waste {
	c := t.columns
	counted := c.standingAt(t.pass.At)
	var out []Waste
	for i := range c.entries {
		e := &c.entries[i]
		if e.statusAt(t.pass.At.UnixMilli()) != Open || counted.net[i] <= leastWaste ||
			!slices.Contains(wasteCategories, c.names.rules[e.rule].category) {
			continue
		}
		at := c.names.places[e.place]
		out = append(out, Waste{at.kind, at.account, at.region, money.FromScaled(counted.net[i], 2)})
	}
	return out
}
