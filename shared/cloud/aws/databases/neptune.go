package databases

import (
	"lamplighter.dev/shared/cloud"
)

// GraphClusters are Neptune clusters; the uid is the ARN. AWS starts a stopped one by itself after seven days.
var GraphClusters = databaseClusters(cloud.AWSNeptune, func(engine string) bool { return engine == "neptune" })
