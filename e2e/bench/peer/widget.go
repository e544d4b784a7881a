package main

import (
	meta "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	applymeta "k8s.io/client-go/applyconfigurations/meta/v1"
)

const widgetKind = "Widget"

var groupVersion = schema.GroupVersion{Group: "bench.sampledb.io", Version: "v1"}

// Widget asks for a ConfigMap of its own name with its text.
type Widget struct {
	meta.TypeMeta   `json:",inline"`
	meta.ObjectMeta `json:"metadata,omitempty"`
	Spec            WidgetSpec   `json:"spec,omitempty"`
	Status          WidgetStatus `json:"status,omitempty"`
}

// WidgetSpec is what the user wants.
type WidgetSpec struct {
	Text string `json:"text,omitempty"`
}

// WidgetStatus is what the controller has seen to.
type WidgetStatus struct {
	ObservedGeneration int64            `json:"observedGeneration,omitempty"`
	Conditions         []meta.Condition `json:"conditions,omitempty"`
}

// WidgetList is what the API server answers to a list.
type WidgetList struct {
	meta.TypeMeta `json:",inline"`
	meta.ListMeta `json:"metadata,omitempty"`
	Items         []Widget `json:"items"`
}

func addWidgets(scheme *runtime.Scheme) error {
	scheme.AddKnownTypes(groupVersion, &Widget{}, &WidgetList{})
	meta.AddToGroupVersion(scheme, groupVersion)
	return nil
}

// DeepCopyInto copies so that neither sees what becomes of the other.
func (w *Widget) DeepCopyInto(out *Widget) {
	*out = *w
	w.ObjectMeta.DeepCopyInto(&out.ObjectMeta)
	if w.Status.Conditions != nil {
		out.Status.Conditions = make([]meta.Condition, len(w.Status.Conditions))
		for i := range w.Status.Conditions {
			w.Status.Conditions[i].DeepCopyInto(&out.Status.Conditions[i])
		}
	}
}

// DeepCopyObject is what the cache hands out copies with.
func (w *Widget) DeepCopyObject() runtime.Object {
	out := new(Widget)
	w.DeepCopyInto(out)
	return out
}

// DeepCopyObject makes a list a runtime.Object.
func (l *WidgetList) DeepCopyObject() runtime.Object {
	out := &WidgetList{TypeMeta: l.TypeMeta, Items: make([]Widget, len(l.Items))}
	l.ListMeta.DeepCopyInto(&out.ListMeta)
	for i := range l.Items {
		l.Items[i].DeepCopyInto(&out.Items[i])
	}
	return out
}

// widgetApplyConfiguration is the part of a Widget that the controller owns. It is typed because read-your-writes
// keeps typed and unstructured apart: a typed read would not wait for an unstructured write.
type widgetApplyConfiguration struct {
	applymeta.TypeMetaApplyConfiguration    `json:",inline"`
	*applymeta.ObjectMetaApplyConfiguration `json:"metadata,omitempty"`
	Status                                  WidgetStatus `json:"status"`
}

func observed(widget *Widget) *widgetApplyConfiguration {
	return &widgetApplyConfiguration{
		TypeMetaApplyConfiguration:   *applymeta.TypeMeta().WithAPIVersion(groupVersion.String()).WithKind(widgetKind),
		ObjectMetaApplyConfiguration: applymeta.ObjectMeta().WithName(widget.Name).WithNamespace(widget.Namespace),
		Status:                       WidgetStatus{ObservedGeneration: widget.Generation},
	}
}

func (widgetApplyConfiguration) IsApplyConfiguration() {}

func (w *widgetApplyConfiguration) GetAPIVersion() *string { return w.APIVersion }

func (w *widgetApplyConfiguration) GetKind() *string { return w.Kind }

func (w *widgetApplyConfiguration) GetName() *string { return w.Name }

func (w *widgetApplyConfiguration) GetNamespace() *string { return w.Namespace }
