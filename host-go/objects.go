package apportion

import (
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"unicode/utf8"

	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	resourcev1 "k8s.io/api/resource/v1"
	resourcev1alpha3 "k8s.io/api/resource/v1alpha3"
	resourcev1beta1 "k8s.io/api/resource/v1beta1"
	resourcev1beta2 "k8s.io/api/resource/v1beta2"
	schedulingv1 "k8s.io/api/scheduling/v1"
	schedulingv1alpha3 "k8s.io/api/scheduling/v1alpha3"
	schedulingv1beta1 "k8s.io/api/scheduling/v1beta1"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
)

// kinds knows what typed objects are called that do not say so themselves.
var kinds = func() *runtime.Scheme {
	scheme := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{
		corev1.AddToScheme, appsv1.AddToScheme, batchv1.AddToScheme, policyv1.AddToScheme,
		resourcev1.AddToScheme, resourcev1beta2.AddToScheme, resourcev1beta1.AddToScheme, resourcev1alpha3.AddToScheme,
		schedulingv1.AddToScheme, schedulingv1beta1.AddToScheme, schedulingv1alpha3.AddToScheme,
	} {
		utilruntime.Must(add(scheme))
	}
	return scheme
}()

// sources of cluster-wide claim templates share their kind with those of Kubernetes itself; a [Ref] names them with their group.
const (
	sourceGroup = "apportion.dev"
	sourceKind  = "ClusterResourceClaimTemplate." + sourceGroup
)

// clusterScoped are the kinds without a namespace.
var clusterScoped = map[string]bool{
	"Node": true, "Namespace": true, "ClusterResourceClaimTemplate": true, sourceKind: true, "DeviceClass": true, "ResourceSlice": true,
	"DeviceTaintRule": true, "ResourcePoolStatusRequest": true, "PriorityClass": true, "PersistentVolume": true,
}

// key is the object's name as the module knows it.
func (r Ref) key() Ref {
	switch {
	case clusterScoped[r.Kind]:
		r.Namespace = ""
	case r.Namespace == "":
		r.Namespace = "default"
	}
	return r
}

// encode writes an object as JSON with its apiVersion and kind; the finding says why it cannot.
func encode(object runtime.Object) (Ref, []byte, *Finding) {
	if value := reflect.ValueOf(object); !value.IsValid() || value.Kind() == reflect.Pointer && value.IsNil() {
		return refused(Ref{}, "read/wrong-type", "an object is nil", "")
	}
	kind := object.GetObjectKind().GroupVersionKind()
	isNamed := kind.Version != "" && kind.Kind != ""
	found, _, err := kinds.ObjectKinds(object)
	switch {
	case !isNamed && err != nil:
		message := fmt.Sprintf("the kind of a %T is not known", object)
		return refused(Ref{}, "read/no-kind", message, "set `apiVersion` and `kind`")
	case !isNamed:
		kind = found[0]
	case err == nil && !slices.Contains(found, kind):
		message := fmt.Sprintf("a %T says that it is a %s of `%s`", object, kind.Kind, kind.GroupVersion())
		return refused(Ref{Kind: kind.Kind}, "read/wrong-type", message, "use the Go type of that version, or leave `TypeMeta` empty")
	}
	if meta.IsListType(object) {
		return refused(Ref{Kind: kind.Kind}, "read/wrong-type", "a list is given as one object", "give its items")
	}
	metadata, err := meta.Accessor(object)
	if err != nil {
		return refused(Ref{Kind: kind.Kind}, "read/wrong-type", fmt.Sprintf("a %T has no metadata", object), "")
	}
	ref := Ref{Kind: kind.Kind, Namespace: metadata.GetNamespace(), Name: metadata.GetName()}
	if ref.Name == "" {
		return refused(ref, "read/no-name", fmt.Sprintf("a %s has no name", kind.Kind), "set `metadata.name`")
	}
	text, err := json.Marshal(object)
	if err != nil {
		return refused(ref, "read/bad-json", fmt.Sprintf("the object cannot be written: %v", err), "")
	}
	if !utf8.Valid(text) {
		return refused(ref, "read/bad-json", "the object is not UTF-8", "")
	}
	if !isNamed {
		version, name := kind.ToAPIVersionAndKind()
		head := fmt.Sprintf(`{"apiVersion":%q,"kind":%q,`, version, name)
		text = append([]byte(head), text[1:]...)
	}
	if kind.Group == sourceGroup {
		ref.Kind = sourceKind
	}
	return ref, text, nil
}

func refused(ref Ref, code, message, hint string) (Ref, []byte, *Finding) {
	finding := &Finding{Code: code, Severity: "error", Object: &ref, Message: message, Hint: hint}
	if ref == (Ref{}) {
		finding.Object = nil
	}
	return ref, nil, finding
}
