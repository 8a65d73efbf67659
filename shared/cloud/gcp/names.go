package gcp

import (
	"fmt"
	"regexp"
	"strings"
)

// ref is a resource by the parts of its full name, which is its uid:
// //compute.googleapis.com/projects/p/zones/z/instances/i. Cloud Asset Inventory uses the same names, so a resource
// that both list is one resource.
type ref struct {
	uid      string
	service  string // "compute.googleapis.com"
	project  string
	scope    string // "zones", "regions" or "locations"; "" when the name has no place
	location string // the zone or region
	cluster  string // of a node pool
	kind     string // "instances": the type in the last part of the name
	name     string
}

var (
	plainName  = regexp.MustCompile(`^[a-z0-9][a-z0-9-]{0,99}$`)
	regionName = regexp.MustCompile(`^[a-z]+-[a-z]+\d+$`)
)

// parseName splits a uid; false when it is not a Google resource name. The parts of an accepted name are safe in paths
// and in filters.
func parseName(uid string) (ref, bool) {
	service, path, ok := strings.Cut(strings.TrimPrefix(uid, "//"), "/")
	f := strings.Split(path, "/")
	if !ok || !strings.HasPrefix(uid, "//") || len(f)%2 != 0 || len(f) < 4 || f[0] != "projects" ||
		!projectID.MatchString(f[1]) {
		return ref{}, false
	}
	r := ref{uid: uid, service: service, project: f[1], kind: f[len(f)-2], name: f[len(f)-1]}
	for i := 2; i < len(f); i += 2 {
		if !plainName.MatchString(f[i+1]) {
			return ref{}, false
		}
		switch f[i] {
		case "zones", "regions", "locations":
			r.scope, r.location = f[i], f[i+1]
		case "clusters":
			r.cluster = f[i+1]
		}
	}
	return r, true
}

// path returns the name without its service, as the newer APIs want it: projects/p/locations/l/….
func (r ref) path() string { return strings.TrimPrefix(r.uid, "//"+r.service+"/") }

// region returns the region of the place in the name; "" when there is none.
func (r ref) region() string { return regionOf(r.location) }

// isRegional reports whether the resource belongs to a region and not to one zone.
func (r ref) isRegional() bool { return regionName.MatchString(r.location) }

// regionOf returns the region of a zone, or of a region itself: us-central1 of us-central1-a.
func regionOf(location string) string {
	f := strings.SplitN(location, "-", 3)
	if len(f) < 2 {
		return ""
	}
	return f[0] + "-" + f[1]
}

// lastPart returns the name at the end of a URL of Google's.
func lastPart(link string) string { return link[strings.LastIndex(link, "/")+1:] }

// inZones returns the filter of an aggregated list for the zones of the region. "eq" takes a regular expression that
// must match the whole field.
func inZones(region string) string { return fmt.Sprintf("zone eq .*/zones/%s-.*", region) }

// namesFilter returns the filter for these names, which parseName has checked.
func namesFilter(refs []ref) string {
	names := make([]string, len(refs))
	for i, r := range refs {
		names[i] = r.name
	}
	return `name eq "` + strings.Join(names, "|") + `"`
}

// fullName returns the uid of a resource from its link: https://www.googleapis.com/compute/v1/projects/… in Compute
// Engine.
func fullName(service, link string) string {
	_, path, _ := strings.Cut(link, "/projects/")
	return "//" + service + "/projects/" + path
}
