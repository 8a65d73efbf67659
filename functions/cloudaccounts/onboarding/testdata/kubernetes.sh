# kubeconfig
echo '{
  "apiVersion": "v1",
  "kind": "List",
  "items": [
    {
      "apiVersion": "v1",
      "kind": "Namespace",
      "metadata": {
        "name": "lamplighter"
      }
    },
    {
      "apiVersion": "v1",
      "kind": "ServiceAccount",
      "metadata": {
        "name": "lamplighter",
        "namespace": "lamplighter"
      }
    },
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
          "kind": "ServiceAccount",
          "name": "lamplighter",
          "namespace": "lamplighter"
        }
      ]
    },
    {
      "apiVersion": "v1",
      "kind": "Secret",
      "metadata": {
        "name": "lamplighter",
        "namespace": "lamplighter",
        "annotations": {
          "kubernetes.io/service-account.name": "lamplighter"
        }
      },
      "type": "kubernetes.io/service-account-token"
    }
  ]
}' | kubectl apply --filename -
kubectl get secret lamplighter --namespace lamplighter --output jsonpath='{.data.ca\.crt}' | base64 --decode > lamplighter-ca.crt
kubectl config --kubeconfig=lamplighter.kubeconfig set-cluster cluster --embed-certs --certificate-authority=lamplighter-ca.crt --server="$(kubectl config view --minify --output jsonpath='{.clusters[0].cluster.server}')"
kubectl config --kubeconfig=lamplighter.kubeconfig set-credentials lamplighter --token="$(kubectl get secret lamplighter --namespace lamplighter --output jsonpath='{.data.token}' | base64 --decode)"
kubectl config --kubeconfig=lamplighter.kubeconfig set-context lamplighter --cluster=cluster --user=lamplighter
kubectl config --kubeconfig=lamplighter.kubeconfig use-context lamplighter
