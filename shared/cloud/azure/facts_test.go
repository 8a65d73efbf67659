package azure_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"testing"

	"lamplighter.dev/shared/testkit/clouds/azuretwin"
	"lamplighter.dev/shared/testkit/clouds/cloudtest"
)

// bodies are resources with every field, by type. The names are those of Azure Resource Manager.
var bodies = map[string]string{
	"Microsoft.Compute/virtualMachines web": `{"zones":["1"],"properties":{"licenseType":"Windows_Server","virtualMachineScaleSet":{"id":"/S/Set"},
		"storageProfile":{"osDisk":{"osType":"Windows","managedDisk":{"id":"/d"},"diffDiskSettings":{"option":"Local"}}},
		"hardwareProfile":{"vmSize":"Standard_B2s"},"securityProfile":{"encryptionAtHost":true},"availabilitySet":{"id":"/S/AV"}}}`,
	"Microsoft.Network/networkInterfaces web-nic": `{"properties":{"virtualMachine":{"id":"VM"},
		"ipConfigurations":[{"properties":{"publicIPAddress":{"id":"/ip"}}}]}}`,
	"Microsoft.SqlVirtualMachine/sqlVirtualMachines web": `{"properties":{"virtualMachineResourceId":"VM","sqlImageSku":"Enterprise","sqlServerLicenseType":"PAYG"}}`,
	"Microsoft.Compute/virtualMachineScaleSets set": `{"sku":{"name":"Standard_D2s_v5","capacity":3},"zones":["1","2"],"tags":{"aks-managed-poolName":"x"},
		"properties":{"provisioningState":"Succeeded","virtualMachineProfile":{"priority":"Spot","extensionProfile":{"extensions":[{"properties":{"type":"ApplicationHealthLinux"}}]}}}}`,
	"Microsoft.ContainerService/managedClusters prod": `{"sku":{"name":"Base","tier":"Standard"},"properties":{"provisioningState":"Succeeded","currentKubernetesVersion":"1.33.2",
		"powerState":{"code":"Running"},"apiServerAccessProfile":{"enablePrivateCluster":true,"authorizedIPRanges":["192.0.2.0/24"]},"aadProfile":{"managed":true},
		"addonProfiles":{"omsagent":{"enabled":true}}}}`,
	"Microsoft.DBforPostgreSQL/flexibleServers pg": `{"sku":{"name":"Standard_D4ds_v5","tier":"GeneralPurpose"},"properties":{"state":"Ready",
		"highAvailability":{"mode":"ZoneRedundant"},"storage":{"storageSizeGB":128,"autoGrow":"Enabled"},"backup":{"geoRedundantBackup":"Enabled"},
		"replicationRole":"Primary","network":{"publicNetworkAccess":"Enabled"}}}`,
	"Microsoft.DBforMySQL/flexibleServers my": `{"sku":{"name":"Standard_B1ms","tier":"Burstable"},"properties":{"state":"Ready","storage":{"iops":360,"autoIoScaling":"Enabled"}}}`,
	"Microsoft.App/containerApps api": `{"properties":{"runningStatus":"Running","template":{"scale":{"minReplicas":1},"containers":[{"resources":{"cpu":0.5}},{"resources":{"cpu":0.25}}]},
		"configuration":{"ingress":{"allowInsecure":true}}}}`,
	"Microsoft.Web/sites site":                    `{"kind":"app","properties":{"state":"Running","httpsOnly":true,"serverFarmId":"PLAN","siteConfig":{"minTlsVersion":"1.2"}}}`,
	"Microsoft.Web/serverfarms plan":              `{"sku":{"name":"P1v3","tier":"PremiumV3","capacity":2},"properties":{"status":"Ready","numberOfSites":3,"zoneRedundant":true}}`,
	"Microsoft.Synapse/workspaces/sqlPools ws/dw": `{"sku":{"name":"DW100c"},"properties":{"status":"Online"}}`,
	"Microsoft.Sql/managedInstances mi": `{"sku":{"name":"GP_Gen5","tier":"GeneralPurpose"},"properties":{"state":"Ready","vCores":8,"storageSizeInGB":256,
		"licenseType":"LicenseIncluded","publicDataEndpointEnabled":true}}`,
	"Microsoft.Sql/servers/databases s1/billing": `{"sku":{"name":"GP_S_Gen5","tier":"GeneralPurpose","capacity":2},"properties":{"status":"Online","autoPauseDelay":60,
		"licenseType":"BasePrice","maxSizeBytes":34359738368,"zoneRedundant":true,"currentBackupStorageRedundancy":"Geo"}}`,
	"Microsoft.ContainerInstance/containerGroups aci": `{"properties":{"instanceView":{"state":"Running"},"restartPolicy":"OnFailure"}}`,
	"Microsoft.Kusto/clusters adx":                    `{"sku":{"name":"Standard_E2","tier":"Standard","capacity":2},"properties":{"state":"Running","optimizedAutoscale":{"isEnabled":true},"enableAutoStop":true}}`,
	"Microsoft.Network/applicationGateways gw": `{"properties":{"sku":{"name":"WAF_v2","capacity":2},"operationalState":"Running","autoscaleConfiguration":{"minCapacity":1},
		"backendAddressPools":[{"properties":{"backendAddresses":[{"fqdn":"a"}],"backendIPConfigurations":[{"id":"/x"}]}}],"sslPolicy":{"minProtocolVersion":"TLSv1_2"}}}`,
	"Microsoft.Fabric/capacities fabric":      `{"sku":{"name":"F2","tier":"Fabric"},"properties":{"state":"Active"}}`,
	"Microsoft.AnalysisServices/servers cube": `{"sku":{"name":"S1","tier":"Standard"},"properties":{"state":"Succeeded"}}`,
	"Microsoft.Compute/disks asrreplica-1":    `{"managedBy":"VM","properties":{"diskState":"Attached","diskSizeGB":64,"publicNetworkAccess":"Enabled","networkAccessPolicy":"AllowAll"}}`,
	"Microsoft.Network/publicIPAddresses ip":  `{"sku":{"name":"Standard"},"properties":{"publicIPAllocationMethod":"Static"}}`,
	"Microsoft.Network/loadBalancers lb":      `{"sku":{"name":"Standard"},"properties":{}}`,
}

// tellAll puts those into the twin; words in capitals are ids that Azure makes.
func tellAll(t *testing.T, tw *azuretwin.Cloud) {
	t.Helper()
	vm := tw.AddVM("web", region, nil)
	plan := tw.AddOther("Microsoft.Web/serverfarms", "plan", region, nil)
	ids := map[string]any{"VM": vm.ID, "PLAN": plan.ID}
	for key, text := range bodies {
		var armType, name string
		var body map[string]any
		if _, err := fmt.Sscan(key, &armType, &name); err != nil {
			t.Fatal(err)
		}
		if err := json.Unmarshal([]byte(text), &body); err != nil {
			t.Fatalf("%s: %v", key, err)
		}
		withIDs(body, ids)
		switch armType + " " + name {
		case "Microsoft.Compute/virtualMachines web":
			maps.Copy(vm.Body, body)
		case "Microsoft.Web/serverfarms plan":
			maps.Copy(plan.Body, body)
		case "Microsoft.ContainerService/managedClusters prod":
			tellPool(tw, tw.AddOther(armType, name, region, body))
		default:
			tw.AddOther(armType, name, region, body)
		}
	}
}

func tellPool(tw *azuretwin.Cloud, cluster *azuretwin.Resource) {
	maps.Copy(tw.AddPool(cluster, "user", 2, 1, 4).Properties(), map[string]any{
		"scaleSetPriority": "Spot", "osDiskType": "Ephemeral", "availabilityZones": []any{"1"},
		"currentOrchestratorVersion": "1.31.5",
	})
}

func withIDs(v any, ids map[string]any) {
	m, _ := v.(map[string]any)
	for key, under := range m {
		if id, ok := under.(string); ok && ids[id] != nil {
			m[key] = ids[id]
		}
		withIDs(under, ids)
	}
}

func TestFacts_AreAllToldThatTheRulesRead(t *testing.T) {
	tw := &azuretwin.Cloud{}
	tellAll(t, tw)
	found := cloudtest.ListAll(t, open(t, tw, principal(azuretwin.Secret)), region, cloudtest.KindsOf("azure")...)
	cloudtest.CheckFacts(t, "azure", found)
	told := map[string]any{}
	for _, r := range found {
		for name, v := range r.Facts {
			told[r.Type+"."+name] = v
		}
	}
	for name, want := range map[string]any{
		"azure-vm.public_ip": true, "azure-vm.sql_edition": "Enterprise", "azure-vm.burstable": true,
		"azure-vm.vmss_id":        "/s/set",
		"azure-vmss.health_probe": true, "azure-aks-nodepool.version_lag": 2.0, "azure-aks-nodepool.spot": true,
		"azure-aks.local_accounts":         true,
		"azure-postgresql-flexible.vcores": 4.0, "azure-mysql-flexible.ha_mode": "Disabled",
		"azure-containerapp.cpu_cores":      0.75,
		"azure-appserviceplan.running_apps": 1.0, "azure-synapse-sqlpool.dwu": 100.0, "azure-sql-database.max_gb": 32.0,
		"azure-sql-database.sibling_count": 1.0, "azure-sql-database.serverless": true,
		"azure-disk.vm_state": "running", "azure-disk.asr": true,
		"azure-disk.public_access": true, "azure-appgateway.backend_count": 2.0, "azure-appgateway.autoscale_min": 1.0,
	} {
		if told[name] != want {
			t.Errorf("%s is told as %v; want %v", name, told[name], want)
		}
	}
}
