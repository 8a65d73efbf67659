package description

import (
	"lamplighter.dev/shared/api/platform"
)

// Declaration lists the resources that this function uses.
var Declaration = platform.Declaration{
	Name:    "description",
	Samples: []string{"get-health"},
}
