package structured

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync"

	"apportion.dev/apportion"
	corev1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
)

// version of Kubernetes whose rules hold.
const version = "1.37"

// gates behind the features of any release.
var gates = []string{
	"DRAAdminAccess", "DRADeviceCompatibilityGroups", "DRAConsumableCapacity", "DRADerivedAttributes", "DRADeviceBindingConditions",
	"DRADeviceTaints", "DRAFractionalCapacityRange", "DRAListTypeAttributes", "DRAOptionalNodeOperations", "DRAPartitionableDevices",
	"DRAPrioritizedList",
}

// mostNodes is how many nodes a cluster keeps. Beyond them it begins anew: an allocator is never told that a node is gone.
const mostNodes = 1 << 15

// pool of a driver.
type pool struct{ driver, name string }

// facts are a cluster, and which objects it has.
type facts struct {
	runtime  *apportion.Runtime
	settings apportion.Settings
	mutex    sync.RWMutex
	cluster  *apportion.Cluster
	// current allocator: the slices are its.
	current *allocator
	// slices by the name that they have in the cluster.
	slices  map[string]*resourcev1.ResourceSlice
	classes map[string]*resourcev1.DeviceClass
	nodes   map[string]*corev1.Node
	// local pools by node, and pools that may be of several nodes; each with how many slices say so.
	local map[string]map[pool]int
	other map[pool]int
}

func newFacts(runtime *apportion.Runtime, features Features) (*facts, error) {
	on := map[string]bool{}
	for _, gate := range gates {
		on[gate] = false
	}
	for name := range features.Set() {
		// A feature may stand for several gates.
		for gate := range strings.SplitSeq(name, "+") {
			on[gate] = true
		}
	}
	made := &facts{runtime: runtime, settings: apportion.Settings{Version: version, FeatureGates: on}}
	return made, made.begin()
}

// begin makes an empty cluster.
func (f *facts) begin() error {
	cluster, err := f.runtime.NewCluster(context.Background(), f.settings)
	if err != nil {
		return err
	}
	f.cluster, f.current = cluster, nil
	f.slices, f.classes = map[string]*resourcev1.ResourceSlice{}, map[string]*resourcev1.DeviceClass{}
	f.nodes, f.local, f.other = map[string]*corev1.Node{}, map[string]map[pool]int{}, map[pool]int{}
	return nil
}

// with asks while the cluster has an allocator's slices, the node and the classes of the claims; the pools are those that the node may have.
// The error about classes is the lister's.
func (f *facts) with(
	asking *allocator, node *corev1.Node, claims []*resourcev1.ResourceClaim, ask func(*apportion.Cluster, []pool) error,
) (aboutClasses, err error) {
	classes, aboutClasses := listed(asking.classes, claims)
	node = relevant(node)
	f.mutex.RLock()
	isThere := f.has(asking, node, classes)
	if isThere {
		err = ask(f.cluster, f.pools(node.Name))
	}
	f.mutex.RUnlock()
	if isThere && !isLost(err) {
		return aboutClasses, err
	}
	f.mutex.Lock()
	defer f.mutex.Unlock()
	if !isThere {
		if err = f.bring(asking, node, classes); err == nil {
			err = ask(f.cluster, f.pools(node.Name))
		}
		if !isLost(err) {
			return aboutClasses, err
		}
	}
	// Nobody knows what the cluster has.
	_ = f.cluster.Close()
	return aboutClasses, errors.Join(err, f.begin())
}

// isLost says that a call may have left the cluster without some of its objects.
func isLost(err error) bool {
	return errors.Is(err, apportion.ErrTrapped) || errors.Is(err, apportion.ErrClosed)
}

// listed are the classes that claims name, nil where the lister has an error instead.
func listed(lister DeviceClassLister, claims []*resourcev1.ResourceClaim) (map[string]*resourcev1.DeviceClass, error) {
	classes := map[string]*resourcev1.DeviceClass{}
	var missing error
	look := func(name string) {
		if _, isKnown := classes[name]; isKnown || name == "" {
			return
		}
		class, err := lister.Get(name)
		if err != nil {
			class, missing = nil, errors.Join(missing, err)
		}
		classes[name] = class
	}
	for _, claim := range claims {
		for _, request := range claim.Spec.Devices.Requests {
			if request.Exactly != nil {
				look(request.Exactly.DeviceClassName)
			}
			for _, alternative := range request.FirstAvailable {
				look(alternative.DeviceClassName)
			}
		}
	}
	return classes, missing
}

// relevant is what an allocation reads of a node. The rest changes with each heartbeat.
func relevant(node *corev1.Node) *corev1.Node {
	return &corev1.Node{
		ObjectMeta: metav1.ObjectMeta{Name: node.Name, Labels: node.Labels},
		Status: corev1.NodeStatus{
			DeclaredFeatures: node.Status.DeclaredFeatures,
			NodeInfo:         corev1.NodeSystemInfo{KubeletVersion: node.Status.NodeInfo.KubeletVersion},
		},
	}
}

func (f *facts) has(asking *allocator, node *corev1.Node, classes map[string]*resourcev1.DeviceClass) bool {
	if f.current != asking || !same(f.nodes[node.Name], node) {
		return false
	}
	for name, class := range classes {
		if !same(f.classes[name], class) {
			return false
		}
	}
	return true
}

// same objects are one, or equal.
func same[T any](one, other *T) bool {
	return one == other || one != nil && other != nil && equality.Semantic.DeepEqual(one, other)
}

// bring takes in what the cluster does not have yet, and takes out what is gone.
func (f *facts) bring(asking *allocator, node *corev1.Node, classes map[string]*resourcev1.DeviceClass) error {
	if f.current != asking {
		if f.current == nil || !slices.Equal(f.current.slices, asking.slices) {
			f.current = nil
			if err := f.replaceSlices(asking.slices); err != nil {
				return err
			}
		}
		f.current = asking
	}
	for name, class := range classes {
		if same(f.classes[name], class) {
			continue
		}
		if class == nil {
			if _, err := f.cluster.Delete(apportion.Ref{Kind: "DeviceClass", Name: name}); err != nil {
				return err
			}
			delete(f.classes, name)
			continue
		}
		own := *class
		own.TypeMeta, own.Name = metav1.TypeMeta{}, name
		if err := f.apply(&own); err != nil {
			return err
		}
		f.classes[name] = class
	}
	if same(f.nodes[node.Name], node) {
		return nil
	}
	if len(f.nodes) >= mostNodes {
		for name := range f.nodes {
			if _, err := f.cluster.Delete(apportion.Ref{Kind: "Node", Name: name}); err != nil {
				return err
			}
		}
		clear(f.nodes)
	}
	if err := f.apply(node); err != nil {
		return err
	}
	f.nodes[node.Name] = node
	return nil
}

// replaceSlices has the cluster have these slices. Where one is refused, it has what f says.
func (f *facts) replaceSlices(all []*resourcev1.ResourceSlice) error {
	names := make(map[string]*resourcev1.ResourceSlice, len(all))
	for _, slice := range all {
		name := slice.Name
		// A list can hold two slices of one name or of none, a cluster cannot: the second gets a name that sorts directly behind the first.
		for name == "" || names[name] != nil {
			name += "!"
		}
		names[name] = slice
	}
	for name, known := range f.slices {
		if names[name] != nil {
			continue
		}
		if _, err := f.cluster.Delete(apportion.Ref{Kind: "ResourceSlice", Name: name}); err != nil {
			return err
		}
		f.count(known, -1)
		delete(f.slices, name)
	}
	var changed []runtime.Object
	var changedNames []string
	for name, slice := range names {
		if same(f.slices[name], slice) {
			f.slices[name] = slice
			continue
		}
		own := *slice
		own.TypeMeta, own.Name = metav1.TypeMeta{}, name
		changed, changedNames = append(changed, &own), append(changedNames, name)
	}
	findings, err := f.cluster.Apply(changed...)
	if err != nil {
		return err
	}
	for index, name := range changedNames {
		// Instead of one that is refused the cluster still has the one before.
		if apportion.Refused(findings[index:index+1]) != nil {
			continue
		}
		if known := f.slices[name]; known != nil {
			f.count(known, -1)
		}
		f.count(names[name], 1)
		f.slices[name] = names[name]
	}
	return apportion.Refused(findings)
}

// apply takes objects in; one that cannot be read is an error.
func (f *facts) apply(objects ...runtime.Object) error {
	findings, err := f.cluster.Apply(objects...)
	if err != nil {
		return err
	}
	return apportion.Refused(findings)
}

// count takes down which nodes may have the pool of a slice.
func (f *facts) count(slice *resourcev1.ResourceSlice, by int) {
	pools, key := f.other, pool{slice.Spec.Driver, slice.Spec.Pool.Name}
	node := slice.Spec.NodeName
	isLocal := node != nil && *node != ""
	if isLocal {
		if f.local[*node] == nil {
			f.local[*node] = map[pool]int{}
		}
		pools = f.local[*node]
	}
	if pools[key] += by; pools[key] == 0 {
		delete(pools, key)
	}
	if isLocal && len(pools) == 0 {
		delete(f.local, *node)
	}
}

// pools that a node may have.
func (f *facts) pools(node string) []pool {
	all := make([]pool, 0, len(f.local[node])+len(f.other))
	for key := range f.local[node] {
		all = append(all, key)
	}
	for key := range f.other {
		if f.local[node][key] == 0 {
			all = append(all, key)
		}
	}
	return all
}

// amounts of capacity without their pointers.
func amounts(consumed ConsumedCapacity) map[resourcev1.QualifiedName]resource.Quantity {
	all := make(map[resourcev1.QualifiedName]resource.Quantity, len(consumed))
	for name, amount := range consumed {
		if amount != nil {
			all[name] = *amount
		}
	}
	return all
}
