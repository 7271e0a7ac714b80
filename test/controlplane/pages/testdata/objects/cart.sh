# Makes the cart orders, which its finalizer holds since somebody has deleted it, and
# what it owns.
set -eu
kubectl create namespace payments 2>/dev/null || true # it may be there already
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
