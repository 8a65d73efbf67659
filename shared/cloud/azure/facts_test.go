package azure_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"testing"

	"lamplighter.dev/shared/cloud"
	"lamplighter.dev/shared/testkit/clouds/azuretwin"
	"lamplighter.dev/shared/testkit/clouds/cloudtest"
)

// bodies are resources with every field, by type. The names are those of Azure Resource Manager.
var bodies = map[string]string{
	"Microsoft.Compute/virtualMachines web": `{"zones":["1"],"properties":{"licenseType":"Windows_Server",
		"virtualMachineScaleSet":{"id":"/S/Set"},
		"storageProfile":{"osDisk":{"osType":"Windows","managedDisk":{"id":"/d"},
		"diffDiskSettings":{"option":"Local"}}},
		"hardwareProfile":{"vmSize":"Standard_B2s"},"securityProfile":{"encryptionAtHost":true},
		"availabilitySet":{"id":"/S/AV"}}}`,
	"Microsoft.Network/networkInterfaces web-nic": `{"properties":{"virtualMachine":{"id":"VM"},
		"ipConfigurations":[{"properties":{"publicIPAddress":{"id":"/ip"}}}]}}`,
	"Microsoft.SqlVirtualMachine/sqlVirtualMachines web": `{"properties":{"virtualMachineResourceId":"VM",
		"sqlImageSku":"Enterprise","sqlServerLicenseType":"PAYG"}}`,
	"Microsoft.Compute/virtualMachineScaleSets set": `{"sku":{"name":"Standard_D2s_v5","capacity":3},"zones":["1",
		"2"],"tags":{"aks-managed-poolName":"x"},
		"properties":{"provisioningState":"Succeeded","virtualMachineProfile":{"priority":"Spot",
		"extensionProfile":{"extensions":[{"properties":{"type":"ApplicationHealthLinux"}}]}}}}`,
	"Microsoft.ContainerService/managedClusters prod": `{"sku":{"name":"Base","tier":"Standard"},
		"properties":{"provisioningState":"Succeeded","currentKubernetesVersion":"1.33.2",
		"powerState":{"code":"Running"},"apiServerAccessProfile":{"enablePrivateCluster":true,
		"authorizedIPRanges":["192.0.2.0/24"]},"aadProfile":{"managed":true},
		"addonProfiles":{"omsagent":{"enabled":true}}}}`,
	"Microsoft.DBforPostgreSQL/flexibleServers pg": `{"sku":{"name":"Standard_D4ds_v5","tier":"GeneralPurpose"},
		"properties":{"state":"Ready",
		"highAvailability":{"mode":"ZoneRedundant"},"storage":{"storageSizeGB":128,"autoGrow":"Enabled"},
		"backup":{"geoRedundantBackup":"Enabled"},
		"version":"12","replicationRole":"Primary","network":{"publicNetworkAccess":"Enabled"}}}`,
	"Microsoft.DBforMySQL/flexibleServers my": `{"sku":{"name":"Standard_B1ms","tier":"Burstable"},
		"properties":{"state":"Ready","storage":{"iops":360,"autoIoScaling":"Enabled"}}}`,
	"Microsoft.App/containerApps api": `{"properties":{"runningStatus":"Running",
		"template":{"scale":{"minReplicas":1},"containers":[{"resources":{"cpu":0.5}},{"resources":{"cpu":0.25}}]},
		"configuration":{"ingress":{"allowInsecure":true}}}}`,
	"Microsoft.Web/sites site": `{"kind":"app","properties":{"state":"Running","httpsOnly":true,
		"serverFarmId":"PLAN","siteConfig":{"minTlsVersion":"1.2"}}}`,
	"Microsoft.Web/serverfarms plan": `{"sku":{"name":"P1v3","tier":"PremiumV3","capacity":2},
		"properties":{"status":"Ready","numberOfSites":3,"zoneRedundant":true}}`,
	"Microsoft.Synapse/workspaces/sqlPools ws/dw": `{"sku":{"name":"DW100c"},"properties":{"status":"Online"}}`,
	"Microsoft.Sql/managedInstances mi": `{"sku":{"name":"GP_Gen5","tier":"GeneralPurpose"},
		"properties":{"state":"Ready","vCores":8,"storageSizeInGB":256,
		"licenseType":"LicenseIncluded","publicDataEndpointEnabled":true}}`,
	"Microsoft.Sql/servers/databases s1/billing": `{"sku":{"name":"GP_S_Gen5","tier":"GeneralPurpose","capacity":2},
		"properties":{"status":"Online","autoPauseDelay":60,
		"licenseType":"BasePrice","maxSizeBytes":34359738368,"zoneRedundant":true,
		"currentBackupStorageRedundancy":"Geo"}}`,
	"Microsoft.ContainerInstance/containerGroups aci": `{"properties":{"instanceView":{"state":"Running"},
		"restartPolicy":"OnFailure"}}`,
	"Microsoft.Kusto/clusters adx": `{"sku":{"name":"Standard_E2","tier":"Standard","capacity":2},
		"properties":{"state":"Running","optimizedAutoscale":{"isEnabled":true},"enableAutoStop":true}}`,
	"Microsoft.Network/applicationGateways gw": `{"properties":{"sku":{"name":"WAF_v2","capacity":2},
		"operationalState":"Running","autoscaleConfiguration":{"minCapacity":1},
		"backendAddressPools":[{"properties":{"backendAddresses":[{"fqdn":"a"}],
		"backendIPConfigurations":[{"id":"/x"}]}}],"sslPolicy":{"minProtocolVersion":"TLSv1_2"}}}`,
	"Microsoft.Fabric/capacities fabric": `{"sku":{"name":"F2","tier":"Fabric"},"properties":{"state":"Active"}}`,
	"Microsoft.AnalysisServices/servers cube": `{"sku":{"name":"S1","tier":"Standard"},
		"properties":{"state":"Succeeded"}}`,
	"Microsoft.Compute/disks asrreplica-1": `{"managedBy":"VM","properties":{"diskState":"Attached",
		"diskSizeGB":64,"publicNetworkAccess":"Enabled","networkAccessPolicy":"AllowAll"}}`,
	"Microsoft.Network/publicIPAddresses ip": `{"sku":{"name":"Standard"},
		"properties":{"publicIPAllocationMethod":"Static"}}`,
	"Microsoft.Network/loadBalancers lb": `{"sku":{"name":"Standard"},"properties":{}}`,
	"Microsoft.ContainerRegistry/registries acr": `{"sku":{"name":"Premium"},"properties":{"adminUserEnabled":true,
		"policies":{"retentionPolicy":{"status":"enabled"}},"privateEndpointConnections":[{"id":"/p"}]}}`,
	"Microsoft.ApiManagement/service apim": `{"sku":{"name":"Premium","capacity":2},"zones":["1","2"],
		"properties":{"virtualNetworkType":"External"}}`,
	"Microsoft.Compute/availabilitySets web-asr": `{"properties":{"virtualMachines":[{"id":"VM"}]}}`,
	"Microsoft.DocumentDB/databaseAccounts cosmos": `{"properties":{"locations":[{"id":"/a"},{"id":"/b"}],
		"capabilities":[{"name":"EnableServerless"}],"publicNetworkAccess":"Enabled","ipRules":[]}}`,
	"Microsoft.Network/ddosProtectionPlans ddos": `{"properties":{"virtualNetworks":[{"id":"/n"}]}}`,
	"Microsoft.Compute/hostGroups/hosts hg/host": `{"properties":{"virtualMachines":[]}}`,
	"Microsoft.EventHub/namespaces hub":          `{"sku":{"name":"Standard","capacity":4},"properties":{}}`,
	"Microsoft.Network/expressRouteCircuits circuit": `{"sku":{"tier":"Premium","family":"MeteredData"},
		"properties":{"serviceProviderProvisioningState":"Provisioned","peerings":[],
		"serviceProviderProperties":{"bandwidthInMbps":50}}}`,
	"Microsoft.Network/frontDoorWebApplicationFirewallPolicies waf": `{"properties":{
		"securityPolicyLinks":[{"id":"/a"}],"frontendEndpointLinks":[{"id":"/b"}]}}`,
	"Microsoft.KeyVault/vaults vault": `{"properties":{"enablePurgeProtection":true,
		"networkAcls":{"defaultAction":"Deny"}}}`,
	"Microsoft.OperationalInsights/workspaces logs": `{"properties":{"retentionInDays":90,
		"workspaceCapping":{"dailyQuotaGb":5},"sku":{"name":"CapacityReservation","capacityReservationLevel":100}}}`,
	"Microsoft.OperationsManagement/solutions SecurityInsights(logs)": `{"properties":{
		"workspaceResourceId":"LOGS"}}`,
	"Microsoft.NetApp/netAppAccounts/capacityPools a/pool": `{"properties":{"size":4398046511104}}`,
	"Microsoft.NetApp/netAppAccounts/capacityPools/volumes a/pool/v1": `{"properties":{
		"usageThreshold":1099511627776}}`,
	"Microsoft.Network/networkSecurityGroups nsg": `{"properties":{"subnets":[{"id":"/s"}],"securityRules":[
		{"properties":{"direction":"Inbound","access":"Allow","priority":300,"sourceAddressPrefix":"*",
		"destinationPortRanges":["22","3300-3310"]}},
		{"properties":{"direction":"Inbound","access":"Deny","priority":200,"sourceAddressPrefix":"Internet",
		"protocol":"*","destinationAddressPrefix":"*","destinationPortRange":"22"}},
		{"properties":{"direction":"Inbound","access":"Allow","priority":400,"sourceAddressPrefix":"10.0.0.0/8",
		"destinationPortRange":"*"}}]}}`,
	"Microsoft.Network/privateDnsZones zone": `{"properties":{"numberOfVirtualNetworkLinks":2}}`,
	"Microsoft.Network/privateEndpoints endpoint": `{"properties":{"privateLinkServiceConnections":[],
		"manualPrivateLinkServiceConnections":[{"properties":{
		"privateLinkServiceConnectionState":{"status":"Rejected"}}}]}}`,
	"Microsoft.Cache/redis cache": `{"properties":{"sku":{"name":"Premium","family":"P","capacity":1},
		"enableNonSslPort":true}}`,
	"Microsoft.Search/searchServices search": `{"sku":{"name":"standard"},"properties":{"replicaCount":3}}`,
	"Microsoft.Compute/snapshots azurebackup_1": `{"sku":{"name":"Standard_LRS"},"properties":{"incremental":true,
		"diskSizeGB":64,"creationData":{"createOption":"Copy","sourceResourceId":"DISK"}}}`,
	"Microsoft.Sql/servers/elasticPools s1/pool": `{"sku":{"name":"GP_Gen5","tier":"GeneralPurpose","capacity":4},
		"properties":{"licenseType":"LicenseIncluded"}}`,
	"Microsoft.Sql/servers/databases s1/a-pooled": `{"sku":{"name":"ElasticPool","tier":"GeneralPurpose",
		"capacity":0},"properties":{"status":"Online","elasticPoolId":"POOL"}}`,
	"Microsoft.Storage/storageAccounts store": `{"kind":"StorageV2","sku":{"name":"Standard_GRS"},"properties":{
		"supportsHttpsTrafficOnly":true,"minimumTlsVersion":"TLS1_2","networkAcls":{"defaultAction":"Allow"}}}`,
	"Microsoft.StreamAnalytics/streamingjobs job": `{"properties":{"jobState":"Running"}}`,
	"Microsoft.Network/trafficManagerProfiles tm": `{"properties":{"endpoints":[
		{"properties":{"endpointStatus":"Enabled"}},{"properties":{"endpointStatus":"Disabled"}}]}}`,
	"Microsoft.Network/virtualNetworks net": `{"properties":{"enableDdosProtection":true,
		"virtualNetworkPeerings":[{"properties":{"peeringState":"Disconnected"}},
		{"properties":{"peeringState":"Connected"}}],"subnets":[{"properties":{"addressPrefix":"10.0.0.0/28",
		"ipConfigurations":[{"id":"/1"},{"id":"/2"},{"id":"/3"},{"id":"/4"},{"id":"/5"}]}},
		{"properties":{"addressPrefixes":["10.0.1.0/24"],"ipConfigurations":[{"id":"/6"}]}}]}}`,
	"Microsoft.Network/virtualNetworkGateways gateway": `{"properties":{"gatewayType":"Vpn",
		"sku":{"name":"VpnGw1AZ"},"vpnClientConfiguration":{"vpnClientProtocols":["OpenVPN"]}}}`,
	"Microsoft.Network/connections site": `{"properties":{"virtualNetworkGateway1":{"id":"GATEWAY"}}}`,
	"Microsoft.Network/azureFirewalls edge": `{"properties":{"sku":{"name":"AZFW_VNet","tier":"Premium"},
		"ipConfigurations":[{"id":"/ip"}],"firewallPolicy":{"id":"POLICY"}}}`,
	"Microsoft.Network/firewallPolicies policy": `{"properties":{"intrusionDetection":{"mode":"Alert"},
		"transportSecurity":{"certificateAuthority":{"name":"ca"}}}}`,
	"Microsoft.ServiceBus/namespaces bus": `{"sku":{"name":"Premium","tier":"Premium","capacity":2},
		"properties":{}}`,
	"Microsoft.Web/sites jobs": `{"kind":"functionapp,linux","properties":{"state":"Stopped","httpsOnly":true,
		"serverFarmId":"PLAN"}}`,
}

// tellAll puts those into the twin; words in capitals are ids that Azure makes.
func tellAll(t *testing.T, tw *azuretwin.Cloud) {
	t.Helper()
	vm := tw.AddVM("web", region, nil)
	plan := tw.AddOther("Microsoft.Web/serverfarms", "plan", region, nil)
	idOf := func(path string) string {
		return "/subscriptions/" + azuretwin.Subscription + "/resourceGroups/Group-1/providers/" + path
	}
	ids := map[string]any{
		"VM": vm.ID, "PLAN": plan.ID, "DISK": idOf("Microsoft.Compute/disks/asrreplica-1"),
		"POOL":    idOf("Microsoft.Sql/servers/s1/elasticPools/pool"),
		"LOGS":    idOf("Microsoft.OperationalInsights/workspaces/logs"),
		"GATEWAY": idOf("Microsoft.Network/virtualNetworkGateways/gateway"),
		"POLICY":  idOf("Microsoft.Network/firewallPolicies/policy"),
	}
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

// A deny rule of a lower number closes a port; a range opens the watched ports in it; other sources do not count.
func TestOpenPorts_AreThoseThatTheInternetReaches(t *testing.T) {
	tw := &azuretwin.Cloud{}
	tellAll(t, tw)
	rule := func(access, port string, priority int) map[string]any {
		return map[string]any{"properties": map[string]any{
			"direction": "Inbound", "access": access, "priority": priority, "sourceAddressPrefix": "Internet",
			"protocol": "*", "destinationAddressPrefix": "*", "destinationPortRange": port,
		}}
	}
	add := func(name string, rules ...any) {
		tw.AddOther("Microsoft.Network/networkSecurityGroups", name, region,
			map[string]any{"properties": map[string]any{"securityRules": rules}})
	}
	add("all", rule("Allow", "*", 100))
	add("none")
	add("closed", rule("Deny", "*", 100), rule("Allow", "443", 200))
	add("late", rule("Allow", "443", 100), rule("Deny", "*", 200))
	found := others(t, tw, region)
	for name, want := range map[string]string{
		"nsg": "[3306]", "all": "[all]", "none": "[]", "closed": "[]", "late": "[443]",
	} {
		if got := fmt.Sprint(found[name].Facts["open_ports"]); got != want {
			t.Errorf("%s opens %s; want %s", name, got, want)
		}
	}
	if found["none"].Facts["attached"] != false {
		t.Errorf("a group without interfaces and subnets: %v", found["none"].Facts)
	}
}

// A snapshot of a disk that is gone has no source; one made of something else has an unknown one.
func TestSourceExists_IsUnknownOfWhatIsNoDisk(t *testing.T) {
	tw := &azuretwin.Cloud{}
	tellAll(t, tw)
	compute := "/subscriptions/" + azuretwin.Subscription + "/resourceGroups/g/providers/Microsoft.Compute/"
	for name, source := range map[string]string{
		"gone": compute + "disks/gone", "copy": compute + "snapshots/a",
		"other": "/subscriptions/0/resourceGroups/g/providers/Microsoft.Compute/disks/d", "upload": "",
	} {
		tw.AddOther("Microsoft.Compute/snapshots", name, region, map[string]any{
			"properties": map[string]any{"creationData": map[string]any{"sourceResourceId": source}},
		})
	}
	found := others(t, tw, region)
	for name, want := range map[string]any{"gone": false, "copy": nil, "other": nil, "upload": nil} {
		if got := found[name].Facts["source_exists"]; got != want {
			t.Errorf("source of %s exists: %v; want %v", name, got, want)
		}
	}
}

// A firewall without a policy detects nothing; what a policy may inherit, and a policy of elsewhere, is not known.
func TestFirewalls_TellWhatTheirPolicySets(t *testing.T) {
	tw := &azuretwin.Cloud{}
	id := "/subscriptions/" + azuretwin.Subscription + "/resourceGroups/Group-1/providers/Microsoft.Network/" +
		"firewallPolicies/"
	add := func(name, policy string) {
		properties := map[string]any{"sku": map[string]any{"tier": "Premium"}}
		if policy != "" {
			properties["firewallPolicy"] = map[string]any{"id": id + policy}
		}
		tw.AddOther("Microsoft.Network/azureFirewalls", name, region, map[string]any{"properties": properties})
	}
	for name, properties := range map[string]map[string]any{
		"off": {"intrusionDetection": map[string]any{"mode": "Off"}}, "bare": {},
		"child": {"basePolicy": map[string]any{"id": "/base"}},
	} {
		tw.AddOther("Microsoft.Network/firewallPolicies", name, region, map[string]any{"properties": properties})
		add("of-"+name, name)
	}
	add("classic", "")
	add("of-elsewhere", "gone")
	found := others(t, tw, region)
	for name, want := range map[string][2]any{
		"of-off": {"Off", false}, "of-bare": {"", false}, "classic": {"", false}, "of-child": {nil, nil},
		"of-elsewhere": {nil, nil},
	} {
		f := found[name].Facts
		if f["idps_mode"] != want[0] || f["tls_inspection"] != want[1] || f["ip_config_count"] != 0.0 {
			t.Errorf("%s: %v; want %v", name, f, want)
		}
	}
}

// A function app whose plan is in another subscription has an unknown tier.
func TestFunctionApps_TellTheTierOfTheirPlan(t *testing.T) {
	tw := &azuretwin.Cloud{}
	tw.AddOther("Microsoft.Web/sites", "far", region, map[string]any{
		"kind": "functionapp", "properties": map[string]any{"state": "Running", "serverFarmId": "/elsewhere"},
	})
	for _, r := range cloudtest.ListAll(t, open(t, tw, principal(azuretwin.Secret)), region, cloud.AzureFunctionApp) {
		_, told := r.Facts["plan_tier"]
		if told || r.Facts["https_only"] != false || r.Facts["state"] != "Running" {
			t.Errorf("%v", r.Facts)
		}
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
		"azure-acr.admin_user": true, "azure-acr.private_endpoints": 1.0, "azure-apim.vnet": true,
		"azure-availability-set.asr": true, "azure-cosmosdb.capability_serverless": true,
		"azure-cosmosdb.public_access": true, "azure-cosmosdb.region_count": 2.0, "azure-ddos-plan.network_count": 1.0,
		"azure-dedicated-host.vm_count": 0.0, "azure-expressroute.billing_model": "MeteredData",
		"azure-expressroute.bandwidth_mbps": 50.0, "azure-frontdoor-waf.link_count": 2.0,
		"azure-keyvault.network_open": false, "azure-keyvault.is_hsm_pool": false, "azure-loganalytics.sentinel": true,
		"azure-loganalytics.commitment_gb": 100.0, "azure-netapp-pool.size_tib": 4.0,
		"azure-netapp-pool.volume_count": 1.0, "azure-netapp-pool.allocated_tib": 1.0, "azure-nsg.attached": true,
		"azure-private-endpoint.connection_state": "Rejected", "azure-redis.sku": "Premium",
		"azure-snapshot.source_exists": true, "azure-snapshot.vault_owned": true,
		"azure-sql-elasticpool.database_count": 1.0, "azure-storage.kind": "StorageV2",
		"azure-storage.network_open": true, "azure-stream-analytics.state": "Running",
		"azure-trafficmanager.endpoint_count": 1.0, "azure-vnet.peerings_down": 1.0,
		"azure-vnet.used_ip_pct": 5.0 / 11 * 100, "azure-vnet-gateway.connection_count": 1.0,
		"azure-vnet-gateway.p2s": true, "azure-firewall.tier": "Premium", "azure-firewall.ip_config_count": 1.0,
		"azure-firewall.idps_mode": "Alert", "azure-firewall.tls_inspection": true, "azure-servicebus.sku": "Premium",
		"azure-servicebus.capacity": 2.0, "azure-functionapp.plan_tier": "PremiumV3",
		"azure-functionapp.state": "Stopped",
	} {
		if told[name] != want {
			t.Errorf("%s is told as %v; want %v", name, told[name], want)
		}
	}
}
