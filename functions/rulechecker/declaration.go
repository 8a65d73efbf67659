package rulechecker

import (
	"lamplighter.dev/shared/api/platform"
	"lamplighter.dev/shared/domain/recommendation"
)

// Declaration declares the name and the sample events of this function. It touches no partition and no secret.
var Declaration = platform.Declaration{
	Name: recommendation.CheckWorker, Heavy: true, Share: 2, Samples: []string{"refused"},
}
