package recommender

import (
	"testing"

	"lamplighter.dev/shared/domain/inventory"
	"lamplighter.dev/shared/domain/recommendation"
	"lamplighter.dev/shared/domain/rule/condition"
)

func TestEnvironment_FollowsFromTags(t *testing.T) {
	for name, tt := range map[string]struct {
		tags, smart map[string]string
		want        string
	}{
		"a tag names production":               {map[string]string{"env": "Production"}, nil, "prod"},
		"a word of the value names production": {map[string]string{"environment": "eu-prod-2"}, nil, "prod"},
		"pre-prod is not production":           {map[string]string{"env": "pre-prod"}, nil, "nonprod"},
		"nonprod is not production":            {map[string]string{"env": "non_production"}, nil, "nonprod"},
		"staging is not production":            {map[string]string{"stage": "Staging"}, nil, "nonprod"},
		"a smart tag names it":                 {nil, map[string]string{"env": "dev"}, "nonprod"},
		"the resource's tag wins over the smart tag": {
			map[string]string{"env": "prod"}, map[string]string{"env": "dev"}, "prod",
		},
		"a value that names none leaves it unknown":      {map[string]string{"env": "blue"}, nil, ""},
		"a part of a word names none":                    {map[string]string{"env": "productive-team"}, nil, ""},
		"another tag than those of environments is none": {map[string]string{"owner": "prod"}, nil, ""},
		"without tags it is unknown":                     {nil, nil, ""},
	} {
		t.Run(name, func(t *testing.T) {
			if got := environmentOf(lowerTags(tt.tags), lowerTags(tt.smart)); got != tt.want {
				t.Errorf("%q, want %q", got, tt.want)
			}
		})
	}
}

func TestLowerTags_KeepTheTagOfTheResource(t *testing.T) {
	const spaced = " Env "
	got := lowerTags(map[string]string{spaced: "prod", "ENV": "dev"}, map[string]string{"env": "test", "team": "a"})
	if len(got) != 2 || got["env"] != "prod" || got["team"] != "a" {
		t.Errorf("%v", got)
	}
}

func TestController_IsKnownByItsMarks(t *testing.T) {
	for name, tt := range map[string]struct {
		tags map[string]string
		want string
	}{
		"a group of machines": {map[string]string{"aws:autoscaling:groupName": "web"}, "asg"},
		"a node group wins over its group": {
			map[string]string{"aws:autoscaling:groupName": "x", "eks:cluster-name": "c"}, "eks",
		},
		"a prefix of keys": {map[string]string{"kubernetes.io/cluster/c": "owned"}, "operator"},
		"a stack":          {map[string]string{"aws:cloudformation:stack-name": "s"}, "cloudformation"},
		"Helm":             {map[string]string{"app.kubernetes.io/managed-by": "Helm"}, "helm"},
		"GitOps wins over Helm": {map[string]string{
			"app.kubernetes.io/managed-by": "Helm",
			"argocd.argoproj.io/instance":  "shop",
		}, "gitops"},
		"a tag of one's own":                   {map[string]string{"managed-by": "Terraform"}, "terraform"},
		"a switch that is off marks nothing":   {map[string]string{"terraform": "false"}, ""},
		"tags of other subjects mark nothing":  {map[string]string{"team": "web"}, ""},
		"a resource without tags is unmanaged": {nil, ""},
	} {
		t.Run(name, func(t *testing.T) {
			if got := inventory.ControllerOf(lowerTags(tt.tags)); got != tt.want {
				t.Errorf("%q, want %q", got, tt.want)
			}
		})
	}
}

func TestEnvironment_IsThatOfTheAccountIfNoTagNamesOne(t *testing.T) {
	for name, tt := range map[string]struct {
		tags    map[string]string
		account string
		want    any
		why     condition.Reason
	}{
		"a tag wins":            {map[string]string{"env": "prod"}, "nonprod", "prod", ""},
		"the account's":         {map[string]string{"team": "shop"}, "nonprod", "nonprod", ""},
		"neither names one":     {map[string]string{"team": "shop"}, "", nil, untagged},
		"an account without it": {nil, "", nil, untagged},
	} {
		t.Run(name, func(t *testing.T) {
			s := newSubject(t)
			s.Tags, s.accounts = tt.tags, map[string]inventory.Account{"ca_1": {Environment: tt.account}}
			if v, why := s.environment(); v != tt.want || why != tt.why {
				t.Errorf("%v (%q), want %v (%q)", v, why, tt.want, tt.why)
			}
		})
	}
}

// A recommendation knows the code that its resource is made from, and the code is part of what it shows.
func TestEvaluate_StoresTheCodeThatAResourceIsMadeFrom(t *testing.T) {
	f := newFixture(t)
	v := f.volume("vol-waste", 60)
	f.discover("aws-ebs", v)
	f.bill(map[string]string{"vol-waste": "5"})
	f.evaluate()
	if code := f.row().Code; code != nil {
		t.Errorf("without a mark: %+v", code)
	}
	f.Clock.Advance(day)
	v.Tags = map[string]string{"aws:cloudformation:stack-name": "shop", "aws:cloudformation:logical-id": "Data"}
	f.discover("aws-ebs", v)
	f.evaluate()
	want := recommendation.Code{Tool: "cloudformation", Name: "shop", Part: "Data"}
	if code := f.row().Code; code == nil || *code != want {
		t.Errorf("%+v, want %+v", code, want)
	}
}
