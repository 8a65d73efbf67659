package painter

import (
	"lamplighter.dev/shared/api/chart"
	"lamplighter.dev/shared/api/platform"
)

// Declaration declares the name, the size and the sample events of this function.
var Declaration = platform.Declaration{Name: chart.Worker, Heavy: true, Share: 8, Samples: []string{"draw"}}
