package gcp

import (
	"slices"

	"lamplighter.dev/shared/cloud"
)

// RequiredPermissions are the IAM permissions that this package uses, by level of access. Each level includes the
// levels before it.
type RequiredPermissions struct {
	Discover     []string // to list and read resources, clusters included
	StartStop    []string // to discover, start and stop
	Scale        []string // to discover, start, stop and change capacities
	Remediate    []string // all of these, and what the changes of the catalogue need
	Organisation []string // to list the projects of an organization, or of a folder, besides
	Billing      []string // to read bills, besides
}

// ListRequiredPermissions returns the permissions of every registered kind, sorted and without duplicates. A test
// compares the permissions that customers are told to grant with it.
func ListRequiredPermissions() RequiredPermissions {
	discover, startStop, scale := slices.Clone(projectNeeds), []string(nil), []string(nil)
	for _, k := range registry {
		discover, startStop, scale = append(discover, k.needs.discover...), append(startStop, k.needs.startStop...),
			append(scale, k.needs.scale...)
	}
	return RequiredPermissions{
		sortUnique(discover), sortUnique(discover, startStop),
		sortUnique(discover, startStop, scale),
		sortUnique(discover, startStop, scale, cloud.ChangeNeeds("gcp")),
		sortUnique(organisationNeeds), sortUnique(billingNeeds),
	}
}

// ListRequiredServices returns the APIs that a project must switch on so that everything here works. The API of an
// unused service may stay off.
func ListRequiredServices() []string {
	return []string{
		"cloudasset.googleapis.com", "cloudresourcemanager.googleapis.com", "compute.googleapis.com",
		"container.googleapis.com", "monitoring.googleapis.com", recommenderAPI, "run.googleapis.com",
		"sqladmin.googleapis.com",
	}
}

func sortUnique(names ...[]string) []string {
	all := slices.Concat(names...)
	slices.Sort(all)
	return slices.Compact(all)
}
