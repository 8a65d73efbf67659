package cloud

import "time"

// The kinds of Azure that this service acts on, by their types.
const (
	AzureVM             = "azure-vm"
	AzureVMSS           = "azure-vmss"
	AzureAKS            = "azure-aks"
	AzureAKSNodepool    = "azure-aks-nodepool"
	AzurePostgreSQL     = "azure-postgresql-flexible"
	AzureMySQL          = "azure-mysql-flexible"
	AzureContainerApp   = "azure-containerapp"
	AzureAppService     = "azure-appservice"
	AzureFunctionApp    = "azure-functionapp"
	AzureAppServicePlan = "azure-appserviceplan"
	AzureSynapseSQLPool = "azure-synapse-sqlpool"
	AzureSQLMI          = "azure-sql-mi"
	AzureSQLDatabase    = "azure-sql-database"

	AzureContainerGroup   = "azure-aci"
	AzureDataExplorer     = "azure-adx"
	AzureAppGateway       = "azure-appgateway"
	AzureAnalysisServices = "azure-analysis-services"
	AzureFabricCapacity   = "azure-fabric-capacity"
	AzureStreamAnalytics  = "azure-stream-analytics"
	AzureMLCompute        = "azure-ml-compute"
)

// azureKinds are the kinds of Azure. Its resource manager acts on one resource a call, and tells the state of one a
// call.
var azureKinds = []Kind{
	{
		Type: AzureVM, Provider: "azure", Name: "Azure virtual machine", Actionable: true,
		ActBatch: 1, ReadBatch: 1, Deadline: 15 * time.Minute, Usual: 30 * time.Second,
	},
	{
		Type: AzureVMSS, Provider: "azure", Name: "Azure virtual machine scale set", Actionable: true, Scalable: true,
		Remembers: true,
		ActBatch:  1, ReadBatch: 1, Deadline: 20 * time.Minute,
	},
	{
		Type: AzureAKS, Provider: "azure", Name: "AKS cluster", Actionable: true,
		ActBatch: 1, ReadBatch: 1, Deadline: 45 * time.Minute,
	},
	{
		Type: AzureAKSNodepool, Provider: "azure", Name: "AKS node pool", Actionable: true, Scalable: true,
		Remembers: true,
		ActBatch:  1, ReadBatch: 1, Deadline: 30 * time.Minute,
	},
	{
		Type: AzurePostgreSQL, Provider: "azure", Name: "Azure Database for PostgreSQL flexible server",
		Actionable: true,
		ActBatch:   1, ReadBatch: 1, Deadline: 30 * time.Minute, Wakes: 2 * time.Hour,
	},
	{
		Type: AzureMySQL, Provider: "azure", Name: "Azure Database for MySQL flexible server", Actionable: true,
		ActBatch: 1, ReadBatch: 1, Deadline: 30 * time.Minute,
	},
	{
		Type: AzureContainerApp, Provider: "azure", Name: "Azure Container App", Actionable: true, Scalable: true,
		ActBatch: 1, ReadBatch: 1, Deadline: 15 * time.Minute,
	},
	{
		Type: AzureAppService, Provider: "azure", Name: "Azure App Service app", Actionable: true,
		ActBatch: 1, ReadBatch: 1, Deadline: 10 * time.Minute,
	},
	{
		Type: AzureFunctionApp, Provider: "azure", Name: "Azure Function app", Actionable: true,
		ActBatch: 1, ReadBatch: 1, Deadline: 10 * time.Minute,
	},
	{
		Type: AzureAppServicePlan, Provider: "azure", Name: "Azure App Service plan", Scalable: true,
		ActBatch: 1, ReadBatch: 1, Deadline: 15 * time.Minute,
	},
	{
		Type: AzureSynapseSQLPool, Provider: "azure", Name: "Azure Synapse dedicated SQL pool", Actionable: true,
		ActBatch: 1, ReadBatch: 1, Deadline: 30 * time.Minute,
	},
	{
		Type: AzureSQLMI, Provider: "azure", Name: "Azure SQL managed instance", Actionable: true,
		ActBatch: 1, ReadBatch: 1, Deadline: 90 * time.Minute,
	},
	{
		Type: AzureSQLDatabase, Provider: "azure", Name: "Azure SQL database", Scalable: true,
		ActBatch: 1, ReadBatch: 1, Deadline: 60 * time.Minute,
	},
	{
		Type: AzureContainerGroup, Provider: "azure", Name: "Azure container group", Actionable: true,
		ActBatch: 1, ReadBatch: 1, Deadline: 15 * time.Minute,
	},
	{
		Type: AzureDataExplorer, Provider: "azure", Name: "Azure Data Explorer cluster", Actionable: true,
		ActBatch: 1, ReadBatch: 1, Deadline: 45 * time.Minute,
	},
	{
		Type: AzureAppGateway, Provider: "azure", Name: "Azure application gateway", Actionable: true,
		ActBatch: 1, ReadBatch: 1, Deadline: 30 * time.Minute,
	},
	{
		Type: AzureAnalysisServices, Provider: "azure", Name: "Azure Analysis Services server", Actionable: true,
		ActBatch: 1, ReadBatch: 1, Deadline: 20 * time.Minute,
	},
	{
		Type: AzureFabricCapacity, Provider: "azure", Name: "Microsoft Fabric capacity", Actionable: true,
		ActBatch: 1, ReadBatch: 1, Deadline: 15 * time.Minute,
	},
	{
		Type: AzureStreamAnalytics, Provider: "azure", Name: "Azure Stream Analytics job", Actionable: true,
		ActBatch: 1, ReadBatch: 1, Deadline: 20 * time.Minute,
	},
	{
		Type: AzureMLCompute, Provider: "azure", Name: "Azure Machine Learning compute instance", Actionable: true,
		ActBatch: 1, ReadBatch: 1, Deadline: 20 * time.Minute,
	},
}

// AzureOthers is the kind of Azure that stands for everything which no other kind lists.
const AzureOthers = "azure-*"

var azureOthers = Kind{Type: AzureOthers, Provider: "azure", Name: "Everything else", Global: true, Discoverable: true}
