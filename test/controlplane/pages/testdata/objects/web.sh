# Makes the Deployment web, and waits until its controllers have written all that they
# write: without a kubelet its pods never run. After that nothing of it changes, and a
# plan stays as it is.
set -eu
kubectl create -f "$OBJECTS/web.yaml"
status='{range .items[*]}{.kind} {.metadata.generation}{.status.observedGeneration} '
status=$status'{.status.replicas}{.status.updatedReplicas}{.status.unavailableReplicas}{.status.fullyLabeledReplicas} '
status=$status'{.status.conditions[?(@.type=="Progressing")].reason};{end}'
until [ "$(kubectl get deployments,replicasets -n shop -o jsonpath="$status")" = "Deployment 11 333 ReplicaSetUpdated;ReplicaSet 11 33 ;" ]; do :; done
