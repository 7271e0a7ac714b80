package uses

import (
	"github.com/kubectl-gc/kubectl-gc/internal/object"
	"github.com/kubectl-gc/kubectl-gc/internal/report"
)

// The kinds that hold the data of volumes.
var (
	longhornVolume = kindOf("longhorn.io", "v1beta2", "Volume", "volumes", true)
	lvmVolume      = kindOf("local.openebs.io", "v1alpha1", "LVMVolume", "lvmvolumes", true)
	zfsVolume      = kindOf("zfs.openebs.io", "v1", "ZFSVolume", "zfsvolumes", true)
	cstorVolume    = kindOf("cstor.openebs.io", "v1", "CStorVolume", "cstorvolumes", true)
	logicalVolume  = kindOf("topolvm.io", "v1", "LogicalVolume", "logicalvolumes", false)
	cephPool       = kindOf("ceph.rook.io", "v1", "CephBlockPool", "cephblockpools", true)
	cephFilesystem = kindOf("ceph.rook.io", "v1", "CephFilesystem", "cephfilesystems", true)
)

// volumeObjects are the objects by which CSI drivers keep their volumes: each is named as a field of the volume
// says, and is in a namespace, by default that of the driver.
//
// Source: longhorn-manager, csi/controller_server.go CreateVolume: the volume's id is the name of the Volume.
// Source: openebs/lvm-localpv, pkg/driver/controller.go CreateVolume; openebs/zfs-localpv and openebs/cstor-operators
// likewise.
// Source: topolvm, internal/driver/internal/k8s/logicalvolume_service.go CreateVolume: it has the name that the
// provisioner gives to the volume.
var volumeObjects = []struct {
	driver, path, namespace string
	to                      object.Kind
}{
	{"driver.longhorn.io", "spec.csi.volumeHandle", "longhorn-system", longhornVolume},
	{"local.csi.openebs.io", "spec.csi.volumeHandle", "openebs", lvmVolume},
	{"zfs.csi.openebs.io", "spec.csi.volumeHandle", "openebs", zfsVolume},
	{"cstor.csi.openebs.io", "spec.csi.volumeHandle", "openebs", cstorVolume},
	{"topolvm.io", "metadata.name", "", logicalVolume},
}

// volumeRules returns the rules for what holds the data of volumes.
//
// Source: rook.io/docs/rook/latest/Storage-Configuration: clusterID is the namespace of the Ceph cluster. Pools of an
// external one are no objects, and without Rook it is the ID of the cluster.
func volumeRules() []Rule {
	var list []Rule
	for _, v := range volumeObjects {
		r := Rule{User: object.PV, Path: v.path, While: "spec.csi.driver=" + v.driver, Only: true, To: v.to, Label: "volume", When: report.BreaksNow, Effect: "its data is deleted"}
		if v.namespace != "" {
			r.Elsewhere, r.Inexact = true, true
			r.Several = func(_ string, value any) []string {
				name, _ := value.(string)
				return []string{v.namespace + "/" + name}
			}
		}
		list = append(list, r)
	}
	for _, c := range []struct {
		key string
		to  object.Kind
	}{{"pool", cephPool}, {"fsName", cephFilesystem}} {
		list = append(
			list,
			Rule{User: object.StorageClass, Path: "parameters." + c.key, In: "parameters.clusterID", To: c.to, Inexact: true, Label: c.key, When: report.BreaksNextReconcile, Effect: "no volumes are provisioned"},
			Rule{User: object.PV, Path: "spec.csi.volumeAttributes." + c.key, In: "spec.csi.volumeAttributes.clusterID", To: c.to, Inexact: true, Label: c.key, When: report.BreaksNow, Effect: "its data is in it"},
		)
	}
	return list
}
