# Makes the cart orders, which its finalizer holds since somebody has deleted it, and
# what it owns.
set -eu
kubectl get namespace payments >/dev/null 2>&1 || kubectl create namespace payments
uid=$(kubectl create -o jsonpath='{.metadata.uid}' -f - <<'END'
{apiVersion: db.example.com/v1, kind: Cart, metadata: {name: orders, namespace: payments, finalizers: [db.example.com/backup]}}
END
)
kubectl create -f - <<END
apiVersion: v1
kind: ConfigMap
metadata:
  name: orders-settings
  namespace: payments
  ownerReferences: [{apiVersion: db.example.com/v1, kind: Cart, name: orders, uid: $uid}]
END
kubectl delete cart/orders -n payments --wait=false
