package volumes

import (
	core "k8s.io/api/core/v1"
	storage "k8s.io/api/storage/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	meta "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// mkfs.xfs refuses anything smaller.
var smallestVolume = resource.MustParse("300Mi")

func volumeSize(requested resource.Quantity) resource.Quantity {
	if requested.Cmp(smallestVolume) < 0 {
		return smallestVolume
	}
	return requested
}

// persistentVolume is a local volume on a loop device, bound beforehand to its claim and to its node.
func persistentVolume(name string, claim *core.PersistentVolumeClaim, class *storage.StorageClass, node, device string, size resource.Quantity) *core.PersistentVolume {
	fsType := "xfs" // grows while mounted without CAP_SYS_RESOURCE, which ext4 does not
	reclaim := core.PersistentVolumeReclaimDelete
	if class.ReclaimPolicy != nil {
		reclaim = *class.ReclaimPolicy
	}
	return &core.PersistentVolume{
		ObjectMeta: meta.ObjectMeta{
			Name: name,
			// Without it the controller-manager looks for an in-tree deleter and marks the volume Failed.
			Annotations: map[string]string{"pv.kubernetes.io/provisioned-by": provisioner},
		},
		Spec: core.PersistentVolumeSpec{
			Capacity:                      core.ResourceList{core.ResourceStorage: size},
			AccessModes:                   claim.Spec.AccessModes,
			VolumeMode:                    claim.Spec.VolumeMode,
			StorageClassName:              class.Name,
			PersistentVolumeReclaimPolicy: reclaim,
			MountOptions:                  class.MountOptions,
			ClaimRef: &core.ObjectReference{
				APIVersion: "v1", Kind: "PersistentVolumeClaim",
				Namespace: claim.Namespace, Name: claim.Name, UID: claim.UID,
			},
			PersistentVolumeSource: core.PersistentVolumeSource{
				Local: &core.LocalVolumeSource{Path: device, FSType: &fsType},
			},
			NodeAffinity: &core.VolumeNodeAffinity{Required: &core.NodeSelector{NodeSelectorTerms: []core.NodeSelectorTerm{{
				MatchExpressions: []core.NodeSelectorRequirement{{
					Key: core.LabelHostname, Operator: core.NodeSelectorOpIn, Values: []string{node},
				}},
			}}}},
		},
	}
}
