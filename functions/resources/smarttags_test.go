package resources

import (
	"fmt"
	"net/http"
	"testing"

	"lamplighter.dev/shared/domain/smarttag"
	"lamplighter.dev/shared/testkit/apitest"
)

// TestSmartTags_AreThoseThatWereAccepted checks the tags in lists, of one resource, by native IDs and in exports. A
// reader that has read the tags does not read them again.
func TestSmartTags_AreThoseThatWereAccepted(t *testing.T) {
	a := newFixture(t)
	smart := smarttag.NewStore(a.Table)
	p := smarttag.Policy{ID: "tagp_1", Name: "Kinds", Key: "kind", Fields: []string{"res.type"}, Version: 1}
	a.Must(smart.Put(a.In(ours), ours, p))
	told := func() string {
		a.Helper()
		list := apitest.Data[[]Record](a.getPath("/resources?search=web-&limit=2"))
		return fmt.Sprint(list[0].UID, list[0].SmartTags, list[1].UID, list[1].SmartTags)
	}
	a.Equal("before anything is accepted", told(), "i-0map[]i-1map[]")
	a.Must(smart.Accept(a.In(ours), ours,
		[]smarttag.Derived{
			{UID: "i-0", Key: "kind", Value: "aws-ec2", PolicyID: p.ID},
			{UID: "i-1", Key: "kind", Value: "aws-s3", PolicyID: p.ID},
		}))
	a.Equal("accepted", told(), "i-0map[kind:aws-ec2]i-1map[]") // i-1 has none with the value that is derived
	if w := a.call(ours, http.MethodGet, "/resources", ""); w.Usage.RoundTrips > 2 {
		t.Errorf("%d round trips when nothing has changed; want two at most", w.Usage.RoundTrips)
	}
	list := apitest.Data[[]Record](a.getPath("/resources?search=web-0&limit=1"))
	want := `"smartTags":{"kind":"aws-ec2"}`
	a.getPath("/resources/"+list[0].ID).Want(http.StatusOK, want)
	a.call(ours, http.MethodPost, "/resources/by-uids", `{"uids":["i-0"]}`).Want(http.StatusOK, want)
	a.getPath("/resources/export?format=ndjson").Want(http.StatusOK, want)
	a.Must(smart.Revoke(a.In(ours), ours, []smarttag.Derived{{UID: "i-0", Key: "kind"}}))
	a.Equal("taken back", told(), "i-0map[]i-1map[]")
	a.Must(smart.Accept(a.In(ours), ours,
		[]smarttag.Derived{{UID: "i-0", Key: "kind", Value: "aws-ec2", PolicyID: p.ID}}))
	a.Must(smart.Delete(a.In(ours), ours, p))
	a.Equal("without its policy", told(), "i-0map[]i-1map[]")
}
