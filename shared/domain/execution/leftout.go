package execution

import "cmp"

// maxNotDone is how many left-out resources a bulk action names. It counts all of them.
const maxNotDone = 50

// NotDone is a resource that a bulk action leaves out.
type NotDone struct {
	ResourceID  string `json:"resourceID" doc:"Our id"`
	ResourceUID string `json:"resourceUID" doc:"Native provider identifier"`
	Reason      string `json:"reason" doc:"event: an active event readiness plan holds it; else a sentence"`
	Detail      string `json:"detail" doc:"A sentence; for event it names the plan"`
}

// LeaveOut records in b the resources that are left out when it is planned. Those of a group are all determined anew
// then. Resources with a reason of one word are named first.
func (b *Bulk) LeaveOut(left []LeftOut) {
	if b.GroupID != "" {
		b.LeftOut, b.LeftOutOf = 0, nil
	}
	b.LeftOut += len(left)
	for _, brief := range []bool{true, false} {
		for _, l := range left {
			if (l.Detail != "") == brief && len(b.LeftOutOf) < maxNotDone {
				b.LeftOutOf = append(b.LeftOutOf, NotDone{l.ResourceID, l.UID, l.Reason, cmp.Or(l.Detail, l.Reason)})
			}
		}
	}
}
