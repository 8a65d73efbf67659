package links

import (
	"lamplighter.dev/shared/api/platform"
	"lamplighter.dev/shared/engine/archive"
)

// Declaration declares the function to the registry. It reads and writes no table.
var Declaration = platform.Declaration{Name: archive.LinkWorker, Heavy: true, Share: 8, Samples: []string{"refused"}}
