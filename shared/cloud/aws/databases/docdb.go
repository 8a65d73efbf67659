package databases

import (
	"lamplighter.dev/shared/cloud"
)

// DocumentClusters are DocumentDB clusters; the uid is the ARN. AWS starts a stopped one by itself after seven days.
var DocumentClusters = databaseClusters(cloud.AWSDocDB, func(engine string) bool { return engine == "docdb" })
