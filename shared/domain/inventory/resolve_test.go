package inventory

import (
	"testing"

	"lamplighter.dev/shared/cloud"
	"lamplighter.dev/shared/testkit/apitest"
)

func TestDirectory_FindsWhatBillsName(t *testing.T) {
	s := newFixture(t)
	uids := []string{
		"i-0123456789abcdef0", "arn:aws:ec2:eu-west-1:1:volume/vol-0a1b2c3d4e5f60718", "arn:aws:s3:::logs",
		"arn:aws:rds:eu-west-1:1:db:orders",
		"/subscriptions/s/resourcegroups/rg/providers/microsoft.compute/virtualmachines/web",
		"//compute.googleapis.com/projects/shop/zones/z/instances/web",
		"arn:aws:elasticloadbalancing:eu-west-1:1:loadbalancer/app/web/50dc6c495c0c9188",
		"//compute.googleapis.com/projects/shop/zones/z/disks/data",
		"//compute.googleapis.com/projects/test/zones/z/disks/data",
		"0b1f2b9e-7f0c-4f5e-9a55-9b0b9d1f7a10",
	}
	var found []cloud.Resource
	for _, uid := range uids {
		found = append(found, cloud.Resource{UID: uid, Name: uid, Type: "aws-ec2", Status: cloud.Running})
	}
	s.upsert(s.scan("job_1"), found...)
	d := apitest.Value(s.store.OpenDirectory(s.ctx, testOrg))(t)
	for billed, want := range map[string]string{
		uids[0]: uids[0],
		"arn:aws:ec2:eu-west-1:1:instance/i-0123456789abcdef0": uids[0],
		"vol-0a1b2c3d4e5f60718":                                uids[1],
		"logs":                                                 uids[2],
		uids[3]:                                                uids[3],
		"orders":                                               "", // a database's name is anything's
		"/subscriptions/S/resourceGroups/RG/providers/Microsoft.Compute/virtualMachines/Web": uids[4],
		"//compute.googleapis.com/projects/1234567/zones/z/instances/web":                    uids[5],
		uids[6]: uids[6],
		"//compute.googleapis.com/projects/1234567/zones/z/disks/data": "", // of one of two projects
		uids[9]:          uids[9],
		"":               "",
		"i-0fffffffffff": "",
	} {
		got, ok := d.Find(testCA, billed)
		if got.UID != want || ok != (want != "") {
			t.Errorf("%q is found as %q, %v, want %q", billed, got.UID, ok, want)
		}
	}
}

func TestDirectory_TellsTeamsAndGroupsOfAll(t *testing.T) {
	s := newFixture(t)
	s.upsert(s.scan("job_1"), instances(0, 7)...)
	s.team("team_2", instance(1).UID, instance(2).UID)
	s.team("team_1", instance(1).UID)
	ids := s.ids(instance(0).UID, instance(1).UID)
	for _, g := range []Grouping{
		{Group{ID: "grp_2", Name: "two"}, []GroupPlacement{{ids[0], 1, 1}, {ids[0], 2, 1}, {ids[1], 1, 1}}},
		{Group{ID: "grp_1", Name: "one", Selector: &Selector{Tags: map[string]string{"env": "prod"}}}, nil},
		{Group{ID: "grp_3", Name: "three", Selector: &Selector{Type: "aws-ec2"}}, nil},
	} {
		apitest.Value(s.store.CreateGroup(s.ctx, testOrg, g.Group, g.Places))(t)
	}
	d := apitest.Value(s.store.OpenDirectory(s.ctx, testOrg))(t)
	everyone := s.find(List{By: ByUID, Limit: 100})
	equal(t, "resources", len(everyone), 7)
	for _, r := range everyone {
		got, ok := d.Find(testCA, r.UID)
		equal(t, r.UID+" is known", ok, true)
		equal(t, "teams of "+r.UID, got.Teams, r.TeamIDs)
		equal(t, "groups of "+r.UID, got.Groups, r.GroupIDs)
		equal(t, "type and region of "+r.UID, got.Type+" "+got.Region, r.Type+" "+r.Region)
	}
}

func TestDirectory_FindsAnAliasInTheAccountOfTheBill(t *testing.T) {
	s := newFixture(t)
	s.account("ca_2", "staging")
	for account, uid := range map[string]string{
		testCA: "//compute.googleapis.com/projects/shop/zones/z/disks/data",
		"ca_2": "//compute.googleapis.com/projects/test/zones/z/disks/data",
	} {
		sc := s.scan("job_1")
		sc.AccountID = account
		s.upsert(sc, cloud.Resource{UID: uid, Name: uid, Type: "aws-ec2", Status: cloud.Running})
	}
	d := apitest.Value(s.store.OpenDirectory(s.ctx, testOrg))(t)
	for account, want := range map[string]string{testCA: "shop", "ca_2": "test", "ca_3": ""} {
		got, ok := d.Find(account, "//compute.googleapis.com/projects/1234567/zones/z/disks/data")
		if want == "" && !ok || ok && got.UID == "//compute.googleapis.com/projects/"+want+"/zones/z/disks/data" {
			continue
		}
		t.Errorf("in %s it is %q, %v; want that of project %q", account, got.UID, ok, want)
	}
}

func TestIsGenerated_KnowsTheIDsOfEC2(t *testing.T) {
	for id, want := range map[string]bool{
		"vol-0a1b2c3d": true, "i-0123456789abcdef0": true, "vol-0a1b2c3": false, "i-0123456789abcdef01": false,
		"-0a1b2c3d": false, "vol0a1b2c3d": false, "Vol-0a1b2c3d": false, "vol-0A1b2c3d": false,
		"my-vol-0a1b2c3d": false,
		"":                false,
	} {
		if got := isGenerated(id); got != want {
			t.Errorf("%q: %t; want %t", id, got, want)
		}
	}
}
