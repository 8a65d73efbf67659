az rest --method put --url 'https://management.azure.com/subscriptions/SUBSCRIPTION/providers/Microsoft.CostManagement/exports/lamplighter?api-version=2025-03-01' --body '{"properties":{"schedule":{"status":"Active","recurrence":"Daily","recurrencePeriod":{"from":"FROM","to":"TO"}},"format":"Csv","compressionMode":"gzip","partitionData":true,"dataOverwriteBehavior":"CreateNewReport","deliveryInfo":{"destination":{"type":"AzureBlob","resourceId":"STORAGE_ACCOUNT_ID","container":"CONTAINER","rootFolderPath":"lamplighter"}},"definition":{"type":"FocusCost","timeframe":"MonthToDate","dataSet":{"granularity":"Daily","configuration":{"dataVersion":"1.0"}}}}}'
# console of Cost Management, Exports, lamplighter, Export selected dates: once for each of the months before
az role definition create --role-definition '{
  "Name": "Lamplighter billing",
  "IsCustom": true,
  "Description": "Permissions of Lamplighter to find the bills of a subscription",
  "Actions": [
    "Microsoft.CostManagement/exports/read",
    "Microsoft.CostManagement/query/action"
  ],
  "NotActions": [],
  "AssignableScopes": [
    "/subscriptions/SUBSCRIPTION"
  ]
}'
az role assignment create --assignee APP_ID --role 'Lamplighter billing' --scope /subscriptions/SUBSCRIPTION
az role assignment create --assignee APP_ID --role 'Storage Blob Data Reader' --scope STORAGE_ACCOUNT_ID
