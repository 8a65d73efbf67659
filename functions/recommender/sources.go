package recommender

import (
	"slices"
	"strings"

	"lamplighter.dev/shared/domain/rule/condition"
)

// sourceExists reports whether the disk that a snapshot of Google is of is in the inventory. If it is not, the disk is
// gone only if the inventory is complete where the disk would be: the disk is of the account's own project and of a
// region that is discovered, and everything was seen since the snapshot was made. Otherwise it is unknown.
func (s *subject) sourceExists() (any, condition.Reason) {
	if s.ParentUID == "" {
		return nil, condition.NotReported
	}
	if s.disks[s.ParentUID] {
		return true, ""
	}
	a := s.accounts[s.CloudAccountID]
	project, place := diskPlace(s.ParentUID)
	switch {
	case a.SeenFrom.IsZero() || a.SeenFrom.Before(s.Since()), project != a.CloudAccountID,
		len(a.Regions) > 0 && !slices.Contains(a.Regions, regionOfPlace(place)):
		return nil, unknownValue
	}
	return false, ""
}

// diskPlace returns the project and the zone or region in the native id of a disk:
// //compute.googleapis.com/projects/acme/zones/europe-west1-b/disks/data.
func diskPlace(uid string) (project, place string) {
	parts := strings.Split(uid, "/")
	const words = 9 // the two slashes, the service, and three pairs of a word and a name
	if len(parts) != words {
		return "", ""
	}
	return parts[4], parts[6]
}

// regionOfPlace returns the region of a zone, or a region itself: europe-west1 of europe-west1-b.
func regionOfPlace(place string) string {
	if strings.Count(place, "-") < 2 {
		return place
	}
	return place[:strings.LastIndex(place, "-")]
}

// resourceCount returns how many resources the inventory has of a resource group of Azure. If it has none, the group is
// empty only if the account was seen completely: in all regions, since the group was made. Otherwise it is unknown.
func (s *subject) resourceCount() (any, condition.Reason) {
	if n := s.inGroups[strings.ToLower(s.UID)]; n > 0 {
		return float64(n), ""
	}
	a := s.accounts[s.CloudAccountID]
	if a.SeenFrom.IsZero() || a.SeenFrom.Before(s.Since()) || len(a.Regions) > 0 {
		return nil, unknownValue
	}
	return 0.0, ""
}

// resourceGroupOf returns the native id of the resource group that a resource of Azure is in, in lower case, or "":
// /subscriptions/…/resourcegroups/web of /subscriptions/…/resourceGroups/web/providers/Microsoft.Compute/disks/data.
func resourceGroupOf(uid string) string {
	group, _, inside := strings.Cut(strings.ToLower(uid), "/providers/")
	if !inside || !strings.HasPrefix(group, "/subscriptions/") || !strings.Contains(group, "/resourcegroups/") {
		return ""
	}
	return group
}
