package recommendation

// The rule that demotes a rule whose recommendations people call wrong.
const (
	leastCases   = 20
	wrongPerCent = 20
)

// Precision counts how the recommendations of a rule ended.
type Precision struct {
	Cases int // dismissed, applied or optimised
	Wrong int // dismissed as wrong
	// Realized and Predicted are the measured savings and the predicted ones of the same rows, in cents a month.
	Realized  int64
	Predicted int64
	Measured  int // rows with a measured saving
}

// Demoted reports whether the rule falls to severity info: more than 20 % of at least 20 cases are wrong.
func (p Precision) Demoted() bool { return p.Cases >= leastCases && p.Wrong*100 > p.Cases*wrongPerCent }

// Precisions returns the precision of each rule that has a case.
func (c *Columns) Precisions() map[string]Precision {
	out := map[string]Precision{}
	wrong := numberOf(reasonNames, Wrong)
	for i := range c.entries {
		e := &c.entries[i]
		status := statusNames[e.status]
		if status != Dismissed && status != Applied && status != Optimised {
			continue
		}
		name := c.names.rules[e.rule].id
		p := out[name]
		p.Cases++
		if status == Dismissed && e.reason == wrong {
			p.Wrong++
		}
		if e.has(realizedFlag) {
			p.Realized, p.Predicted, p.Measured = p.Realized+e.realized, p.Predicted+e.net, p.Measured+1
		}
		out[name] = p
	}
	return out
}

// demoted returns the rules that are demoted.
func (c *Columns) demoted() map[string]bool {
	out := map[string]bool{}
	for rule, p := range c.Precisions() {
		if p.Demoted() {
			out[rule] = true
		}
	}
	return out
}
