package stacks_test

import (
	"fmt"
	"regexp"
	"strings"
	"testing"

	"lamplighter.dev/infra/stacks"
)

// The anchors of the audit log can be deleted by nobody: the bucket locks each version, no statement of any function
// names a deletion in it, and a policy denies the markers that would hide an object.
func TestAnchors_AreLockedAndOnlyAdded(t *testing.T) {
	files, err := stacks.Read(root)
	if err != nil {
		t.Fatal(err)
	}
	_, text, _ := strings.Cut(string(files[0].Text), "\n  Anchors:")
	text, _, _ = strings.Cut(text, "\n  LineItems:")
	for _, want := range []string{
		"ObjectLockEnabled: true", "DefaultRetention: {Mode: COMPLIANCE,", "VersioningConfiguration: {Status: Enabled}",
		"BlockPublicPolicy: true", "DeletionPolicy: Retain",
		"- Effect: Deny\n            Principal: \"*\"\n            Action: [s3:DeleteObject, s3:DeleteObjectVersion]",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("the bucket of anchors has no %q: %s", want, text)
		}
	}
	users := 0
	for _, f := range files[1:] {
		for id, r := range parseFile(t, f) {
			if r.Type != "AWS::Serverless::Function" || !strings.Contains(fmt.Sprint(r.Properties), "Anchors") {
				continue
			}
			users++
			for _, s := range r.statements() {
				text := fmt.Sprint(s)
				if strings.Contains(text, "AnchorsArn") &&
					regexp.MustCompile(`Delete|Lock|Retention|s3:\*`).MatchString(text) {
					t.Errorf("%s may do more with anchors than add and read them: %s", id, text)
				}
			}
		}
	}
	if users != 1 {
		t.Errorf("%d functions use the bucket of anchors, want the one that makes them", users)
	}
}
