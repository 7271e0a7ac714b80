package browser

import "fmt"

// hanging is a namespace as people delete them: 200 objects, a third of them Events, and
// five databases whose finalizer nobody takes off.
func hanging() []item {
	var d dump
	d.add("v1", "Namespace", "", "pic")
	for i := range 10 {
		web := d.add("apps/v1", "Deployment", "pic", fmt.Sprintf("web-%d", i))
		set := d.add("apps/v1", "ReplicaSet", "pic", fmt.Sprintf("web-%d-66db7fc774", i), web)
		for p := range 4 {
			d.add("v1", "Pod", "pic", fmt.Sprintf("web-%d-66db7fc774-%d", i, p), set)
		}
		service := d.add("v1", "Service", "pic", fmt.Sprintf("web-%d", i))
		d.add("discovery.k8s.io/v1", "EndpointSlice", "pic", fmt.Sprintf("web-%d-x7k2p", i), service)
	}
	d.add("v1", "ConfigMap", "pic", "kube-root-ca.crt")
	for i := range 40 {
		d.add("v1", "ConfigMap", "pic", fmt.Sprintf("settings-%d-of-a-service-that-has-a-long-name", i))
	}
	for i := range 6 {
		d.add("v1", "PersistentVolumeClaim", "pic", fmt.Sprintf("data-%d", i))
	}
	for i := range 5 {
		database := d.add("acme.io/v1", "Database", "pic", fmt.Sprintf("d%d", i+1))
		database.Metadata.Finalizers = []string{"databases.acme.io/cleanup"}
	}
	for i := range 68 {
		d.add("v1", "Event", "pic", fmt.Sprintf("web-0.17f%05x", i))
	}
	var items []item
	for _, i := range d {
		items = append(items, *i)
	}
	return items
}

type dump []*item

func (d *dump) add(apiVersion, kind, namespace, name string, owners ...*item) *item {
	made := &item{apiVersion, kind, metadata{
		Name: name, Namespace: namespace, UID: fmt.Sprintf("%08d-0000-4000-8000-000000000000", len(*d)+1), ResourceVersion: "1",
	}}
	for _, o := range owners {
		made.Metadata.OwnerReferences = append(made.Metadata.OwnerReferences,
			reference{o.APIVersion, o.Kind, o.Metadata.Name, o.Metadata.UID, true, true})
	}
	*d = append(*d, made)
	return made
}
