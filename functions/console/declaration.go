package console

import (
	"lamplighter.dev/shared/api/platform"
)

// Declaration lists the resources that this function uses: none but its own files.
var Declaration = platform.Declaration{
	Name:    "console",
	Samples: []string{"get-start"},
}
