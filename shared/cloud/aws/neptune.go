package aws

import "lamplighter.dev/shared/cloud"

// graphClusters are Neptune clusters; the uid is the ARN. AWS starts a stopped one by itself after seven days.
var graphClusters = databaseClusters(cloud.AWSNeptune, func(engine string) bool { return engine == "neptune" })
