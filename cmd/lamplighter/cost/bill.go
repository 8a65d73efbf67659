package cost

import (
	"math/big"
	"slices"
	"strings"

	"lamplighter.dev/shared/domain/billimport"
	"lamplighter.dev/shared/domain/discovery"
)

// Line is one line of a bill. Free is the part of USD that AWS's permanent free allowances cover.
type Line struct {
	Name      string
	Amount    *big.Rat // in the unit of its price
	Unit      string
	USD, Free *big.Rat
	Apart     bool // not in the sum: it can be switched off, and the bars do not include it
}

// Bill is the monthly cost of a workload.
type Bill struct {
	Workload Workload
	Lines    []Line
}

// Total returns the sum at list prices, and the sum after the free allowances.
func (b Bill) Total() (list, paid *big.Rat) {
	list, paid = new(big.Rat), new(big.Rat)
	for _, l := range b.Lines {
		if !l.Apart {
			list.Add(list, l.USD)
			paid.Add(paid, new(big.Rat).Sub(l.USD, l.Free))
		}
	}
	return list, paid
}

// tally adds up the usage of a workload.
type tally struct {
	w                                    Workload
	m                                    Measured
	gbs                                  *big.Rat
	machines                             map[string]*big.Rat
	reads, writes, calls, logs, keyCalls *big.Rat
	puts, gets                           *big.Rat
	starts                               *big.Rat // of functions that read secrets then
}

func newTally(w Workload, m Measured) *tally {
	return &tally{
		w: w, m: m, gbs: new(big.Rat), machines: map[string]*big.Rat{},
		reads: new(big.Rat), writes: new(big.Rat), calls: new(big.Rat), logs: new(big.Rat), keyCalls: new(big.Rat),
		puts: new(big.Rat), gets: new(big.Rat), starts: new(big.Rat),
	}
}

// add adds the usage s, multiplied by times.
func (t *tally) add(times int, s Sample) { t.addShare(whole(times), s) }

// addShare adds the usage s, multiplied by n.
func (t *tally) addShare(n *big.Rat, s Sample) {
	for machine, transitions := range s.Transitions {
		if t.machines[machine] == nil {
			t.machines[machine] = new(big.Rat)
		}
		plus(t.machines[machine], n, whole(transitions))
	}
	for function, calls := range s.Calls {
		u := s.Units[function]
		plus(t.calls, n, whole(calls))
		if t.m.Readers[function] {
			plus(t.starts, n, big.NewRat(int64(calls), callsPerStart))
		}
		plus(t.reads, n, decimal(u.ReadUnits))
		plus(t.writes, n, decimal(u.WriteUnits))
		plus(t.logs, n, whole(calls*logLine))
		millis := calls*perCallMs + u.RoundTrips*perTripMs + s.Millis[function]
		plus(t.gbs, n, big.NewRat(int64(millis*t.m.Memory[function]), 1000*1024))
	}
	plus(t.logs, n, whole(s.LogBytes))
	plus(t.keyCalls, n, whole(s.KeyCalls))
	plus(t.puts, n, whole(s.Puts))
	plus(t.gets, n, whole(s.Gets))
}

// addScheduled adds the runs of the scheduled workers: once those of a service without organizations, and for each
// organization the usage beyond them.
func (t *tally) addScheduled() {
	for worker, times := range runs {
		t.add(times, t.m.Bare[worker])
		if eachMinute(worker) {
			t.add(times*t.w.Organizations, t.m.Found[worker].minus(t.m.Bare[worker]))
		}
	}
	c := t.m.Costs
	if c.Days == 0 {
		return
	}
	t.addShare(big.NewRat(days, int64(c.Days)), c.Shared)
	t.addShare(big.NewRat(int64(days*t.w.Organizations), int64(c.Days)), c.Rest)
	t.addShare(big.NewRat(int64(days*t.w.Organizations*t.w.Accounts), int64(c.Days*c.Accounts)), c.Bills)
	if c.Renewals > 0 {
		t.addShare(big.NewRat(int64(days*t.w.Organizations*renewalsADay), int64(c.Renewals)), c.Renewed)
	}
}

func whole(n int) *big.Rat { return new(big.Rat).SetInt64(int64(n)) }

func decimal(f float64) *big.Rat { return new(big.Rat).SetFloat64(f) }

// plus adds the product of factors to sum.
func plus(sum *big.Rat, factors ...*big.Rat) {
	p := whole(1)
	for _, f := range factors {
		p.Mul(p, f)
	}
	sum.Add(sum, p)
}

// Compute returns the bill of w for its first month. One organization of w uses m.
func Compute(p Prices, w Workload, m Measured) Bill {
	t := newTally(w, m)
	t.add(w.Organizations*w.Accounts, m.First)
	t.add(w.passes(), m.Pass)
	t.add(w.collections(), m.Collection)
	t.addShare(big.NewRat(int64(w.bulkPairs()), int64(max(m.Pairs, 1))), m.Bulks)
	t.addScheduled()
	t.addShare(big.NewRat(int64(w.bulkPairs()), int64(max(m.ArchivedPairs, 1))), m.Archived)
	plus(t.puts, whole(w.Organizations*lists))
	t.add(w.users()*mailsAMonth, m.Mail)
	asked, signed := 0, 0
	for _, r := range requests {
		n := w.requests(r)
		t.add(n, m.Requests[r.Method+" "+r.Path])
		if r.Path == "/auth/refresh" {
			t.addShare(big.NewRat(int64(n), int64(max(m.RefreshCount, 1))), m.Refreshes)
		}
		if asked += n; strings.HasPrefix(r.Path, "/auth/") {
			signed += n
		}
		if r.Path == "/auth/login" {
			plus(t.gbs, whole(n), big.NewRat(int64(perPasswordMs*m.Memory["auth"]), 1000*1024))
		}
	}
	asked += 2 * w.bulkPairs()
	return Bill{w, t.lines(p, asked, signed)}
}

// priced makes lines of a bill. A free allowance is taken off once, however many lines have its price.
type priced struct {
	prices Prices
	left   map[string]*big.Rat // of the free allowance of a price
	lines  []Line
}

func (p *priced) add(name, price string, amount *big.Rat) {
	if p.left[price] == nil {
		p.left[price] = p.prices.free(price)
	}
	usd, free, used := p.prices.of(price, amount, p.left[price])
	p.left[price].Sub(p.left[price], used)
	p.lines = append(p.lines, Line{Name: name, Amount: amount, Unit: p.prices.Of[price].Unit, USD: usd, Free: free})
}

// addApart adds a line that is not in the sum.
func (p *priced) addApart(name, price string, amount *big.Rat) {
	p.add(name, price, amount)
	p.lines[len(p.lines)-1].Apart = true
}

const giga = 1_000_000_000

// lines returns the lines of the bill. asked is the number of requests, signed the number of access tokens.
func (t *tally) lines(p Prices, asked, signed int) []Line {
	out := &priced{prices: p, left: map[string]*big.Rat{}}
	t.addMachines(out)
	t.addTable(out, asked)
	out.add("Lambda: requests", "invocations", t.calls)
	out.add("Lambda: memory × time", "gbSeconds", t.gbs)
	out.add("API Gateway", "apiRequests", whole(asked))
	out.add("sent to clients", "sentGB", big.NewRat(int64(asked)*answerBytes, giga))
	out.add("KMS: keys", "keys", whole(2))
	out.add("KMS: data keys", "keyCalls", t.keyCalls)
	out.add("KMS: access tokens", "signatures", whole(signed))
	out.add("KMS: anchors of the audit log", "signatures", whole(days))
	out.add("Secrets Manager", "secrets", whole(1))
	out.add("Secrets Manager: reads", "secretReads", t.starts)
	t.addWatching(out, asked)
	t.addFiles(out)
	out.add("mails", "mails", whole(t.w.users()*mailsAMonth))
	if t.m.Template["detailed metrics"] {
		out.addApart("detailed metrics of the API (up to)", "metrics", whole(50*metricsOfOp))
	}
	out.addApart("firewall", "firewalls", whole(1))
	out.addApart("firewall: requests", "firewallRequests", whole(asked))
	return slices.Clip(out.lines)
}

// addMachines adds the lines of Step Functions.
func (t *tally) addMachines(out *priced) {
	actions, discoveries, bills := new(big.Rat), new(big.Rat), new(big.Rat)
	for machine, n := range t.machines {
		switch machine {
		case discovery.Machine:
			plus(discoveries, n)
		case billimport.Machine, billimport.AccountMachine:
			plus(bills, n)
		default:
			plus(actions, n)
		}
	}
	out.add("Step Functions: actions", "transitions", actions)
	out.add("Step Functions: discovery", "transitions", discoveries)
	out.add("Step Functions: bills", "transitions", bills)
}

// addTable adds the lines of DynamoDB.
func (t *tally) addTable(out *priced, asked int) {
	stored := whole(t.w.resources()*t.m.Bytes["resource"] + 2*t.w.bulkPairs()*t.w.GroupSize*t.m.Bytes["action"] +
		asked/20*t.m.Bytes["audit"])
	stored.Quo(stored, whole(giga))
	out.add("DynamoDB: reads", "readUnits", t.reads)
	out.add("DynamoDB: writes", "writeUnits", t.writes)
	out.add("DynamoDB: stored", "storedGB", stored)
	out.add("DynamoDB: point-in-time recovery", "recoverableGB", stored)
}

// addWatching adds the lines of CloudWatch, X-Ray and EventBridge.
func (t *tally) addWatching(out *priced, asked int) {
	plus(t.logs, whole(asked*accessLine))
	out.add("logs", "logGB", new(big.Rat).Quo(t.logs, whole(giga)))
	out.add("alarms", "alarms", whole(alarms))
	out.add("dashboard", "dashboards", whole(dashboards))
	out.add("metrics of our own", "metrics", whole(metrics))
	traced := whole(asked) // X-Ray samples requests; work without a request is not traced
	if share, ok := new(big.Rat).SetString(t.m.Traced); ok {
		traced.Mul(traced, share)
	} else {
		traced.SetInt64(0)
	}
	out.add("X-Ray", "traces", traced)
	scheduled := 0
	for _, times := range runs {
		scheduled += times
	}
	out.add("schedules", "schedules", whole(scheduled))
}

// addFiles adds the lines of S3.
func (t *tally) addFiles(out *priced) {
	archived := whole(2 * t.w.bulkPairs() * t.w.GroupSize * t.m.Bytes["archived"])
	out.add("S3: archived", "archivedGB", archived.Quo(archived, whole(giga)))
	items := whole(t.w.Organizations * t.w.Accounts * t.m.Bytes["line items"])
	out.add("S3: line items", "archivedGB", items.Quo(items, whole(giga)))
	out.add("S3: objects put and listed", "puts", t.puts)
	out.add("S3: objects read", "gets", t.gets)
	// each night: the list, the last document, and each object with heads; those that have changed, and a document
	files := 1 + min(t.w.Organizations, anchorShards)
	out.add("S3: anchors of the audit log, put and listed", "puts", whole(days*(2+files)))
	out.add("S3: anchors of the audit log, read", "gets", whole(days*(1+files)))
}
