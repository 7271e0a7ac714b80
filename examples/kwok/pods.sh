#!/bin/sh
# A test of deletes with pods that run, on a node of kwok. KUBECONFIG names an API server
# that has no controllers, and has the rights of its administrator.
set -eu
cd "$(dirname "$0")"
dir=$(mktemp -d)
mkfifo "$dir/said"
# It may say that a pod is not found: one that it has ended.
kwok --kubeconfig "$KUBECONFIG" --manage-all-nodes --config stages.yaml -v WARN &
kwok=$!
# kwok ends the pods. Nothing is settled before that, or before their grace period is over.
kubectl gc controller --preset envtest --pods after-grace-period --address 127.0.0.1:0 >"$dir/said" &
collector=$!
trap 'kubectl delete node kwok --ignore-not-found; kill "$kwok" "$collector" 2>/dev/null || :; rm -r "$dir"' EXIT
exec 3<"$dir/said"
read -r ready gc <&3 # ready http://127.0.0.1:PORT, and nothing at all if it could not start
[ "$ready" = ready ]

# pod NAME [OWNER] makes a pod that runs, with ten minutes to end.
pod() {
  kubectl create -f - <<EOF
apiVersion: v1
kind: Pod
metadata: {name: $1, namespace: shop, ownerReferences: [${2-}]}
spec: {nodeName: kwok, terminationGracePeriodSeconds: 600, containers: [{name: web, image: example.com/web}]}
EOF
  kubectl wait pod "$1" -n shop --for=condition=Ready --timeout=1m
}

# gone WHAT… fails unless it has gone by the time when nothing is left to do.
gone() {
  curl -sS --fail-with-body "$gc/settled?timeout=1m"
  left=$(kubectl get "$@" --ignore-not-found -o name)
  [ -z "$left" ] || { echo "still there: $left" >&2; exit 1; }
}

kubectl create -f shop.yaml
uid=$(kubectl get replicaset web -n shop -o jsonpath='{.metadata.uid}')
pod web-1 "{apiVersion: apps/v1, kind: ReplicaSet, name: web, uid: $uid, blockOwnerDeletion: true}"
pod web-2 "{apiVersion: apps/v1, kind: ReplicaSet, name: web, uid: $uid, blockOwnerDeletion: true}"
kubectl delete replicaset web -n shop --cascade=foreground --wait=false
gone replicasets,pods -n shop

pod alone
kubectl delete namespace shop --wait=false
gone namespace shop
echo "PASS"
