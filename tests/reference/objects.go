//go:build next

package main

import (
	"encoding/json"
	"hash/fnv"
	"os"
	"reflect"
	"slices"
	"strings"
	"time"

	resourcev1 "k8s.io/api/resource/v1"
	resourcev1alpha3 "k8s.io/api/resource/v1alpha3"
	resourcev1beta1 "k8s.io/api/resource/v1beta1"
	resourcev1beta2 "k8s.io/api/resource/v1beta2"
	schedulingv1alpha3 "k8s.io/api/scheduling/v1alpha3"
	schedulingv1beta1 "k8s.io/api/scheduling/v1beta1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
)

// objects writes an object of each kind and version with every field of its Go type set, one per line. A field's value depends
// on its name alone, so that versions of a kind can be compared.
func objects() error {
	out := json.NewEncoder(os.Stdout)
	for _, of := range []struct {
		group, version string
		types          []any
	}{
		{"resource.k8s.io", "v1", []any{resourcev1.DeviceClass{}, resourcev1.DeviceTaintRule{}, resourcev1.ResourceClaim{}, resourcev1.ResourceClaimTemplate{}, resourcev1.ResourceSlice{}}},
		{"resource.k8s.io", "v1alpha3", []any{resourcev1alpha3.DeviceTaintRule{}, resourcev1alpha3.ResourcePoolStatusRequest{}}},
		{"resource.k8s.io", "v1beta1", []any{resourcev1beta1.DeviceClass{}, resourcev1beta1.ResourceClaim{}, resourcev1beta1.ResourceClaimTemplate{}, resourcev1beta1.ResourceSlice{}}},
		{"resource.k8s.io", "v1beta2", []any{resourcev1beta2.DeviceClass{}, resourcev1beta2.DeviceTaintRule{}, resourcev1beta2.ResourceClaim{}, resourcev1beta2.ResourceClaimTemplate{}, resourcev1beta2.ResourceSlice{}}},
		{"scheduling.k8s.io", "v1alpha3", []any{schedulingv1alpha3.CompositePodGroup{}, schedulingv1alpha3.PodGroup{}, schedulingv1alpha3.Workload{}}},
		{"scheduling.k8s.io", "v1beta1", []any{schedulingv1beta1.PodGroup{}, schedulingv1beta1.Workload{}}},
	} {
		for _, kind := range of.types {
			object := reflect.New(reflect.TypeOf(kind)).Elem()
			set(object, "", nil)
			object.FieldByName("TypeMeta").Set(reflect.ValueOf(metav1.TypeMeta{APIVersion: of.group + "/" + of.version, Kind: object.Type().Name()}))
			if err := out.Encode(object.Addr().Interface()); err != nil {
				return err
			}
		}
	}
	return nil
}

// set gives a value, and all below it, what follows from its field's name. A type inside itself is set once.
func set(value reflect.Value, name string, within []reflect.Type) {
	switch value.Interface().(type) {
	case resource.Quantity:
		value.Set(reflect.ValueOf(resource.MustParse("3")))
		return
	case metav1.Time:
		value.Set(reflect.ValueOf(metav1.NewTime(time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC))))
		return
	case runtime.RawExtension:
		value.Set(reflect.ValueOf(runtime.RawExtension{Raw: []byte(`{"apiVersion":"example.com/v1","kind":"Parameters"}`)}))
		return
	case metav1.FieldsV1:
		value.Set(reflect.ValueOf(metav1.FieldsV1{Raw: []byte(`{}`)}))
		return
	}
	switch value.Kind() {
	case reflect.Struct:
		if slices.Contains(within, value.Type()) {
			return
		}
		within = append(slices.Clip(within), value.Type())
		for i := range value.NumField() {
			field := value.Type().Field(i)
			set(value.Field(i), strings.Split(field.Tag.Get("json"), ",")[0], within)
		}
	case reflect.Pointer:
		value.Set(reflect.New(value.Type().Elem()))
		set(value.Elem(), name, within)
	case reflect.Slice:
		if slices.Contains(within, value.Type().Elem()) {
			return
		}
		value.Set(reflect.MakeSlice(value.Type(), 1, 1))
		set(value.Index(0), name, within)
	case reflect.Map:
		key, element := reflect.New(value.Type().Key()).Elem(), reflect.New(value.Type().Elem()).Elem()
		set(key, name+"Key", within)
		set(element, name, within)
		value.Set(reflect.MakeMap(value.Type()))
		value.SetMapIndex(key, element)
	case reflect.String:
		value.SetString(name + "Value")
	case reflect.Bool:
		value.SetBool(true)
	case reflect.Int, reflect.Int32, reflect.Int64:
		hash := fnv.New32()
		hash.Write([]byte(name))
		value.SetInt(int64(hash.Sum32()%1000) + 1)
	case reflect.Uint8:
		value.SetUint('x')
	default:
		panic("a field of kind " + value.Kind().String() + ": " + name)
	}
}
