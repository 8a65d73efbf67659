package aws

import "lamplighter.dev/shared/cloud"

// documentClusters are DocumentDB clusters; the uid is the ARN. AWS starts a stopped one by itself after seven days.
var documentClusters = databaseClusters(cloud.AWSDocDB, func(engine string) bool { return engine == "docdb" })
