#!/bin/sh
# A test of deletes without Go: what an object owns goes with it. KUBECONFIG names an API
# server that has no garbage collector, and has the rights of its administrator.
set -eu
dir=$(mktemp -d)
mkfifo "$dir/said"
kubectl gc controller --preset envtest --address 127.0.0.1:0 >"$dir/said" &
collector=$!
trap 'kill "$collector" 2>/dev/null || :; rm -r "$dir"' EXIT
exec 3<"$dir/said"
read -r ready gc <&3 # ready http://127.0.0.1:PORT, and nothing at all if it could not start
[ "$ready" = ready ]

kubectl create configmap owner
uid=$(kubectl get configmap owner -o jsonpath='{.metadata.uid}')
kubectl create -f - <<EOF
apiVersion: v1
kind: ConfigMap
metadata:
  name: dependent
  ownerReferences: [{apiVersion: v1, kind: ConfigMap, name: owner, uid: $uid}]
EOF

kubectl delete configmap owner
curl -sS --fail-with-body "$gc/settled?timeout=30s" # what is left to do, if something is

left=$(kubectl get configmap dependent --ignore-not-found -o name)
if [ -n "$left" ]; then
  curl -sS "$gc/explain?apiVersion=v1&kind=ConfigMap&namespace=default&name=dependent" >&2
  exit 1
fi
echo "PASS"
