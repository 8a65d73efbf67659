package links

import (
	"lamplighter.dev/shared/api/platform"
	"lamplighter.dev/shared/engine/archive"
)

// Declaration is what others must know of this function. It reads and writes no table.
var Declaration = platform.Declaration{Name: archive.LinkWorker, Heavy: true, Share: 8, Samples: []string{"refused"}}
