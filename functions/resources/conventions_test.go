package resources

import (
	"encoding/csv"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"time"

	"lamplighter.dev/shared/api/platform"
	"lamplighter.dev/shared/api/rest"
	"lamplighter.dev/shared/cloud"
	"lamplighter.dev/shared/testkit/apitest"
	"lamplighter.dev/shared/testkit/inventorytest"
)

func TestByUIDs_EachResourceOnce(t *testing.T) {
	a := newFixture(t)
	w := a.call(ours, http.MethodPost, "/resources/by-uids", `{"uids":["i-2","i-0","i-2","none","i-0","none"]}`)
	if got := recordNames(apitest.Data[[]Record](w)); got != "i-2 i-0" {
		t.Errorf("%s, want i-2 i-0", got)
	}
}

func TestFilters_SeveralValuesAndTimes(t *testing.T) {
	a := newFixture(t)
	second := "ca_01k00000000000000000000009"
	for query, want := range map[string]string{
		"type=aws-ec2,aws-rds":                                     "db-1 i-0 i-1 i-2",
		"type=aws-rds&type=aws-asg":                                "db-1",
		"status=stopped&status=running":                            "db-1 i-0 i-1 i-2",
		"status=terminated,stopped":                                "db-1",
		"status=terminated,stopped&type=aws-ec2":                   "",
		"region=eu-west-1,us-east-1&provider=aws,gcp":              "db-1 i-0 i-1 i-2",
		"region=us-east-1,us-east-2":                               "",
		"cloud_account_id=" + second + "," + inventorytest.Account: "db-1 i-0 i-1 i-2",
		"cloud_account_id=" + second:                               "",
		// the creation time of the database is unknown
		"created_after=2026-03-10":                           "i-0 i-1 i-2",
		"created_after=2026-03-10T08:30:30Z":                 "i-0 i-1 i-2",
		"created_after=2026-03-10T08:30:31Z":                 "",
		"created_before=2026-03-10T08:30:30Z":                "",
		"created_before=2026-03-10T08:30:31Z":                "i-0 i-1 i-2",
		"created_before=1900-01-01":                          "",
		"created_after=1900-01-01&created_before=3000-01-01": "i-0 i-1 i-2",
	} {
		if got := recordNames(apitest.Data[[]Record](a.getPath("/resources?" + query))); got != want {
			t.Errorf("%s: %s, want %s", query, got, want)
		}
	}
}

// An export stays complete while discoveries run: each resource that existed at its beginning is in it once.
func TestExport_InPiecesWhileResourcesComeAndGo(t *testing.T) {
	a := newFixture(t)
	a.Mount(func(p *platform.Platform) *rest.Group {
		g := rest.NewGroup("Resources")
		s := newService(p)
		s.most = rest.Bounds{Rows: 7}
		s.listOperations(g)
		return g
	})
	for n := range 30 {
		inventorytest.Discover(a.Fixture, ours, "aws-ec2",
			cloud.Resource{
				UID: fmt.Sprintf("m-%02d", n), Name: strconv.Itoa(99 - n), Status: cloud.Running,
				CreatedAt: apitest.Start.Add(-time.Hour),
			})
	}
	seen, pieces := map[string]int{}, 0
	for target := "/resources/export?cursor=*&status=running,stopped"; target != ""; pieces++ {
		w := a.getPath(target)
		rows, err := csv.NewReader(strings.NewReader(w.Body)).ReadAll()
		if err != nil || w.Status != http.StatusOK || len(rows) > 8 {
			t.Fatalf("%s: %d, %d rows, %v", target, w.Status, len(rows), err)
		}
		for _, cells := range rows[1:] {
			seen[cells[1]]++
		}
		target = strings.TrimPrefix(strings.TrimSuffix(w.Header.Get("Link"), `>; rel="next"`), "<")
		for _, uid := range []string{"a", "m-00a", "z"} { // before, within and after the exported UIDs
			inventorytest.Discover(a.Fixture, ours, "aws-ec2",
				cloud.Resource{UID: fmt.Sprint(uid, pieces), Name: fmt.Sprint(uid, pieces), Status: cloud.Running})
		}
		inventorytest.Discover(a.Fixture, ours, "aws-ec2",
			cloud.Resource{UID: "m-29", Name: fmt.Sprint("0 renamed ", pieces), Status: cloud.Running})
		if pieces > 50 {
			t.Fatal("it has no end")
		}
	}
	for uid, n := range seen {
		if n != 1 {
			t.Errorf("%s is in it %d times", uid, n)
		}
	}
	for n := range 30 {
		if uid := fmt.Sprintf("m-%02d", n); seen[uid] != 1 {
			t.Errorf("%s is in it %d times", uid, seen[uid])
		}
	}
	if pieces < 5 || seen["db-1"] != 1 || seen["i-0"] != 1 {
		t.Errorf("%d pieces, %v", pieces, seen)
	}
}
