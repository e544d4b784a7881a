package volumes

import (
	"context"
	"fmt"
	"strings"
	"time"

	core "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	typedcore "k8s.io/client-go/kubernetes/typed/core/v1"
	corelisters "k8s.io/client-go/listers/core/v1"
	storagelisters "k8s.io/client-go/listers/storage/v1"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/tools/record"
	"k8s.io/client-go/util/workqueue"
	"k8s.io/klog/v2"

	meta "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes/scheme"
)

// provisioner is what a StorageClass names to get volumes from here.
const provisioner = "volumes.sampledb.io/loop"

// volumeKey marks queue entries that are PersistentVolumes; claims are "namespace/name".
const volumeKey = "volume:"

type controller struct {
	client  kubernetes.Interface
	disks   diskFolder
	factory informers.SharedInformerFactory
	claims  corelisters.PersistentVolumeClaimLister
	volumes corelisters.PersistentVolumeLister
	classes storagelisters.StorageClassLister
	queue   workqueue.TypedRateLimitingInterface[string]
	events  record.EventRecorder
}

func newController(client kubernetes.Interface, disks diskFolder) *controller {
	factory := informers.NewSharedInformerFactory(client, 0)
	broadcaster := record.NewBroadcaster()
	broadcaster.StartRecordingToSink(&typedcore.EventSinkImpl{Interface: client.CoreV1().Events("")})
	c := &controller{
		client:  client,
		disks:   disks,
		factory: factory,
		claims:  factory.Core().V1().PersistentVolumeClaims().Lister(),
		volumes: factory.Core().V1().PersistentVolumes().Lister(),
		classes: factory.Storage().V1().StorageClasses().Lister(),
		queue: workqueue.NewTypedRateLimitingQueue(
			workqueue.NewTypedItemExponentialFailureRateLimiter[string](200*time.Millisecond, 10*time.Second)),
		events: broadcaster.NewRecorder(scheme.Scheme, core.EventSource{Component: provisioner}),
	}
	watch(factory.Core().V1().PersistentVolumeClaims().Informer(), c.enqueueClaim, func(any) {})
	watch(factory.Core().V1().PersistentVolumes().Informer(), c.enqueueVolume, c.removeDisk)
	return c
}

func watch(informer cache.SharedIndexInformer, enqueue, gone func(any)) {
	// The error is only for handlers added to an informer that was stopped; this one has not started.
	_, _ = informer.AddEventHandler(cache.ResourceEventHandlerFuncs{
		AddFunc:    enqueue,
		UpdateFunc: func(_, object any) { enqueue(object) },
		DeleteFunc: gone,
	})
}

// removeDisk follows a volume whose object somebody deleted by hand. With Retain the data stays, as the policy says.
func (c *controller) removeDisk(object any) {
	if tombstone, isTombstone := object.(cache.DeletedFinalStateUnknown); isTombstone {
		object = tombstone.Obj
	}
	volume, isVolume := object.(*core.PersistentVolume)
	if !isVolume || !isOurs(volume) || volume.Spec.PersistentVolumeReclaimPolicy != core.PersistentVolumeReclaimDelete {
		return
	}
	if err := c.disks.remove(volume.Name); err != nil {
		klog.Errorf("%s: %v", volume.Name, err)
	}
}

func (c *controller) enqueueClaim(object any) {
	c.queue.Add(cache.MetaObjectToName(object.(*core.PersistentVolumeClaim)).String())
}

func (c *controller) enqueueVolume(object any) {
	volume := object.(*core.PersistentVolume)
	c.queue.Add(volumeKey + volume.Name)
	if volume.Spec.ClaimRef != nil { // a claim can only grow once it sees its volume
		c.queue.Add(volume.Spec.ClaimRef.Namespace + "/" + volume.Spec.ClaimRef.Name)
	}
}

func (c *controller) run(ctx context.Context) error {
	c.factory.Start(ctx.Done())
	c.factory.WaitForCacheSync(ctx.Done())
	klog.Infof("serving StorageClasses of %s from %s", provisioner, c.disks.directory)
	go wait.UntilWithContext(ctx, c.work, time.Second)
	<-ctx.Done()
	c.queue.ShutDown()
	return nil
}

func (c *controller) work(ctx context.Context) {
	for {
		key, stopping := c.queue.Get()
		if stopping {
			return
		}
		if err := c.sync(ctx, key); err != nil {
			klog.Errorf("%s: %v", key, err)
			c.queue.AddRateLimited(key)
		} else {
			c.queue.Forget(key)
		}
		c.queue.Done(key)
	}
}

func (c *controller) sync(ctx context.Context, key string) error {
	if name, isVolume := strings.CutPrefix(key, volumeKey); isVolume {
		return c.reclaim(ctx, name)
	}
	namespace, name, _ := strings.Cut(key, "/")
	claim, err := c.claims.PersistentVolumeClaims(namespace).Get(name)
	if err != nil {
		return ignoreNotFound(err)
	}
	if claim.Spec.VolumeName != "" {
		return c.grow(ctx, claim)
	}
	err = c.provision(ctx, claim)
	if err != nil {
		c.events.Eventf(claim, core.EventTypeWarning, "ProvisioningFailed", "%v", err)
	}
	return err
}

// provision makes a volume on the node that the scheduler chose for the claim's first Pod.
func (c *controller) provision(ctx context.Context, claim *core.PersistentVolumeClaim) error {
	node := claim.Annotations["volume.kubernetes.io/selected-node"]
	if claim.Spec.StorageClassName == nil || node == "" || claim.DeletionTimestamp != nil {
		return nil
	}
	class, err := c.classes.Get(*claim.Spec.StorageClassName)
	if err != nil || class.Provisioner != provisioner {
		return ignoreNotFound(err)
	}
	for _, mode := range claim.Spec.AccessModes {
		if mode != core.ReadWriteOnce && mode != core.ReadWriteOncePod {
			return fmt.Errorf("access mode %s is not possible: the volumes of StorageClass %s stay on one node; use ReadWriteOnce or ReadWriteOncePod", mode, class.Name)
		}
	}
	if source := claim.Spec.DataSourceRef; source != nil {
		return fmt.Errorf("volumes of StorageClass %s are made empty and can't be filled from %s %s: remove dataSource and copy the data with a Pod", class.Name, source.Kind, source.Name)
	}
	name := "pvc-" + string(claim.UID)
	if _, err := c.volumes.Get(name); err == nil {
		return nil // made already; the claim is bound in a moment
	}
	size := volumeSize(claim.Spec.Resources.Requests[core.ResourceStorage])
	device, err := c.disks.attach(name, size.Value())
	if err != nil {
		return err
	}
	_, err = c.client.CoreV1().PersistentVolumes().Create(ctx, persistentVolume(name, claim, class, node, device, size), meta.CreateOptions{})
	if apierrors.IsAlreadyExists(err) {
		return nil
	}
	if err == nil {
		c.events.Eventf(claim, core.EventTypeNormal, "ProvisioningSucceeded", "volume %s of %s on %s", name, size.String(), node)
	}
	return err
}

// grow follows a claim that asks for more than its volume has. The kubelet grows the file system afterwards.
func (c *controller) grow(ctx context.Context, claim *core.PersistentVolumeClaim) error {
	volume, err := c.volumes.Get(claim.Spec.VolumeName)
	if err != nil || !isOurs(volume) || claim.Status.Phase != core.ClaimBound {
		return ignoreNotFound(err)
	}
	wanted := claim.Spec.Resources.Requests[core.ResourceStorage]
	if wanted.Cmp(volume.Spec.Capacity[core.ResourceStorage]) > 0 {
		if err := c.disks.grow(volume.Name, wanted.Value()); err != nil {
			return err
		}
		patch := fmt.Sprintf(`{"spec":{"capacity":{"storage":%q}}}`, wanted.String())
		if _, err := c.client.CoreV1().PersistentVolumes().Patch(ctx, volume.Name, types.MergePatchType, []byte(patch), meta.PatchOptions{}); err != nil {
			return err
		}
	}
	if wanted.Cmp(claim.Status.Capacity[core.ResourceStorage]) <= 0 || isResizePending(claim) {
		return nil
	}
	waiting := claim.DeepCopy()
	waiting.Status.Conditions = append(waiting.Status.Conditions, core.PersistentVolumeClaimCondition{
		Type:               core.PersistentVolumeClaimFileSystemResizePending,
		Status:             core.ConditionTrue,
		LastTransitionTime: meta.Now(),
		Message:            "the disk has grown; the kubelet grows the file system while a Pod uses it",
	})
	_, err = c.client.CoreV1().PersistentVolumeClaims(claim.Namespace).UpdateStatus(ctx, waiting, meta.UpdateOptions{})
	return err
}

// reclaim removes a volume whose claim is gone, where its policy says Delete.
func (c *controller) reclaim(ctx context.Context, name string) error {
	volume, err := c.volumes.Get(name)
	if err != nil {
		return ignoreNotFound(err)
	}
	released := volume.Status.Phase == core.VolumeReleased || volume.Status.Phase == core.VolumeFailed
	if !isOurs(volume) || !released || volume.Spec.PersistentVolumeReclaimPolicy != core.PersistentVolumeReclaimDelete {
		return nil
	}
	if err := c.disks.remove(name); err != nil {
		return err
	}
	return ignoreNotFound(c.client.CoreV1().PersistentVolumes().Delete(ctx, name, meta.DeleteOptions{Preconditions: &meta.Preconditions{UID: &volume.UID}}))
}

func isOurs(volume *core.PersistentVolume) bool {
	return volume.Annotations["pv.kubernetes.io/provisioned-by"] == provisioner
}

func isResizePending(claim *core.PersistentVolumeClaim) bool {
	for _, condition := range claim.Status.Conditions {
		if condition.Type == core.PersistentVolumeClaimFileSystemResizePending && condition.Status == core.ConditionTrue {
			return true
		}
	}
	return false
}

func ignoreNotFound(err error) error {
	if apierrors.IsNotFound(err) {
		return nil
	}
	return err
}
