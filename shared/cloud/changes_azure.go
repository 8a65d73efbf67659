package cloud

// azureChanges are the changes of Azure.
var azureChanges = []KindChange{}
