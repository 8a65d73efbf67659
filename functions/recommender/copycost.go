package recommender

import (
	"cmp"
	"slices"

	"lamplighter.dev/shared/domain/pricing"
	"lamplighter.dev/shared/domain/recommendation"
	"lamplighter.dev/shared/domain/rule"
	"lamplighter.dev/shared/domain/rule/condition"
	"lamplighter.dev/shared/foundation/money"
)

// A deletion that takes a snapshot first keeps it for cloud.CopyKept, 30 days. Its storage is subtracted from the
// saving of a month.

// keepsCopy reports whether a rule deletes a resource and keeps a snapshot of it.
func keepsCopy(r *rule.Rule) bool {
	return r.Verb == rule.VerbDelete && slices.Contains(r.Target.Steps, "copy") && r.Savings.Counts()
}

// subtractCopies subtracts the storage of the kept snapshots from an amount, and returns it. If the storage of one of
// them has no price, it subtracts nothing and says why.
func (s *subject) subtractCopies(a *amount) *recommendation.CopyCost {
	disks := s.copiedDisks()
	costs := make([]money.Amount, len(disks))
	for i := range disks {
		var why condition.Reason
		if costs[i], why = s.copyCost(&disks[i]); why != "" {
			return &recommendation.CopyCost{Unknown: string(why)}
		}
	}
	if len(disks) == 0 {
		return &recommendation.CopyCost{Unknown: string(unpriced)}
	}
	out := &recommendation.CopyCost{USD: money.Sum(costs...).Round(usdPlaces)}
	a.gross = a.gross.Sub(out.USD)
	for i := range a.claims {
		claim := &a.claims[i]
		at := slices.IndexFunc(disks, func(d disk) bool { return d.id == claim.ResourceID })
		if at >= 0 {
			claim.USD = positive(claim.USD.Sub(costs[at]))
		}
	}
	return out
}

// copiedDisks returns the disks of which a deletion of the subject takes snapshots.
func (s *subject) copiedDisks() []disk {
	if !diskTypes[s.Type] {
		disks, _ := s.disksOf()
		return disks
	}
	return []disk{{
		uid: s.UID, id: s.ID, kind: s.Type, provider: s.Provider, region: s.Region, gib: s.Capacity["sizeGiB"],
	}}
}

// copyCost returns the cost of the snapshot of a disk for a month, or why it is unknown.
func (s *subject) copyCost(d *disk) (money.Amount, condition.Reason) {
	if s.tables == nil || d.kind == "" {
		return money.Amount{}, unpriced
	}
	at := pricing.ProviderRegion{Provider: d.provider, Region: d.region}
	table := s.tables.table(at)
	if table == nil {
		return money.Amount{}, unpriced
	}
	gib := d.gib
	if size, is := s.facts.Value("size_gb").(float64); is && d.uid == s.UID {
		gib = cmp.Or(gib, int64(size))
	}
	usd, priced := pricing.MonthlySnapshot(table, d.kind, gib)
	switch {
	case !priced:
		return money.Amount{}, unpriced
	case table.Stale(s.now):
		return money.Amount{}, condition.Stale
	}
	return usd, ""
}
