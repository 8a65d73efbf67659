package onboarding

import (
	"encoding/json"
	"fmt"
	"slices"
)

// BillAccess lists the additional permissions for reading the bills of an account.
type BillAccess struct {
	Actions  []string        `json:"actions" doc:"The additional permissions for the credentials of the account"`
	Document json.RawMessage `json:"document" doc:"These, as the cloud takes them"`
	Commands []string        `json:"commands" doc:"Shell commands to run after those of a method. Replace the words in capitals"`
}

// newBillAccess returns the access with a document.
func newBillAccess(actions []string, document any, commands func(doc string) []string) (*BillAccess, error) {
	doc, err := encodeIndented(document)
	if err != nil {
		return nil, fmt.Errorf("write the permissions for bills: %w", err)
	}
	return &BillAccess{Actions: actions, Document: doc, Commands: commands(string(doc))}, nil
}

// awsBilling allows finding exports and reports, and reading objects in the one bucket that they are delivered to.
func awsBilling() (*BillAccess, error) {
	needs := requiredBy("aws").Billing
	var anywhere, buckets, objects []string
	for _, a := range needs {
		switch a {
		case "s3:ListBucket":
			buckets = append(buckets, a)
		case "s3:GetObject":
			objects = append(objects, a)
		default:
			anywhere = append(anywhere, a)
		}
	}
	list, read := allowStatement("LamplighterListBills", buckets...), allowStatement("LamplighterReadBills", objects...)
	list.Resource, read.Resource = "arn:aws:s3:::BUCKET", "arn:aws:s3:::BUCKET/PREFIX/*"
	doc := document{
		Version:   "2012-10-17",
		Statement: []statement{allowStatement("LamplighterFindBills", anywhere...), list, read},
	}
	return newBillAccess(needs, doc, func(doc string) []string {
		return []string{
			"# console of Billing and Cost Management, Data Exports, Create: FOCUS 1.2 or CUR 2.0 with resource ids, " +
				"Parquet or gzip, create new file on each delivery, into s3://BUCKET/PREFIX",
			"aws iam put-role-policy --role-name " + RoleName +
				" --policy-name lamplighter-billing --policy-document " + quote(doc),
		}
	})
}

// azureBilling allows finding exports and querying costs in the subscription, and reading blobs in the one storage
// account that the exports are delivered to.
func azureBilling() (*BillAccess, error) {
	r := requiredBy("azure")
	name := azureRoleName("billing")
	role := azureRole{
		Name: name, IsCustom: true, Description: "Permissions of Lamplighter to find the bills of a subscription",
		Actions: r.Billing, NotActions: []string{},
		AssignableScopes: []string{azureScope},
	}
	export := `{"properties":{"schedule":{"status":"Active","recurrence":"Daily",` +
		`"recurrencePeriod":{"from":"FROM","to":"TO"}},"format":"Csv","compressionMode":"gzip",` +
		`"partitionData":true,"dataOverwriteBehavior":"CreateNewReport",` +
		`"deliveryInfo":{"destination":{"type":"AzureBlob","resourceId":"STORAGE_ACCOUNT_ID",` +
		`"container":"CONTAINER","rootFolderPath":"lamplighter"}},"definition":{"type":"FocusCost",` +
		`"timeframe":"MonthToDate","dataSet":{"granularity":"Daily",` +
		`"configuration":{"dataVersion":"1.0"}}}}}`
	return newBillAccess(slices.Concat(r.Billing, r.BillingData), role, func(doc string) []string {
		return []string{
			"az rest --method put --url 'https://management.azure.com" + azureScope +
				"/providers/Microsoft.CostManagement/exports/lamplighter?api-version=2025-03-01' --body " +
				quote(export),
			"# console of Cost Management, Exports, lamplighter, Export selected dates: once for each of the " +
				"months before",
			"az role definition create --role-definition " + quote(doc),
			"az role assignment create --assignee APP_ID --role " + quote(name) + " --scope " + azureScope,
			"az role assignment create --assignee APP_ID --role 'Storage Blob Data Reader' --scope STORAGE_ACCOUNT_ID",
		}
	})
}

// googleBilling allows running queries in the project, and reading tables in the one dataset that contains the
// export.
func googleBilling() (*BillAccess, error) {
	needs := requiredBy("gcp").Billing
	role := googleRole{"Lamplighter billing", "Permissions of Lamplighter to read the billing export", "GA", needs}
	return newBillAccess(needs, role, func(string) []string {
		return []string{
			"# console of Billing, Billing export, BigQuery export: the detailed usage cost, into a dataset of the " +
				"multi-region US or EU",
			"gcloud services enable --project=PROJECT bigquery.googleapis.com",
			"gcloud iam roles update lamplighter --project=PROJECT --add-permissions=bigquery.jobs.create",
			"bq query --project_id=DATASET_PROJECT --use_legacy_sql=false " +
				quote("GRANT `roles/bigquery.dataViewer` ON SCHEMA `DATASET_PROJECT.DATASET` TO \"serviceAccount:"+
					robotOf+"\""),
		}
	})
}
