# Makes the database orders, which is being deleted in the foreground and waits for what
# it owns.
set -eu
kubectl create namespace payments
uid=$(kubectl create -o jsonpath='{.metadata.uid}' -f - <<'END'
{apiVersion: example.com/v1, kind: Database, metadata: {name: orders, namespace: payments}}
END
)
kubectl create -f - <<END
apiVersion: v1
kind: ConfigMap
metadata:
  name: orders-archive
  namespace: payments
  finalizers: [example.com/keep-archive]
  ownerReferences: [{apiVersion: example.com/v1, kind: Database, name: orders, uid: $uid, blockOwnerDeletion: true}]
END
kubectl delete database/orders -n payments --cascade=foreground --wait=false
kubectl wait configmap/orders-archive -n payments --for=jsonpath='{.metadata.deletionTimestamp}' --timeout=5m
