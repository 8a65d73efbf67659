package cost

import (
	"math/big"
	"slices"
	"strings"
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
}

func newTally(w Workload, m Measured) *tally {
	return &tally{
		w: w, m: m, gbs: new(big.Rat), machines: map[string]*big.Rat{},
		reads: new(big.Rat), writes: new(big.Rat), calls: new(big.Rat), logs: new(big.Rat), keyCalls: new(big.Rat),
	}
}

// add adds the usage s, multiplied by times.
func (t *tally) add(times int, s Sample) {
	n := whole(times)
	for machine, transitions := range s.Transitions {
		if t.machines[machine] == nil {
			t.machines[machine] = new(big.Rat)
		}
		plus(t.machines[machine], n, whole(transitions))
	}
	for function, calls := range s.Calls {
		u := s.Units[function]
		plus(t.calls, n, whole(calls))
		plus(t.reads, n, decimal(u.ReadUnits))
		plus(t.writes, n, decimal(u.WriteUnits))
		plus(t.logs, n, whole(calls*logLine))
		millis := calls*perCallMs + u.RoundTrips*perTripMs + s.Millis[function]
		plus(t.gbs, n, big.NewRat(int64(millis*t.m.Memory[function]), 1000*1024))
	}
	plus(t.logs, n, whole(s.LogBytes))
	plus(t.keyCalls, n, whole(s.KeyCalls))
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
	t.add(w.bulkPairs(), m.Bulks)
	for _, of := range []Sample{m.Sweep, m.Start, m.Evaluate, m.Link, m.Round, m.Notify} {
		t.add(minutes, of)
	}
	t.add(hours, m.Archive)
	t.add(hours, m.Members)
	t.add(w.bulkPairs()/2, m.Archived)
	t.add(days, m.Remind)
	t.add(hours, m.Judge)
	t.add(hours, m.Import)
	t.add(days*priceRuns, m.Prices)
	t.add(days*w.Organizations, m.Bill)
	t.add(w.users()*mailsAMonth, m.Mail)
	asked, signed := 0, 0
	for _, r := range requests {
		n := w.requests(r)
		t.add(n, m.Requests[r.Method+" "+r.Path])
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

// lines appends the lines of the bill. asked is the number of requests, signed the number of access tokens.
func (t *tally) lines(p Prices, asked, signed int) []Line {
	const giga = 1_000_000_000
	out := []Line{}
	add := func(name, price string, amount *big.Rat) {
		usd, free := p.of(price, amount)
		out = append(out, Line{Name: name, Amount: amount, Unit: p.Of[price].Unit, USD: usd, Free: free})
	}
	actions, discovery := new(big.Rat), new(big.Rat)
	for machine, n := range t.machines {
		if machine == "discovery" {
			discovery.Add(discovery, n)
		} else {
			actions.Add(actions, n)
		}
	}
	stored := whole(t.w.resources()*t.m.Bytes["resource"] + 2*t.w.bulkPairs()*t.w.GroupSize*t.m.Bytes["action"] +
		asked/20*t.m.Bytes["audit"])
	stored.Quo(stored, whole(giga))
	add("Step Functions: actions", "transitions", actions)
	add("Step Functions: discovery", "transitions", discovery)
	add("DynamoDB: reads", "readUnits", t.reads)
	add("DynamoDB: writes", "writeUnits", t.writes)
	add("DynamoDB: stored", "storedGB", stored)
	add("DynamoDB: point-in-time recovery", "recoverableGB", stored)
	add("Lambda: requests", "invocations", t.calls)
	add("Lambda: memory × time", "gbSeconds", t.gbs)
	add("API Gateway", "apiRequests", whole(asked))
	add("sent to clients", "sentGB", big.NewRat(int64(asked)*answerBytes, giga))
	add("KMS: keys", "keys", whole(2))
	add("KMS: data keys", "keyCalls", t.keyCalls)
	add("KMS: access tokens", "signatures", whole(signed))
	add("Secrets Manager", "secrets", whole(1))
	add("logs", "logGB", new(big.Rat).Quo(t.logs, whole(giga)))
	add("alarms", "alarms", whole(alarms))
	add("dashboard", "dashboards", whole(dashboards))
	add("metrics of our own", "metrics", whole(metrics))
	traced := whole(asked) // X-Ray samples requests; work without a request is not traced
	if share, ok := new(big.Rat).SetString(t.m.Traced); ok {
		traced.Mul(traced, share)
	} else {
		traced.SetInt64(0)
	}
	add("X-Ray", "traces", traced)
	add("schedules", "schedules", whole(everyMinute*minutes+everyHour*hours+(1+priceRuns)*days))
	add("S3: archived", "archivedGB",
		new(big.Rat).Quo(whole(2*t.w.bulkPairs()*t.w.GroupSize*t.m.Bytes["archived"]), whole(giga)))
	add("S3: objects put", "puts", whole(t.w.Organizations*lists))
	add("mails", "mails", whole(t.w.users()*mailsAMonth))
	if t.m.Template["detailed metrics"] {
		add("detailed metrics of the API (up to)", "metrics", whole(50*metricsOfOp))
		out[len(out)-1].Apart = true
	}
	return slices.Clip(out)
}
