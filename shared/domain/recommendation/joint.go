package recommendation

import "slices"

// Recommendations whose form is FormRequests share the nodes that can be removed when all of them are carried out. At a
// machine, their stakes are joint: they add up, and together they compete with the other stakes as one.

// FormRequests is the form of savings that lower requests of workloads have. Their amounts are booked at machines when
// all resources are evaluated: see Savings.Later.
const FormRequests = "part:requests"

// hasJoint reports whether two or more open stakes at a resource add up.
func hasJoint(stakes []stake) bool {
	n := 0
	for i := range stakes {
		if stakes[i].isOpenJoint() {
			n++
		}
	}
	return n > 1
}

func (a *stake) isOpenJoint() bool { return a.joint && !a.applied }

// settleJoint is settle for stakes of which some add up. The joint ones count if they are picked as one, and no other
// stake saves more: then it does not matter to the others which of the joint ones goes.
func (s *standing) settleJoint(stakes []stake) {
	bundle, singles := bundleOf(stakes)
	best := pick(append(singles, bundle))
	largest := largestOpen(singles)
	if best == len(singles) && largest >= 0 && singles[largest].cents > bundle.cents {
		best = largest
	}
	if best < len(singles) {
		s.settleOne(singles[best], stakes)
		return
	}
	s.countJoint(bundle, stakes)
}

// countJoint lets the joint stakes count: together what the bundle counts, to the cent. The other open ones are
// alternatives.
func (s *standing) countJoint(bundle stake, stakes []stake) {
	sum := int64(0)
	for i := range stakes {
		if stakes[i].isOpenJoint() {
			sum += stakes[i].cents
		}
	}
	counted, before := left(bundle.cents, stakes), int64(0)
	given := int64(0)
	for i := range stakes {
		a := &stakes[i]
		switch {
		case a.isOpenJoint():
			before += a.cents
			share := mulDiv(counted, before, sum) - given
			given += share
			s.net[a.entry] += share
		case !a.applied && s.stronger[a.entry] < 0:
			s.stronger[a.entry] = bundle.entry
		}
	}
}

// bundleOf returns the open joint stakes as one, and copies of the other stakes.
func bundleOf(stakes []stake) (bundle stake, singles []stake) {
	for i := range stakes {
		a := stakes[i]
		switch {
		case !a.isOpenJoint():
			singles = append(singles, a)
		case bundle.cents == 0:
			bundle = a
		default:
			bundle.cents, bundle.cost = bundle.cents+a.cents, max(bundle.cost, a.cost)
			bundle.strength = max(bundle.strength, a.strength)
		}
	}
	bundle.cents = capped(bundle.cents, bundle.cost)
	return bundle, slices.Clip(singles)
}

// largestOpen returns the open stake that saves the most, or -1.
func largestOpen(stakes []stake) int {
	best := -1
	for i := range stakes {
		if !stakes[i].applied && (best < 0 || stakes[i].cents > stakes[best].cents) {
			best = i
		}
	}
	return best
}
