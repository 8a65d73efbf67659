# console of Billing, Billing export, BigQuery export: the detailed usage cost, into a dataset of the multi-region US or EU
gcloud services enable --project=PROJECT bigquery.googleapis.com
gcloud iam roles update lamplighter --project=PROJECT --add-permissions=bigquery.jobs.create
bq query --project_id=DATASET_PROJECT --use_legacy_sql=false 'GRANT `roles/bigquery.dataViewer` ON SCHEMA `DATASET_PROJECT.DATASET` TO "serviceAccount:lamplighter@PROJECT.iam.gserviceaccount.com"'
