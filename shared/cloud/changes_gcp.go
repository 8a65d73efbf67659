package cloud

// gcpChanges are the changes of Google Cloud.
var gcpChanges = []KindChange{}
