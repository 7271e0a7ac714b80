// Prints a dump of a namespace as people delete them, with as many objects as it is told:
// a quarter of them Events, five Databases with a finalizer that nobody takes off.
import { createHash } from "node:crypto";

const all = Number(process.argv[2]);
const times = all / 250;
const items = [];

function add(apiVersion, kind, name, { owner, finalizers, metadata, ...rest } = {}) {
  const uid = `${String(items.length + 1).padStart(8, "0")}-0000-4000-8000-000000000000`;
  const object = { apiVersion, kind, metadata: { name, namespace: "pic", uid, resourceVersion: "1", finalizers, ...metadata }, ...rest };
  if (owner) {
    const { name, uid } = owner.metadata;
    object.metadata.ownerReferences = [{ apiVersion: owner.apiVersion, kind: owner.kind, name, uid, controller: true, blockOwnerDeletion: true }];
  }
  items.push(object);
  return object;
}

const each = (n, make) => Array.from({ length: Math.round(n * times) }, (_, i) => make(i));

const spec = { finalizers: ["kubernetes"] };
add("v1", "Namespace", "pic", { metadata: { namespace: undefined }, spec, status: { phase: "Active" } });
add("v1", "ConfigMap", "kube-root-ca.crt");
add("v1", "ServiceAccount", "default");
for (let i = 1; i <= 5; i++) {
  const owner = add("acme.io/v1", "Database", `d${i}`, { finalizers: ["databases.acme.io/cleanup"] });
  add("v1", "Secret", `d${i}-credentials`, { owner });
  add("v1", "ConfigMap", `d${i}-config`, { owner });
}
const pods = [];
const pod = (name, owner, claim) => {
  const volumes = claim ? [{ name: "data", persistentVolumeClaim: { claimName: claim } }] : [];
  pods.push(add("v1", "Pod", name, { owner, spec: { nodeName: "worker-1", volumes }, status: { phase: "Running" } }));
};
each(10, (i) => {
  const name = i === 0 ? "checkout-and-payment-gateway-frontend" : `web-${i}`;
  const owner = add("apps/v1", "Deployment", name);
  add("apps/v1", "ReplicaSet", `${name}-5d94bb7c6`, { owner });
  const set = add("apps/v1", "ReplicaSet", `${name}-5d47c484f4`, { owner });
  for (const end of ["kdxq8", "ld8wn", "mxx48", "x2k9w"]) pod(`${name}-5d47c484f4-${end}`, set);
  const service = add("v1", "Service", name, { spec: { selector: { app: name } } });
  add("discovery.k8s.io/v1", "EndpointSlice", `${name}-8xk2p`, { owner: service });
});
each(3, (i) => {
  const owner = add("apps/v1", "StatefulSet", `kafka-${i}`);
  for (let p = 0; p < 2; p++) {
    const claim = `data-kafka-${i}-${p}`;
    const [, ...parts] = /(.{8})(.{4})(.{4})(.{4})(.{12})/.exec(createHash("sha256").update(claim).digest("hex"));
    const volume = `pvc-${parts.join("-")}`;
    const { uid } = add("v1", "PersistentVolumeClaim", claim, { finalizers: ["kubernetes.io/pvc-protection"], spec: { volumeName: volume }, status: { phase: "Bound" } }).metadata;
    add("v1", "PersistentVolume", volume, {
      finalizers: ["kubernetes.io/pv-protection"],
      metadata: { namespace: undefined, annotations: { "pv.kubernetes.io/provisioned-by": "ebs.csi.aws.com" } },
      spec: { claimRef: { kind: "PersistentVolumeClaim", namespace: "pic", name: claim, uid }, persistentVolumeReclaimPolicy: "Delete", csi: { driver: "ebs.csi.aws.com" } },
      status: { phase: "Bound" },
    });
    pod(`kafka-${i}-${p}`, owner, claim);
  }
});
each(68, (i) => {
  const { name, uid } = pods[i % pods.length].metadata;
  add("v1", "Event", `${name}.17f${i.toString(16).padStart(13, "0")}`, { involvedObject: { kind: "Pod", namespace: "pic", name, uid } });
});
each(10, (i) => add("v1", "Secret", `credentials-${i}`));
while (items.length < all) add("v1", "ConfigMap", `settings-${items.length}`);

console.log(JSON.stringify({ apiVersion: "v1", kind: "List", items }));
