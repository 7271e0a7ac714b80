# Makes a namespace, and in it a ConfigMap for each further argument that an owner has
# left behind, each with one below it; and one that is owned by one that lives.
set -eu
namespace=$1
shift
made() { # NAME [OWNER UID]
  printf -- '---\n{apiVersion: v1, kind: ConfigMap, metadata: {name: %s, namespace: %s' "$1" "$namespace"
  [ $# -eq 1 ] || printf ', ownerReferences: [{apiVersion: v1, kind: ConfigMap, name: %s, uid: %s}]' "$2" "$3"
  printf '}}\n'
}
kubectl create namespace "$namespace" 2>/dev/null || true # it may be there already
{
  made alive
  for name; do made "$name" owner 00000000-0000-4000-8000-000000000000; done
} | kubectl create -f - -o go-template='{{.metadata.name}} {{.metadata.uid}}{{"\n"}}' |
  while read -r name uid; do made "below-$name" "$name" "$uid"; done |
  kubectl create -f -
