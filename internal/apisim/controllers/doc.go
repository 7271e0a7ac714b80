// Package controllers simulates the controllers, other than the garbage collector, that delete
// objects or remove finalizers:
//
//   - the kubelet, which finishes pods, and pod GC, which does so without a kubelet;
//   - the namespace controller;
//   - the clean-up of the custom resources and of the APIServices of a deleted definition;
//   - the PV controller and the volume drivers, for the volume of a deleted claim;
//   - those that delete the Endpoints and addresses of a deleted Service, and mirrors of Endpoints;
//   - the tokens controller, for a deleted ServiceAccount;
//   - those that remove Kubernetes' own finalizers: from claims that no pod uses, volumes without
//     a claim, devices that no pod reserves, ServiceCIDRs that no Service needs, Services
//     without a load balancer, and pods that no Job must count.
//
// No controller here creates or adopts objects. ComesBack and Adopters name the built-in
// controllers that would.
//
// Each controller is driven like the collector: one call makes one pass over the world, in a fixed
// order and without a clock. What upstream does after some seconds happens when it is requested.
// What upstream retries is retried in the next pass.
//
// A controller deletes the objects that it sees. Removing the last finalizer of a namespace or a
// definition asserts that its content is gone. The controllers do that only if the snapshot covers
// everything that could prevent it. Otherwise they wait and record for what (see Wait).
package controllers
