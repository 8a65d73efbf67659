package cloud

import (
	"slices"
	"strings"
)

// regionNames are the names of the regions by provider, in the spelling of their APIs. They include the regions for
// governments and China. Sources, read in November 2026: the partitions of the AWS SDK for Go v2 (partitions.json), the
// lists of regions of Azure and Google Cloud. An account that names no regions uses every region that its cloud lists,
// so a region that is missing here is found there.
var regionNames = map[string]string{
	"aws": `af-south-1 ap-east-1 ap-east-2 ap-northeast-1 ap-northeast-2 ap-northeast-3 ap-south-1 ap-south-2
		ap-southeast-1 ap-southeast-2 ap-southeast-3 ap-southeast-4 ap-southeast-5 ap-southeast-6 ap-southeast-7
		ca-central-1 ca-west-1 cn-north-1 cn-northwest-1 eu-central-1 eu-central-2 eu-isoe-west-1 eu-north-1
		eu-south-1 eu-south-2 eu-west-1 eu-west-2 eu-west-3 eusc-de-east-1 il-central-1 me-central-1 me-south-1
		mx-central-1 sa-east-1 us-east-1 us-east-2 us-gov-east-1 us-gov-west-1 us-iso-east-1 us-iso-west-1
		us-isob-east-1 us-isob-west-1 us-isof-east-1 us-isof-south-1 us-west-1 us-west-2`,
	"azure": `australiacentral australiacentral2 australiaeast australiasoutheast austriaeast belgiumcentral
		brazilsouth brazilsoutheast canadacentral canadaeast centralindia centralus centraluseuap chilecentral
		chinaeast chinaeast2 chinaeast3 chinanorth chinanorth2 chinanorth3 denmarkeast eastasia eastus eastus2
		eastus2euap eastus3 francecentral francesouth germanynorth germanywestcentral indiasouthcentral
		indonesiacentral israelcentral israelnorthwest italynorth japaneast japanwest jioindiacentral jioindiawest
		koreacentral koreasouth malaysiasouth malaysiawest mexicocentral newzealandnorth northcentralus northeurope
		norwayeast norwaywest polandcentral qatarcentral saudiarabiaeast southafricanorth southafricawest
		southcentralus southeastasia southeastus southindia spaincentral swedencentral swedensouth switzerlandnorth
		switzerlandwest taiwannorth taiwannorthwest uaecentral uaenorth uksouth ukwest usdodcentral usdodeast
		usgovarizona usgoviowa usgovtexas usgovvirginia westcentralus westeurope westindia westus westus2 westus3`,
	"gcp": `africa-south1 asia-east1 asia-east2 asia-northeast1 asia-northeast2 asia-northeast3 asia-south1
		asia-south2 asia-southeast1 asia-southeast2 asia-southeast3 australia-southeast1 australia-southeast2
		europe-central2 europe-north1 europe-north2 europe-southwest1 europe-west1 europe-west10 europe-west12
		europe-west2 europe-west3 europe-west4 europe-west6 europe-west8 europe-west9 me-central1 me-central2
		me-west1 northamerica-northeast1 northamerica-northeast2 northamerica-south1 southamerica-east1
		southamerica-west1 us-central1 us-central2 us-east1 us-east4 us-east5 us-east7 us-south1 us-west1 us-west2
		us-west3 us-west4 us-west8`,
	"kubernetes": `cluster`, // a cluster of no cloud
	"simulated": `us-east-1 us-east-2 us-west-2 eu-west-1 eu-central-1 ap-southeast-1 ap-northeast-1 eu-north-1
		us-west-1 ca-central-1 sa-east-1 eu-west-2 eu-west-3 ap-south-1 ap-southeast-2 ap-northeast-2 ap-northeast-3`,
}

// IsRegion reports whether the provider has a region of this name. It accepts any name for a provider that is not known
// here.
func IsRegion(provider, name string) bool {
	names, known := regionNames[provider]
	return !known || slices.Contains(strings.Fields(names), name)
}
