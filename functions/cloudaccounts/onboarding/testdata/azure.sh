# workload_identity_federation
az role definition create --role-definition '{
  "Name": "Lamplighter start stop",
  "IsCustom": true,
  "Description": "What Lamplighter calls at level start_stop",
  "Actions": [
    "*/read",
    "Microsoft.App/containerApps/read",
    "Microsoft.App/containerApps/start/action",
    "Microsoft.App/containerApps/stop/action",
    "Microsoft.Authorization/permissions/read",
    "Microsoft.Compute/virtualMachineScaleSets/read",
    "Microsoft.Compute/virtualMachineScaleSets/write",
    "Microsoft.Compute/virtualMachines/deallocate/action",
    "Microsoft.Compute/virtualMachines/read",
    "Microsoft.Compute/virtualMachines/start/action",
    "Microsoft.ContainerService/managedClusters/agentPools/read",
    "Microsoft.ContainerService/managedClusters/agentPools/write",
    "Microsoft.ContainerService/managedClusters/listClusterUserCredential/action",
    "Microsoft.ContainerService/managedClusters/read",
    "Microsoft.ContainerService/managedClusters/start/action",
    "Microsoft.ContainerService/managedClusters/stop/action",
    "Microsoft.DBforMySQL/flexibleServers/read",
    "Microsoft.DBforMySQL/flexibleServers/start/action",
    "Microsoft.DBforMySQL/flexibleServers/stop/action",
    "Microsoft.DBforPostgreSQL/flexibleServers/read",
    "Microsoft.DBforPostgreSQL/flexibleServers/start/action",
    "Microsoft.DBforPostgreSQL/flexibleServers/stop/action",
    "Microsoft.Insights/autoscaleSettings/read",
    "Microsoft.Insights/autoscaleSettings/write",
    "Microsoft.Insights/metrics/read",
    "Microsoft.ResourceGraph/resources/read",
    "Microsoft.Resources/subscriptions/locations/read",
    "Microsoft.Resources/subscriptions/read",
    "Microsoft.Sql/managedInstances/read",
    "Microsoft.Sql/managedInstances/start/action",
    "Microsoft.Sql/managedInstances/stop/action",
    "Microsoft.Sql/servers/databases/read",
    "Microsoft.Synapse/workspaces/sqlPools/pause/action",
    "Microsoft.Synapse/workspaces/sqlPools/read",
    "Microsoft.Synapse/workspaces/sqlPools/resume/action",
    "Microsoft.Web/serverfarms/read",
    "Microsoft.Web/sites/read",
    "Microsoft.Web/sites/start/action",
    "Microsoft.Web/sites/stop/action"
  ],
  "NotActions": [],
  "AssignableScopes": [
    "/subscriptions/SUBSCRIPTION"
  ]
}'
az ad app create --display-name lamplighter --query appId --output tsv
az ad sp create --id APP_ID
az ad app federated-credential create --id APP_ID --parameters '{"name":"lamplighter","issuer":"ISSUER","subject":"SUBJECT","audiences":["api://AzureADTokenExchange/org_01"]}'
az role assignment create --assignee APP_ID --role 'Lamplighter start stop' --scope /subscriptions/SUBSCRIPTION
# service_principal
az role definition create --role-definition '{
  "Name": "Lamplighter start stop",
  "IsCustom": true,
  "Description": "What Lamplighter calls at level start_stop",
  "Actions": [
    "*/read",
    "Microsoft.App/containerApps/read",
    "Microsoft.App/containerApps/start/action",
    "Microsoft.App/containerApps/stop/action",
    "Microsoft.Authorization/permissions/read",
    "Microsoft.Compute/virtualMachineScaleSets/read",
    "Microsoft.Compute/virtualMachineScaleSets/write",
    "Microsoft.Compute/virtualMachines/deallocate/action",
    "Microsoft.Compute/virtualMachines/read",
    "Microsoft.Compute/virtualMachines/start/action",
    "Microsoft.ContainerService/managedClusters/agentPools/read",
    "Microsoft.ContainerService/managedClusters/agentPools/write",
    "Microsoft.ContainerService/managedClusters/listClusterUserCredential/action",
    "Microsoft.ContainerService/managedClusters/read",
    "Microsoft.ContainerService/managedClusters/start/action",
    "Microsoft.ContainerService/managedClusters/stop/action",
    "Microsoft.DBforMySQL/flexibleServers/read",
    "Microsoft.DBforMySQL/flexibleServers/start/action",
    "Microsoft.DBforMySQL/flexibleServers/stop/action",
    "Microsoft.DBforPostgreSQL/flexibleServers/read",
    "Microsoft.DBforPostgreSQL/flexibleServers/start/action",
    "Microsoft.DBforPostgreSQL/flexibleServers/stop/action",
    "Microsoft.Insights/autoscaleSettings/read",
    "Microsoft.Insights/autoscaleSettings/write",
    "Microsoft.Insights/metrics/read",
    "Microsoft.ResourceGraph/resources/read",
    "Microsoft.Resources/subscriptions/locations/read",
    "Microsoft.Resources/subscriptions/read",
    "Microsoft.Sql/managedInstances/read",
    "Microsoft.Sql/managedInstances/start/action",
    "Microsoft.Sql/managedInstances/stop/action",
    "Microsoft.Sql/servers/databases/read",
    "Microsoft.Synapse/workspaces/sqlPools/pause/action",
    "Microsoft.Synapse/workspaces/sqlPools/read",
    "Microsoft.Synapse/workspaces/sqlPools/resume/action",
    "Microsoft.Web/serverfarms/read",
    "Microsoft.Web/sites/read",
    "Microsoft.Web/sites/start/action",
    "Microsoft.Web/sites/stop/action"
  ],
  "NotActions": [],
  "AssignableScopes": [
    "/subscriptions/SUBSCRIPTION"
  ]
}'
az ad sp create-for-rbac --name lamplighter --role 'Lamplighter start stop' --scopes /subscriptions/SUBSCRIPTION
