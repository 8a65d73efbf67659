aws eks create-access-entry --cluster-name CLUSTER --region REGION --kubernetes-groups lamplighter --principal-arn ROLE_ARN
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
            "pods"
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
            "policy"
          ],
          "resources": [
            "poddisruptionbudgets"
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
          "kind": "Group",
          "name": "lamplighter"
        }
      ]
    }
  ]
}' | kubectl apply --filename -
