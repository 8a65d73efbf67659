package showback

import (
	"lamplighter.dev/shared/api/platform"
	"lamplighter.dev/shared/api/rest"
	"lamplighter.dev/shared/domain/report"
	"lamplighter.dev/shared/engine/table"
	"lamplighter.dev/shared/people/teams"
)

// Declaration declares the routes, the table access and the sample events of this function.
var Declaration = platform.Declaration{
	Name:    "showback",
	Secrets: []platform.Secret{platform.PepperSecret},
	Routes:  []string{"/showback/rules", "/showback/rules/{ruleID}"},
	Access: rest.Access.With(table.Access{
		Reads:  []table.Partition{teams.Partition},
		Writes: []table.Partition{report.ShowbackPartition},
	}),
	Samples: []string{"list"},
	Kinds:   []platform.Kind{{Name: "showback rule", Prefix: "rule", Delete: "deleteShowbackRule"}},
	Names: []platform.Reference{
		{From: "showback rule", To: "team", Fields: []string{"teamID"}, OnDelete: platform.Refused},
	},
}
