package remediation

import (
	"net/http"
	"testing"

	domain "lamplighter.dev/shared/domain/remediation"
	"lamplighter.dev/shared/foundation/fault"
	"lamplighter.dev/shared/testkit/apitest"
)

// A dry run shows the patch for the code of a resource; a request to change the resource is refused.
func TestRemediate_ADryRunShowsThePatchOfAResourceOfCode(t *testing.T) {
	f := newFixture(t)
	patch := domain.NewPatch(domain.CodeOwner{Tool: "terraform"}, domain.PatchSubject{
		Type: "aws-ec2", UID: "i-0", Verb: "resize", After: map[string]string{"class": "m5.large"},
	})
	f.problems[f.recs[0]] = domain.Problem{Kind: fault.Conflict, Message: "is managed by terraform", Patch: &patch}
	got := apitest.Data[WorkflowDryRun](f.remediate(ada, 0, `{"dryRun":true}`), http.StatusOK)
	f.Equal("patch", apitest.JSON(got.Targets[0].Plan.Patch), apitest.JSON(patch))
	f.remediate(ada, 0, `{}`).Want(http.StatusConflict, "is managed by terraform")
	f.Call(ada, "POST /remediation-workflows",
		`{"recommendationIDs":["`+f.recs[0]+`"]}`).Want(http.StatusConflict, "is managed by terraform")
	f.problems[f.recs[0]] = domain.Problem{Kind: fault.Conflict, Message: "it is dismissed"}
	f.remediate(ada, 0, `{"dryRun":true}`).Want(http.StatusConflict, "it is dismissed")
}
