package main

import (
	"context"
	"maps"

	core "k8s.io/api/core/v1"
	meta "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	applycore "k8s.io/client-go/applyconfigurations/core/v1"
	applymeta "k8s.io/client-go/applyconfigurations/meta/v1"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

const fieldOwner = client.FieldOwner("widget")

// reconciler keeps the text of each Widget in a ConfigMap of the same name. It reads the cache alone, and writes
// only what differs from it.
type reconciler struct {
	client client.Client
	report *report
}

func (r *reconciler) Reconcile(ctx context.Context, request ctrl.Request) (ctrl.Result, error) {
	err := r.reconcile(ctx, request.NamespacedName)
	r.report.reconciled(err)
	return ctrl.Result{}, err
}

func (r *reconciler) reconcile(ctx context.Context, key types.NamespacedName) error {
	var widget Widget
	if err := r.client.Get(ctx, key, &widget); err != nil {
		return client.IgnoreNotFound(err)
	}
	if widget.DeletionTimestamp != nil {
		return nil // the garbage collector takes what it owned
	}
	r.report.saw(key, widget.Spec.Text)
	if err := r.applyConfigMap(ctx, &widget); err != nil {
		return err
	}
	if widget.Status.ObservedGeneration == widget.Generation {
		return nil
	}
	defer r.report.wrote()
	return r.client.Status().Apply(ctx, observed(&widget), fieldOwner, client.ForceOwnership)
}

func (r *reconciler) applyConfigMap(ctx context.Context, widget *Widget) error {
	var current core.ConfigMap
	if err := r.client.Get(ctx, client.ObjectKeyFromObject(widget), &current); client.IgnoreNotFound(err) != nil {
		return err
	}
	desired := configMap(widget)
	if maps.Equal(current.Data, desired.Data) && meta.IsControlledBy(&current, widget) {
		return nil
	}
	defer r.report.wrote()
	return r.client.Apply(ctx, desired, fieldOwner, client.ForceOwnership)
}

func configMap(widget *Widget) *applycore.ConfigMapApplyConfiguration {
	return applycore.ConfigMap(widget.Name, widget.Namespace).
		WithOwnerReferences(applymeta.OwnerReference().
			WithAPIVersion(groupVersion.String()).
			WithKind(widgetKind).
			WithName(widget.Name).
			WithUID(widget.UID).
			WithController(true).
			WithBlockOwnerDeletion(true)).
		WithData(map[string]string{"text": widget.Spec.Text})
}
