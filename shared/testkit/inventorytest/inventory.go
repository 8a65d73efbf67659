// Package inventorytest fills the inventory of a fixture: accounts, the resources that a scan finds in them, and
// teams.
package inventorytest

import (
	"fmt"

	"lamplighter.dev/shared/cloud"
	"lamplighter.dev/shared/domain/inventory"
	"lamplighter.dev/shared/foundation/id"
	"lamplighter.dev/shared/people/teams"
	"lamplighter.dev/shared/testkit/apitest"
)

// Account is the id of the default account of Discover.
const Account = "ca_1"

// Connect stores AWS accounts with the permission to act.
func Connect(f *apitest.Fixture, org string, accounts ...string) {
	f.Helper()
	for _, account := range accounts {
		f.Put(inventory.AccountKey(org, account), inventory.Account{
			ID: account, Provider: "aws", Name: "account " + account, CloudAccountID: "123456789012",
			PermissionLevel: "read_write",
		})
	}
}

// Discover lets a scan of eu-west-1 find resources of a kind such as "aws-ec2" in Account, which it connects first.
// It returns their ids in the same order.
func Discover(f *apitest.Fixture, org, kind string, found ...cloud.Resource) []string {
	f.Helper()
	Connect(f, org, Account)
	return DiscoverIn(f, inventory.Partition{AccountID: Account, Region: "eu-west-1", Kind: kind}, org, found...)
}

// DiscoverIn is Discover in a partition of AWS whose account is connected.
func DiscoverIn(f *apitest.Fixture, p inventory.Partition, org string, found ...cloud.Resource) []string {
	f.Helper()
	p.Provider = "aws"
	scan := inventory.Scan{Partition: p, ID: "job_" + p.Kind, Started: f.Clock.Now()}
	_, err := inventory.New(f.Platform).UpsertScanned(f.In(org), org,
		inventory.Batch{Scan: scan, At: f.Clock.Now(), Resources: found})
	f.Must(err)
	uids := make([]string, len(found))
	for i, r := range found {
		uids[i] = r.UID
	}
	return IDs(f, org, uids...)
}

// IDs returns the ids of resources by their native ids.
func IDs(f *apitest.Fixture, org string, uids ...string) []string {
	f.Helper()
	found, err := inventory.New(f.Platform).ByUIDs(f.In(org), org, uids, inventory.SeeEverything())
	f.Must(err)
	out := make([]string, len(found))
	for i, r := range found {
		out[i] = r.ID
	}
	return out
}

// Instances returns n running instances: i-0 with the name web-0 and so on, tagged env=prod and env=dev in turn.
func Instances(n int) []cloud.Resource {
	out := make([]cloud.Resource, n)
	for i := range out {
		out[i] = cloud.Resource{
			UID: fmt.Sprintf("i-%d", i), Name: fmt.Sprintf("web-%d", i), Status: cloud.Running,
			Tags: map[string]string{"env": []string{"prod", "dev"}[i%2]},
		}
	}
	return out
}

// Team makes a team that owns resources, given by their ids, and returns its id.
func Team(f *apitest.Fixture, org, name string, resources ...string) string {
	f.Helper()
	t := teams.Team{ID: id.New("team", f.Clock.Now()), Name: name, CreatedAt: f.Clock.Now()}
	owned, err := inventory.Own(org, t.ID, 1, resources)
	f.Must(err)
	_, err = teams.New(f.Table).Create(f.In(org), org, t, owned...)
	f.Must(err)
	return t.ID
}
