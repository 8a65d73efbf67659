gcloud iam roles update lamplighter --project=PROJECT --add-permissions=container.clusters.connect
echo '{
  "apiVersion": "v1",
  "kind": "List",
  "items": [
    {
      "apiVersion": "rbac.authorization.k8s.io/v1",
      "kind": "ClusterRole",
      "metadata": {
        "name": "lamplighter"
      },
      "rules": [
        {
          "apiGroups": [
            ""
          ],
          "resources": [
            "namespaces"
          ],
          "verbs": [
            "get",
            "list"
          ]
        },
        {
          "apiGroups": [
            ""
          ],
          "resources": [
            "limitranges",
            "nodes",
            "persistentvolumeclaims",
            "persistentvolumes",
            "pods",
            "resourcequotas",
            "serviceaccounts",
            "services"
          ],
          "verbs": [
            "list"
          ]
        },
        {
          "apiGroups": [
            "apiextensions.k8s.io"
          ],
          "resources": [
            "customresourcedefinitions"
          ],
          "verbs": [
            "list"
          ]
        },
        {
          "apiGroups": [
            "apps"
          ],
          "resources": [
            "daemonsets",
            "deployments",
            "statefulsets"
          ],
          "verbs": [
            "get",
            "list",
            "patch"
          ]
        },
        {
          "apiGroups": [
            "argoproj.io"
          ],
          "resources": [
            "rollouts"
          ],
          "verbs": [
            "get",
            "list",
            "patch"
          ]
        },
        {
          "apiGroups": [
            "autoscaling"
          ],
          "resources": [
            "horizontalpodautoscalers"
          ],
          "verbs": [
            "list"
          ]
        },
        {
          "apiGroups": [
            "autoscaling.k8s.io"
          ],
          "resources": [
            "verticalpodautoscalers"
          ],
          "verbs": [
            "list"
          ]
        },
        {
          "apiGroups": [
            "batch"
          ],
          "resources": [
            "cronjobs"
          ],
          "verbs": [
            "get",
            "list",
            "patch"
          ]
        },
        {
          "apiGroups": [
            "batch"
          ],
          "resources": [
            "jobs"
          ],
          "verbs": [
            "list"
          ]
        },
        {
          "apiGroups": [
            "discovery.k8s.io"
          ],
          "resources": [
            "endpointslices"
          ],
          "verbs": [
            "list"
          ]
        },
        {
          "apiGroups": [
            "gateway.networking.k8s.io"
          ],
          "resources": [
            "gateways",
            "httproutes"
          ],
          "verbs": [
            "list"
          ]
        },
        {
          "apiGroups": [
            "keda.sh"
          ],
          "resources": [
            "scaledobjects"
          ],
          "verbs": [
            "get",
            "list",
            "patch"
          ]
        },
        {
          "apiGroups": [
            "networking.k8s.io"
          ],
          "resources": [
            "ingressclasses",
            "ingresses",
            "networkpolicies"
          ],
          "verbs": [
            "list"
          ]
        },
        {
          "apiGroups": [
            "policy"
          ],
          "resources": [
            "poddisruptionbudgets"
          ],
          "verbs": [
            "list"
          ]
        },
        {
          "apiGroups": [
            "rbac.authorization.k8s.io"
          ],
          "resources": [
            "clusterrolebindings",
            "clusterroles",
            "rolebindings"
          ],
          "verbs": [
            "list"
          ]
        },
        {
          "apiGroups": [
            "scheduling.k8s.io"
          ],
          "resources": [
            "priorityclasses"
          ],
          "verbs": [
            "list"
          ]
        },
        {
          "apiGroups": [
            "snapshot.storage.k8s.io"
          ],
          "resources": [
            "volumesnapshots"
          ],
          "verbs": [
            "list"
          ]
        },
        {
          "apiGroups": [
            "storage.k8s.io"
          ],
          "resources": [
            "csidrivers",
            "storageclasses",
            "volumeattachments"
          ],
          "verbs": [
            "list"
          ]
        }
      ]
    },
    {
      "apiVersion": "rbac.authorization.k8s.io/v1",
      "kind": "ClusterRoleBinding",
      "metadata": {
        "name": "lamplighter"
      },
      "roleRef": {
        "apiGroup": "rbac.authorization.k8s.io",
        "kind": "ClusterRole",
        "name": "lamplighter"
      },
      "subjects": [
        {
          "apiGroup": "rbac.authorization.k8s.io",
          "kind": "User",
          "name": "lamplighter@PROJECT.iam.gserviceaccount.com"
        }
      ]
    }
  ]
}' | kubectl apply --filename -
