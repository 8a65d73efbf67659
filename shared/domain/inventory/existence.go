package inventory

import "time"

// Since returns when the resource was created, or else first seen: providers do not say the former of all types.
func (r *Resource) Since() time.Time {
	if r.CreatedAt.IsZero() {
		return r.DiscoveredAt
	}
	return r.CreatedAt
}
