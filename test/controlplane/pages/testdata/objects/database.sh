# Makes a namespace with the database orders, and somebody deletes what is named by the
# further arguments: the database waits for its finalizer.
set -eu
namespace=$1
shift
kubectl apply --server-side --field-manager=database-operator -f - <<END
{apiVersion: v1, kind: Namespace, metadata: {name: $namespace}}
---
apiVersion: example.com/v1
kind: Database
metadata: {name: orders, namespace: $namespace, finalizers: [databases.example.com/cleanup]}
END
for object; do
  kubectl delete "$object" --namespace="$namespace" --wait=false 2>/dev/null
done
