package simulated

import (
	"cmp"
	"fmt"
	"hash/fnv"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"lamplighter.dev/shared/cloud"
)

// settings are read from the credentials of an account, each a string:
//
//	size                how many resources (200; at most 5,000,000)
//	seed                another one makes another cloud ("1")
//	label               a text that begins the name of each resource and is the value of its tag "label" (none)
//	kinds               only these kinds, comma list; "*" is all that there are, "azure-*" those of one provider
//	                    (those of AWS that can be started and stopped)
//	regions             how many regions (4), or which ones, comma list
//	stopped             rate of resources that are stopped from the beginning (0.14)
//	accountID           the account number that the credentials open (the account's cloudAccountID)
//	callMillis          how long a call takes (0)
//	transitionSeconds   how long a start or stop takes at most; each resource takes between half of it and all (5)
//	pageSize            resources in a page of a listing (1000, the most)
//	limits              "true": calls and instances are limited as AWS documents it for EC2
//	clusterStatus       how all Kubernetes clusters are: active, creating, updating, deleting or failed ("active")
//	bills               how it is billed: "cur" (legacy CUR, csv.gz), "focus" (FOCUS, csv.gz) or "none"
//	                    (cur when the account number is even, else focus)
//	billedMonths        number of months with bills, the current month included (13, the most)
//	facts               "complete": the kinds of AWS that can be started and stopped, and the objects of clusters,
//	                    have all facts that a listing tells of them, and one resource in five has planted waste or a
//	                    planted weakness ("basic"). "planted": exactly the resources of planted.csv in the first
//	                    region, with all facts; size, kinds and stopped do not matter
//	changedOn           with facts=planted: the day of the changes of the past in planted.csv ("2026-03-01"; none).
//	                    The bills of their resources are lower from this day on
//
// and the faults, all off by default. A rate is the share of calls or resources that it hits, 0 to 1:
//
//	throttle            rate of calls refused with RequestLimitExceeded
//	partialFailure      rate of resources in an act call that fail while the others are acted on
//	lostReply           rate of act calls that take effect and then end with an error
//	eventualConsistency lag of a listing in seconds
//	denied              comma list of denied permissions: an operation ("ec2:StopInstances"), a kind, a region, a
//	                    capability ("discover", "start_stop", "scale", "remediate"), or "*"
//	refuse              "true": the credentials are not accepted
//	fallBack            rate of resources that return to stopped after a start
//	noCapacity          rate of resources that the cloud has no room to start
//	vanish              rate of resources that are gone
//	slow                rate of calls that take slowMillis (5000) longer; more than 30 s in all is a time-out
//	billFault           the fault of bills: "truncated", "brokenRow", "wrongMonth", "rows", "total", "missingFile"
//	billFaultMonth      the month of the fault ("2026-03"; the newest)
type settings struct {
	number string // account number
	key    uint64 // hash of account number and seed: distinguishes this cloud from others
	label  string // of each resource, empty for none
	// complete adds the facts of completions and of clusterCompletions
	complete bool
	planted  map[plantedKey]plantedNode // nil unless the account has exactly these
	// changedOn is the day of the changes of the past of planted nodes; zero for none
	changedOn time.Time
	counts    [][]int
	regions   []string
	named     []string // by the account

	latency    time.Duration
	limited    bool
	transition time.Duration
	page       int
	stopped    float64
	faults     faults

	clusterStatus cloud.ClusterStatus
	organisation  organisation
	billing       billing

	unknown error // about a credential that is not a setting
}

// parseSettings reads the settings of a.
func parseSettings(a cloud.Account) (settings, error) {
	r := reader{values: a.Credentials, names: map[string]bool{}}
	s := settings{
		named: a.Regions, number: r.readText("accountID", a.NativeID),
		page: r.readInteger("pageSize", pageSize, 1, pageSize),
	}
	s.latency = time.Duration(r.readInteger("callMillis", 0, 0, 3_600_000)) * time.Millisecond
	s.transition = time.Duration(r.readRate("transitionSeconds", 5, 86_400) * float64(time.Second))
	s.key, s.label = hashParts(s.number, r.readText("seed", "1")), r.readText("label", "")
	s.regions, s.stopped = r.readRegions(), r.readRate("stopped", 0.14, 1)
	s.limited, s.billing = r.readFlag("limits"), r.readBilling(s.number)
	s.faults, s.clusterStatus, s.organisation = r.readFaults(), r.clusterStatus(), r.readOrganisation()
	facts, wanted := r.readChoice("facts", "basic", "complete", "planted"), r.readKinds()
	s.complete, s.changedOn = facts != "basic", r.readDay("changedOn")
	s.counts = apportionKinds(r.readInteger("size", 200, 0, 5_000_000), len(s.regions), wanted)
	if s.addNodes(wanted); facts == "planted" {
		s.plant()
	}
	if a.AuthMethod != "" && a.AuthMethod != AuthMethod {
		r.err = cmp.Or(r.err, cloud.ErrInvalid(`authMethod is %.64q; it must be "simulated"`, a.AuthMethod))
	}
	s.unknown = r.errUnknown()
	return s, r.err
}

// hashParts mixes parts into 64 bits.
func hashParts(parts ...string) uint64 {
	h := fnv.New64a()
	for _, p := range parts {
		_, _ = h.Write([]byte(p)) // never fails
		_, _ = h.Write([]byte{0})
	}
	return mixBits(h.Sum64())
}

// apportionKinds distributes size resources over kinds by their shares, and the resources of a kind evenly over the
// regions.
func apportionKinds(size, regions int, wanted []bool) [][]int {
	total, last := 0, -1
	for i, k := range kinds {
		if wanted[i] && k.share > 0 {
			total, last = total+k.share, i
		}
	}
	counts, left := make([][]int, len(kinds)), size
	for i, k := range kinds {
		n := 0
		switch {
		case i == last:
			n = left
		case wanted[i]:
			n = size * k.share / total
		}
		left -= n
		counts[i] = dealEvenly(n, regions)
	}
	return counts
}

// dealEvenly splits n into parts that differ by at most one.
func dealEvenly(n, parts int) []int {
	out := make([]int, parts)
	for i := range out {
		out[i] = n / parts
		if i < n%parts {
			out[i]++
		}
	}
	return out
}

// reader reads typed values and keeps the first failure.
type reader struct {
	values map[string]string
	names  map[string]bool // of all settings that were read
	err    error
}

// errUnknown returns an error that names a value without a setting, or nil. Call it when all settings are read.
func (r *reader) errUnknown() error {
	for _, name := range slices.Sorted(maps.Keys(r.values)) {
		if !r.names[name] {
			return cloud.ErrInvalid("credentials.%.64s is not a setting of the simulated cloud; its settings are %s",
				name, strings.Join(slices.Sorted(maps.Keys(r.names)), ", "))
		}
	}
	return nil
}

// value returns the text of a setting, which is empty if it is not set.
func (r *reader) value(name string) string {
	r.names[name] = true
	return r.values[name]
}

func (r *reader) failReading(name, value, want string) {
	if r.err == nil {
		r.err = cloud.ErrInvalid("credentials.%s is %.64q; it must be %s", name, value, want)
	}
}

func (r *reader) readText(name, otherwise string) string {
	if v := strings.TrimSpace(r.value(name)); v != "" {
		return v
	}
	return otherwise
}

// readChoice reads one of some texts; the first is that of an unset setting.
func (r *reader) readChoice(name string, all ...string) string {
	v := r.readText(name, all[0])
	if !slices.Contains(all, v) {
		r.failReading(name, v, "one of "+strings.Join(all, ", "))
	}
	return v
}

func (r *reader) readInteger(name string, otherwise, least, most int) int {
	v := r.readText(name, "")
	if v == "" {
		return otherwise
	}
	n, err := strconv.Atoi(v)
	if err != nil || n < least || n > most {
		r.failReading(name, v, fmt.Sprintf("a whole number from %d to %d", least, most))
		return otherwise
	}
	return n
}

// readRate reads a number from 0 to most.
func (r *reader) readRate(name string, otherwise, most float64) float64 {
	v := r.readText(name, "")
	if v == "" {
		return otherwise
	}
	f, err := strconv.ParseFloat(v, 64)
	if err != nil || !(f >= 0 && f <= most) { // NaN is refused by the negation
		r.failReading(name, v, fmt.Sprintf("a number from 0 to %g", most))
		return otherwise
	}
	return f
}

func (r *reader) readFlag(name string) bool {
	v := r.readText(name, "false")
	b, err := strconv.ParseBool(v)
	if err != nil {
		r.failReading(name, v, "true or false")
	}
	return b
}

func (r *reader) readList(name string) []string {
	var out []string
	for v := range strings.SplitSeq(r.value(name), ",") {
		if v = strings.TrimSpace(v); v != "" && !slices.Contains(out, v) {
			out = append(out, v)
		}
	}
	return out
}

// readRegions returns a number of regions, or those that are named.
func (r *reader) readRegions() []string {
	names := r.readList("regions")
	if len(names) == 0 {
		names = regionNames[:4]
	} else if _, err := strconv.Atoi(names[0]); err == nil && len(names) == 1 {
		names = regionNames[:r.readInteger("regions", 4, 1, len(regionNames))]
	}
	for _, n := range names {
		if !slices.Contains(regionNames, n) {
			r.failReading("regions", n, "a number of regions or one of "+strings.Join(regionNames, ", "))
		}
	}
	return names
}

func (r *reader) clusterStatus() cloud.ClusterStatus {
	s := cloud.ClusterStatus(r.readText("clusterStatus", string(cloud.ClusterActive)))
	if !slices.Contains(clusterStatuses, s) {
		r.failReading("clusterStatus", string(s), fmt.Sprintf("one of %s", clusterStatuses))
	}
	return s
}

func (r *reader) readKinds() []bool {
	out, names := make([]bool, len(kinds)), r.readList("kinds")
	for i := range out {
		out[i] = len(names) == 0 && !kinds[i].Collected
	}
	for _, n := range names {
		found := false
		for i, k := range kinds {
			if many, some := strings.CutSuffix(n, "*"); k.Type == n || some && strings.HasPrefix(k.Type, many) {
				out[i], found = true, true
			}
		}
		if !found {
			r.failReading("kinds", n, "a comma list of kinds such as aws-ec2, azure-* or *")
		}
	}
	return out
}
