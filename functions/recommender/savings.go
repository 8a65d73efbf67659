package recommender

import (
	"cmp"
	"slices"
	"strings"

	"lamplighter.dev/shared/cloud"
	"lamplighter.dev/shared/domain/commitment"
	"lamplighter.dev/shared/domain/pricing"
	"lamplighter.dev/shared/domain/recommendation"
	"lamplighter.dev/shared/domain/rule"
	"lamplighter.dev/shared/domain/rule/condition"
	"lamplighter.dev/shared/foundation/money"
)

// The reasons why a saving is unknown. Its rule then is unknown too: nobody can say that the bill falls.
const (
	unpriced condition.Reason = "unpriced" // neither a bill nor a price says what the part costs
)

// officeHours is how many hours a week a resource with a schedule runs, if no metric says more: 12 on five days.
const officeHours = 60

// amount is a sum of USD a month: all of it, the part that commitments cover, and where it is from.
type amount struct {
	gross, committed money.Amount
	basis            string
	version          string // of the prices
	claims           []recommendation.Claim
	scope            money.Amount // what the scope costs, if it is not the resource
}

// scaled returns a share of the amount: n of d.
func (a amount) scaled(n, d money.Amount) amount {
	if d.IsZero() {
		return amount{basis: a.basis, version: a.version}
	}
	a.gross, a.committed = a.gross.MulDiv(n, d), a.committed.MulDiv(n, d)
	return a
}

// savingsOf returns the saving of a rule whose condition is true for the subject. It returns a reason if the amount is
// unknown. The charges that commitments continue are part of Gross, and not of Net.
func (s *subject) savingsOf(r *rule.Rule) (recommendation.Savings, string, condition.Reason) {
	out := recommendation.Savings{Form: r.Savings.String(), Strength: strengthOf(r)}
	if r.Savings.Form == rule.SavesNothing {
		out.Strength = recommendation.NoStrength
		return out, "", ""
	}
	if _, is := r.LoweredRequest(); is { // bookRequests computes it
		out.Later = true
		return out, "", ""
	}
	a, why := s.amountOf(r)
	if why != "" && r.Savings.Bound {
		return out, "", ""
	}
	if why != "" {
		return out, "", why
	}
	if keepsCopy(r) {
		out.Copy = s.subtractCopies(&a)
	}
	if out.Basis, out.Gross = a.basis, positive(a.gross).Round(4); r.Savings.Counts() {
		out.Net = positive(a.gross.Sub(a.committed)).Round(4)
		out.Claims = a.claims
	}
	if out.Cost = positive(a.scope).Round(4); !out.Cost.IsZero() {
		return out, a.version, ""
	}
	if cost, _, known := s.monthlyCost(); known {
		out.Cost = positive(cost.gross).Round(4)
	}
	return out, a.version, ""
}

// positive returns an amount, or 0 for a negative one: credits are no saving.
func positive(a money.Amount) money.Amount {
	if a.Sign() < 0 {
		return money.Amount{}
	}
	return a
}

// amountOf returns by how much the bill falls in a month.
func (s *subject) amountOf(r *rule.Rule) (amount, condition.Reason) {
	switch r.Savings.Form {
	case rule.SavesAll:
		return s.wholeCost()
	case rule.SavesCompute:
		return s.computeCost()
	case rule.SavesHours:
		return s.idleHoursCost(r)
	case rule.SavesTo:
		return s.cheaperTarget(r)
	case rule.SavesFact:
		return s.costOfFact(r)
	case rule.SavesPart:
		if slices.Equal(r.Savings.Names, []string{"disks"}) {
			return s.diskCost()
		}
		return s.partCost(r)
	case rule.SavesRate:
		return s.committedRate(r)
	case rule.SavesNothing:
	}
	return amount{}, unpriced
}

// committedRate returns the gain of a commitment that a rule recommends.
func (s *subject) committedRate(r *rule.Rule) (amount, condition.Reason) {
	p := productOfRule(r.ID)
	if p == nil {
		return amount{}, unpriced
	}
	a := s.adviceOn(p)
	return amount{gross: a.gain(), basis: recommendation.Billed, scope: a.month}, a.why
}

// committed returns the advice that a finding of a rule shows; nil of a rule that recommends no commitment.
func (s *subject) committed(r *rule.Rule) []commitment.Advice {
	p := productOfRule(r.ID)
	if p == nil || s.commitments == nil {
		return nil
	}
	return s.adviceOn(p).scopes
}

// wholeCost returns what the resource costs in a month.
func (s *subject) wholeCost() (amount, condition.Reason) {
	cost, why, known := s.monthlyCost()
	if !known {
		return amount{}, why
	}
	return cost, ""
}

// monthlyCost returns the cost of a month in the present state: from the settled days of the bill since the resource
// exists in this state, or else from public prices.
func (s *subject) monthlyCost() (amount, condition.Reason, bool) {
	since := s.Since()
	if changed := s.statusSince(); changed.After(s.DiscoveredAt.Add(day)) && changed.After(since) {
		since = changed
	}
	rate := s.rates(s.UID)
	version := ""
	if rate != nil {
		version = rate.Version
	}
	if c, billed := s.bills.monthly(s.CloudAccountID, s.UID, since); billed {
		return amount{gross: c.all, committed: c.committed, basis: recommendation.Billed, version: version}, "", true
	}
	switch {
	case rate == nil || rate.Reason != "" || rate.Shared:
		return amount{}, unpriced, false
	case rate.Stale:
		return amount{}, condition.Stale, false
	}
	month := rate.Hourly(s.Status).MulInt(pricing.HoursPerMonth)
	return amount{gross: month, basis: recommendation.Estimated, version: version}, "", true
}

// computeCost returns the charges that a stop ends: the share that public prices give them.
func (s *subject) computeCost() (amount, condition.Reason) {
	whole, why := s.wholeCost()
	rate := s.rates(s.UID)
	switch {
	case why != "":
		return amount{}, why
	case s.Status == cloud.Stopped:
		return whole.scaled(money.Amount{}, money.FromInt(1)), ""
	case rate == nil || rate.Reason != "" || rate.Running.IsZero():
		return amount{}, unpriced
	}
	return whole.scaled(rate.Running.Sub(rate.Off), rate.Running), ""
}

// idleHoursCost returns the charges of the hours in which a schedule would stop the resource: the idle hours of the
// week if the rule reads them, or else the hours beyond office hours.
func (s *subject) idleHoursCost(r *rule.Rule) (amount, condition.Reason) {
	compute, why := s.computeCost()
	if why != "" {
		return amount{}, why
	}
	ran, why := s.runningHours()
	if why != "" || ran == 0 {
		return amount{}, why
	}
	stopped := ran - officeHours
	if strings.Contains(r.Condition, "m.idle_hours_week_14d") {
		idle := s.Statistic("idle_hours_week_14d")
		stopped = idle.Value
	}
	n, err := money.FromFloat(min(max(stopped, 0), ran))
	d, err2 := money.FromFloat(ran)
	if err != nil || err2 != nil {
		return amount{}, unknownValue
	}
	return compute.scaled(n, d), ""
}

// costOfFact returns the amount that a fact or metric in USD holds. One in GB has no price here.
func (s *subject) costOfFact(r *rule.Rule) (amount, condition.Reason) {
	name := r.Savings.Names[0]
	f, is := rule.FactOf(s.Type, name)
	v, known := s.facts.Value(name).(float64)
	if !is || f.Unit != "USD" || !known {
		return amount{}, unpriced
	}
	usd, err := money.FromFloat(v)
	if err != nil {
		return amount{}, unknownValue
	}
	return amount{gross: usd, basis: recommendation.Billed}, ""
}

// disksOf returns the disks of a machine, or the disk that a volume of a cluster is. It returns false for a volume
// whose disk is not known, or is attached to a machine.
func (s *subject) disksOf() ([]disk, bool) {
	if !volumeTypes[s.Type] {
		return s.parts[s.UID].disks, true
	}
	name, _ := s.facts.Value("disk").(string)
	own, known := s.unattached[name]
	return []disk{own}, known
}

// volumeTypes are the types of volumes of clusters, whose charges arise at disks in the cloud.
var volumeTypes = map[string]bool{"kubernetes-persistentvolume": true, "kubernetes-persistentvolumeclaim": true}

// diskCost returns the cost of the resource's disks, claimed where it arises.
func (s *subject) diskCost() (amount, condition.Reason) {
	out := amount{basis: recommendation.Billed}
	disks, known := s.disksOf()
	if !known {
		return amount{}, unpriced
	}
	for _, disk := range disks {
		c, billed := s.bills.monthly(cmp.Or(disk.account, s.CloudAccountID), disk.uid, s.Since())
		if !billed || len(out.claims) == recommendation.MaxClaims {
			return amount{}, unpriced
		}
		out.gross, out.committed = out.gross.Add(c.all), out.committed.Add(c.committed)
		out.claims = append(out.claims,
			recommendation.Claim{ResourceID: disk.id, USD: positive(c.all.Sub(c.committed)), Cost: positive(c.all)})
	}
	return out, ""
}

// strengthOf returns the strength of a rule against others for the same resource.
func strengthOf(r *rule.Rule) recommendation.Strength {
	switch r.Category {
	case rule.Orphan:
		return recommendation.ByDelete
	case rule.Idle:
		if r.Verb == rule.VerbDelete || r.Verb == rule.VerbRelease {
			return recommendation.ByDelete
		}
		return recommendation.ByStop
	case rule.Schedule:
		return recommendation.BySchedule
	case rule.Discount:
		return recommendation.ByDiscount
	case rule.Rightsizing:
		if r.Savings.Form == rule.SavesTo && tiers[r.Savings.Names[0]] {
			return recommendation.ByTier
		}
		return recommendation.BySize
	case rule.Governance, rule.Compliance, rule.Security, rule.Reliability:
	}
	return recommendation.ByTier
}

// tiers are the facts whose change is another generation, architecture, licence or tier, and not another size.
var tiers = map[string]bool{
	"newer_type": true, "newer_class": true, "newer_size": true, "arm_type": true, "arm_class": true, "arm_size": true,
	"amd_type": true, "amd_size": true, "e2_type": true, "sku": true, "tier": true, "volume_type": true,
	"storage_type": true, "storage_class": true, "disk_type": true, "engine": true, "architecture": true,
	"edition": true, "tenancy": true, "billing_model": true, "storage_tier": true, "location_type": true,
}
