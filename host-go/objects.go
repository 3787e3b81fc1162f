package apportion

import (
	"cmp"
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
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
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

const (
	// sourceGroup of claim templates for several namespaces, whose kind is also one of Kubernetes; a [Ref] names theirs with the group.
	sourceGroup = "apportion.dev"
	sourceKind  = "ClusterResourceClaimTemplate." + sourceGroup
	// schedulerConfiguration of a kube-scheduler: it has no name, and there is one.
	schedulerConfiguration = "KubeSchedulerConfiguration"
	configurationName      = "kube-scheduler"
	// unknownKind is the code of the finding that an object was left aside for its kind.
	unknownKind = "read/unknown-kind"
)

// clusterScoped are the kinds without a namespace.
var clusterScoped = map[string]bool{
	"Node": true, "Namespace": true, "ClusterResourceClaimTemplate": true, sourceKind: true, "DeviceClass": true, "ResourceSlice": true,
	"DeviceTaintRule": true, "ResourcePoolStatusRequest": true, "PriorityClass": true, "PersistentVolume": true,
	"StorageClass": true, "CSINode": true, "CSIDriver": true, "VolumeAttachment": true, schedulerConfiguration: true,
}

// key is the object's name as the module knows it.
func (r Ref) key() Ref {
	switch {
	case clusterScoped[r.Kind]:
		r.Namespace = ""
	case r.Namespace == "":
		r.Namespace = "default"
	}
	if r.Kind == schedulerConfiguration {
		r.Name = configurationName
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
	at := slices.IndexFunc(found, func(known schema.GroupVersionKind) bool {
		return (kind.Kind == "" || kind.Kind == known.Kind) && (kind.Version == "" || kind.GroupVersion() == known.GroupVersion())
	})
	switch {
	case !isNamed && err != nil:
		message := fmt.Sprintf("the kind of a %T is not known", object)
		return refused(Ref{}, "read/no-kind", message, "set `apiVersion` and `kind`")
	case err == nil && at < 0:
		version, name := kind.ToAPIVersionAndKind()
		says := fmt.Sprintf("a %s of `%s`", cmp.Or(name, found[0].Kind), cmp.Or(version, found[0].GroupVersion().String()))
		message := fmt.Sprintf("a %T says that it is %s", object, says)
		return refused(Ref{Kind: kind.Kind}, "read/wrong-type", message, "use the Go type of that version, or leave `TypeMeta` empty")
	case err == nil:
		kind = found[at]
	}
	if meta.IsListType(object) {
		return refused(Ref{Kind: kind.Kind}, "read/wrong-type", "a list is given as one object", "give its items")
	}
	if _, isPartial := object.(*metav1.PartialObjectMetadata); isPartial {
		message := fmt.Sprintf("the metadata of a %s is given without the rest", kind.Kind)
		return refused(Ref{Kind: kind.Kind}, "read/wrong-type", message, "give the whole object")
	}
	metadata, err := meta.Accessor(object)
	if err != nil {
		return refused(Ref{Kind: kind.Kind}, "read/wrong-type", fmt.Sprintf("a %T has no metadata", object), "")
	}
	ref := Ref{Kind: kind.Kind, Namespace: metadata.GetNamespace(), Name: metadata.GetName()}
	switch {
	case kind.Kind == schedulerConfiguration:
		ref = ref.key()
	case ref.Name == "":
		return refused(ref, "read/no-name", fmt.Sprintf("a %s has no name", kind.Kind), "set `metadata.name`")
	case !utf8.ValidString(ref.Name) || !utf8.ValidString(ref.Namespace):
		// JSON would have another name for it, and the same for several.
		return refused(ref, "read/bad-json", "the name or the namespace is not UTF-8", "")
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
		text = slices.Concat([]byte(`{"apiVersion":"`+version+`","kind":"`+name+`",`), text[1:])
	}
	if kind.Group == sourceGroup {
		ref.Kind = sourceKind
	}
	return ref, text, nil
}

// isAside says that the module left an object aside for its kind. Workloads of Kubernetes have that finding, too, and are kept.
func isAside(text []byte, findings []Finding) bool {
	if !slices.ContainsFunc(findings, func(finding Finding) bool { return finding.Code == unknownKind }) {
		return false
	}
	var object metav1.PartialObjectMetadata
	if err := json.Unmarshal(text, &object); err != nil {
		return true
	}
	return object.GroupVersionKind().GroupKind() != (schema.GroupKind{Group: schedulingv1alpha3.GroupName, Kind: "Workload"})
}

func refused(ref Ref, code, message, hint string) (Ref, []byte, *Finding) {
	finding := &Finding{Code: code, Severity: "error", Object: &ref, Message: message, Hint: hint}
	if ref == (Ref{}) {
		finding.Object = nil
	}
	return ref, nil, finding
}
