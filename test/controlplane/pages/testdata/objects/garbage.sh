# Makes a namespace, and in it a ConfigMap for each further argument that an owner has
# left behind, each with one below it; and one that is owned by one that lives.
set -eu
namespace=$1
shift
kubectl get namespace "$namespace" >/dev/null 2>&1 || kubectl create namespace "$namespace"
made() { # NAME [OWNER UID]
  {
    printf '{apiVersion: v1, kind: ConfigMap, metadata: {name: %s, namespace: %s' "$1" "$namespace"
    [ $# -eq 1 ] || printf ', ownerReferences: [{apiVersion: v1, kind: ConfigMap, name: %s, uid: %s}]' "$2" "$3"
    echo '}}'
  } | kubectl create -f - -o jsonpath='{.metadata.uid}'
}
uid=$(made alive)
made below-alive alive "$uid" >/dev/null
for name; do
  uid=$(made "$name" owner 00000000-0000-4000-8000-000000000000)
  made "below-$name" "$name" "$uid" >/dev/null
done
