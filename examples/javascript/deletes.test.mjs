import assert from "node:assert/strict";
import { after, before, test } from "node:test";

import { CoreV1Api, KubeConfig } from "@kubernetes/client-node";

import { startCollector } from "./collector.mjs";

const config = new KubeConfig();
config.loadFromDefault();
const core = config.makeApiClient(CoreV1Api);

let gc;
before(async () => {
  gc = await startCollector("--pods=after-grace-period");
});
after(() => gc?.stop());

const makeNamespace = () => core.createNamespace({ body: { metadata: { generateName: "test-" } } });

test("what an object owns goes with it", async () => {
  const namespace = (await makeNamespace()).metadata.name;
  const make = (name, ownerReferences) => core.createNamespacedConfigMap({ namespace, body: { metadata: { name, ownerReferences } } });
  const owner = await make("owner");
  const dependent = await make("dependent", [{ apiVersion: "v1", kind: "ConfigMap", name: "owner", uid: owner.metadata.uid }]);

  await core.deleteNamespacedConfigMap({ namespace, name: "owner" });
  await gc.settled();

  const { items } = await core.listNamespacedConfigMap({ namespace });
  assert.deepEqual(items, [], await gc.explain(dependent));
});

test("a namespace waits for a finalizer in it", async () => {
  const namespace = await makeNamespace();
  const { name } = namespace.metadata;
  const held = { metadata: { name: "held", finalizers: ["example.com/held"] } };
  await core.createNamespacedConfigMap({ namespace: name, body: held });

  await core.deleteNamespace({ name });
  await gc.settled();
  assert.match(await gc.explain(namespace), /example\.com\/held/);

  const free = [{ op: "remove", path: "/metadata/finalizers" }]; // as its controller would
  await core.patchNamespacedConfigMap({ namespace: name, name: "held", body: free });
  await gc.settled();
  await assert.rejects(core.readNamespace({ name }), { code: 404 });
});

test("what is not settled is named", async () => {
  const namespace = (await makeNamespace()).metadata.name;
  const containers = [{ name: "web", image: "example.com/web" }];
  const spec = { nodeName: "node", terminationGracePeriodSeconds: 600, containers };
  await core.createNamespacedPod({ namespace, body: { metadata: { name: "slow" }, spec } });

  await core.deleteNamespacedPod({ namespace, name: "slow" });
  await assert.rejects(gc.settled("1s"), /a pod ends at .* when its grace period is over\n.* Pod .*\/slow is being deleted/);

  await core.deleteNamespacedPod({ namespace, name: "slow", gracePeriodSeconds: 0 });
  await gc.settled();
});
