package structured

import (
	"context"
	"errors"
	"fmt"
	"os"
	"sync"
	"testing"

	"apportion.dev/apportion"
	corev1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/sets"
)

const driver = "gpu.example.com"

// everything that a release has.
var everything = Features{
	AdminAccess: true, CompatibilityGroups: true, ConsumableCapacity: true, DerivedAttributes: true, DeviceBindingAndStatus: true,
	DeviceTaints: true, FractionalCapacityRange: true, ListTypeAttributes: true, OptionalNodeOperations: true, PartitionableDevices: true,
	PrioritizedList: true,
}

var allocators *Allocators

func TestMain(m *testing.M) {
	made, err := apportion.NewRuntime(context.Background(), apportion.Options{CacheDir: os.Getenv("APPORTION_CACHE")})
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	allocators = New(made)
	code := m.Run()
	_ = made.Close()
	os.Exit(code)
}

// lister is classes by name.
type lister map[string]*resourcev1.DeviceClass

func (l lister) List() ([]*resourcev1.DeviceClass, error) { return nil, errors.New("nobody lists") }

func (l lister) Get(name string) (*resourcev1.DeviceClass, error) {
	if class := l[name]; class != nil {
		return class, nil
	}
	return nil, apierrors.NewNotFound(resourcev1.Resource("deviceclasses"), name)
}

func classes(names ...string) lister {
	all := lister{}
	for _, name := range names {
		all[name] = &resourcev1.DeviceClass{ObjectMeta: metav1.ObjectMeta{Name: name}}
	}
	return all
}

func node(name string) *corev1.Node {
	return &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: name}}
}

func slice(node string, devices int) *resourcev1.ResourceSlice {
	slice := &resourcev1.ResourceSlice{ObjectMeta: metav1.ObjectMeta{Name: node}}
	slice.Spec = resourcev1.ResourceSliceSpec{
		Driver: driver, NodeName: &node, Pool: resourcev1.ResourcePool{Name: node, ResourceSliceCount: 1},
	}
	for index := range devices {
		slice.Spec.Devices = append(slice.Spec.Devices, resourcev1.Device{Name: fmt.Sprintf("gpu-%d", index)})
	}
	return slice
}

// sharedSlice has one device of so much memory, for many.
func sharedSlice(node, memory string) *resourcev1.ResourceSlice {
	slice := slice(node, 1)
	isShared := true
	slice.Spec.Devices[0].AllowMultipleAllocations = &isShared
	slice.Spec.Devices[0].Capacity = map[resourcev1.QualifiedName]resourcev1.DeviceCapacity{
		"memory": {Value: resource.MustParse(memory)},
	}
	return slice
}

func claim(name, class string, count int64) *resourcev1.ResourceClaim {
	claim := &resourcev1.ResourceClaim{ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: "default"}}
	exactly := &resourcev1.ExactDeviceRequest{
		DeviceClassName: class, AllocationMode: resourcev1.DeviceAllocationModeExactCount, Count: count,
	}
	claim.Spec.Devices.Requests = []resourcev1.DeviceRequest{{Name: "gpu", Exactly: exactly}}
	return claim
}

func memory(claim *resourcev1.ResourceClaim, amount string) *resourcev1.ResourceClaim {
	claim.Spec.Devices.Requests[0].Exactly.Capacity = &resourcev1.CapacityRequirements{
		Requests: map[resourcev1.QualifiedName]resource.Quantity{"memory": resource.MustParse(amount)},
	}
	return claim
}

// of makes an allocator with every feature.
func of(t *testing.T, state AllocatedState, classes lister, slices ...*resourcev1.ResourceSlice) Allocator {
	t.Helper()
	made, err := allocators.NewAllocator(context.Background(), everything, state, classes, slices, nil)
	if err != nil {
		t.Fatal(err)
	}
	return made
}

// devices that claims get; "none" where they do not fit.
func devices(t *testing.T, allocator Allocator, on string, claims ...*resourcev1.ResourceClaim) string {
	t.Helper()
	results, err := allocator.Allocate(context.Background(), node(on), claims)
	if err != nil {
		t.Fatal(err)
	}
	if results == nil {
		return "none"
	}
	var names []string
	for _, result := range results {
		for _, device := range result.Devices.Results {
			names = append(names, device.Device)
		}
	}
	return fmt.Sprint(names)
}

func TestAllocatorsOfOneClusterSeeTheirOwnSlices(t *testing.T) {
	two, one := slice("a", 2), slice("a", 1)
	earlier := of(t, AllocatedState{}, classes("gpu"), two, slice("b", 3))
	later := of(t, AllocatedState{}, classes("gpu"), one)
	for range 2 {
		if found := devices(t, earlier, "a", claim("x", "gpu", 2)); found != "[gpu-0 gpu-1]" {
			t.Error(found)
		}
		if found := devices(t, earlier, "b", claim("x", "gpu", 3)); found != "[gpu-0 gpu-1 gpu-2]" {
			t.Error(found)
		}
		if found := devices(t, later, "a", claim("x", "gpu", 2)); found != "none" {
			t.Error("a slice that was replaced:", found)
		}
		if found := devices(t, later, "b", claim("x", "gpu", 1)); found != "none" {
			t.Error("a slice that is gone:", found)
		}
	}
	facts, err := allocators.of(everything)
	if err != nil || len(facts.local) != 1 {
		t.Error("pools of nodes that are gone:", facts.local, err)
	}
}

func TestAClassThatIsGoneIsTheListersError(t *testing.T) {
	known := classes("gpu")
	allocator := of(t, AllocatedState{}, known, slice("a", 1))
	if found := devices(t, allocator, "a", claim("x", "gpu", 1)); found != "[gpu-0]" {
		t.Fatal(found)
	}
	delete(known, "gpu")
	_, err := allocator.Allocate(context.Background(), node("a"), []*resourcev1.ResourceClaim{claim("x", "gpu", 1)})
	var failed *apportion.FailedError
	if !apierrors.IsNotFound(err) || !errors.As(err, &failed) || errors.Is(err, ErrFailedAllocationOnNode) {
		t.Fatal(err)
	}
	if words := "claim default/x, request gpu: could not retrieve device class gpu: "; len(err.Error()) < len(words) || err.Error()[:len(words)] != words {
		t.Fatal(err)
	}
	known["gpu"] = classes("gpu")["gpu"]
	known["gpu"].Spec.Selectors = []resourcev1.DeviceSelector{{CEL: &resourcev1.CELDeviceSelector{Expression: "false"}}}
	if found := devices(t, allocator, "a", claim("x", "gpu", 1)); found != "none" {
		t.Fatal("a class that has changed:", found)
	}
}

func TestWhatIsInUseIsNotGivenAgain(t *testing.T) {
	share := types.UID("11111111-1111-1111-1111-111111111111")
	first := MakeDeviceID(driver, "a", "gpu-0")
	capacity := NewConsumedCapacityCollection()
	capacity.Insert(NewDeviceConsumedCapacity(MakeDeviceID(driver, "s", "gpu-0"), map[resourcev1.QualifiedName]resource.Quantity{
		"memory": resource.MustParse("30Gi"),
	}))
	state := AllocatedState{
		AllocatedDevices:         sets.New(first),
		AllocatedSharedDeviceIDs: sets.New(MakeSharedDeviceID(MakeDeviceID(driver, "s", "gpu-0"), &share)),
		AggregatedCapacity:       capacity,
	}
	allocator := of(t, state, classes("gpu"), slice("a", 2), sharedSlice("s", "40Gi"))
	for _, expected := range []struct {
		node  string
		claim *resourcev1.ResourceClaim
		found string
	}{
		{"a", claim("x", "gpu", 1), "[gpu-1]"},
		{"a", claim("x", "gpu", 2), "none"},
		{"s", memory(claim("x", "gpu", 1), "10Gi"), "[gpu-0]"},
		{"s", memory(claim("x", "gpu", 1), "11Gi"), "none"},
	} {
		if found := devices(t, allocator, expected.node, expected.claim); found != expected.found {
			t.Errorf("%s: %s instead of %s", expected.node, found, expected.found)
		}
	}
	results, err := allocator.Allocate(context.Background(), node("s"), []*resourcev1.ResourceClaim{memory(claim("x", "gpu", 1), "10Gi")})
	if err != nil {
		t.Fatal(err)
	}
	result := results[0].Devices.Results[0]
	if amount := result.ConsumedCapacity["memory"]; result.ShareID == nil || *result.ShareID == share || amount.String() != "10Gi" {
		t.Fatalf("%+v", result)
	}
}

func TestAFeatureThatIsOffIsAnError(t *testing.T) {
	allocator, err := allocators.NewAllocator(context.Background(), Features{}, AllocatedState{}, classes("gpu"), nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	isAdmin := true
	asking := claim("x", "gpu", 1)
	asking.Spec.Devices.Requests[0].Exactly.AdminAccess = &isAdmin
	if _, err := allocator.Allocate(context.Background(), node("a"), []*resourcev1.ResourceClaim{asking}); err == nil {
		t.Fatal("no error")
	}
}

func TestAClaimOfATemplateNeedsNoName(t *testing.T) {
	asking := claim("", "gpu", 1)
	asking.GenerateName = "pod-"
	if found := devices(t, of(t, AllocatedState{}, classes("gpu"), slice("a", 2)), "a", asking, claim("", "gpu", 1)); found != "[gpu-0 gpu-1]" {
		t.Fatal(found)
	}
	if asking.Name != "" {
		t.Fatal("the claim was changed")
	}
}

func TestWhatCannotBeReadCostsNothingElse(t *testing.T) {
	good := classes("gpu")
	slices := []*resourcev1.ResourceSlice{slice("a", 1), slice("b", 2)}
	facts, err := allocators.of(everything)
	if err != nil {
		t.Fatal(err)
	}
	// The cluster takes the slices in.
	devices(t, of(t, AllocatedState{}, good, slices...), "b", claim("x", "gpu", 2))
	before := facts.cluster
	unreadable := slice("\xff", 1)
	bad := classes("gpu")
	opaque := &resourcev1.OpaqueDeviceConfiguration{Driver: driver, Parameters: runtime.RawExtension{Raw: []byte("text")}}
	bad["gpu"].Spec.Config = []resourcev1.DeviceClassConfiguration{{DeviceConfiguration: resourcev1.DeviceConfiguration{Opaque: opaque}}}
	for _, asked := range []struct {
		allocator Allocator
		node      string
	}{
		{of(t, AllocatedState{}, good, append(slices, unreadable)...), "a"},
		{of(t, AllocatedState{}, bad, slices...), "a"},
		{of(t, AllocatedState{}, good, slices...), ""},
	} {
		var said *apportion.UnreadableError
		_, err := asked.allocator.Allocate(context.Background(), node(asked.node), []*resourcev1.ResourceClaim{claim("x", "gpu", 1)})
		if !errors.As(err, &said) {
			t.Error(err)
		}
		if found := devices(t, of(t, AllocatedState{}, good, slices...), "b", claim("x", "gpu", 2)); found != "[gpu-0 gpu-1]" {
			t.Error(found)
		}
	}
	if facts.cluster != before {
		t.Error("the cluster was made anew")
	}
}

func TestNamesAndTypesThatUpstreamDoesNotReadDoNotMatter(t *testing.T) {
	older := metav1.TypeMeta{APIVersion: "resource.k8s.io/v1beta1", Kind: "Older"}
	nameless, asking := slice("", 1), claim("x", "gpu", 4)
	on := "a"
	nameless.Spec.NodeName = &on
	nameless.Spec.Pool.Name = "nameless"
	other := slice("a", 2)
	other.Name, other.Spec.Pool.Name = "", "other"
	typed := slice("a", 1)
	named := classes("another")["another"]
	nameless.TypeMeta, typed.TypeMeta, named.TypeMeta, asking.TypeMeta = older, older, older, older
	allocator := of(t, AllocatedState{}, lister{"gpu": named}, nameless, typed, other)
	if found := devices(t, allocator, "a", asking); found != "[gpu-0 gpu-0 gpu-0 gpu-1]" {
		t.Error(found)
	}
	if nameless.Name != "" || asking.TypeMeta != older {
		t.Error("an object was changed")
	}
}

func TestAListOfSlicesMayBeUsedAgain(t *testing.T) {
	list := []*resourcev1.ResourceSlice{slice("a", 1)}
	if found := devices(t, of(t, AllocatedState{}, classes("gpu"), list...), "a", claim("x", "gpu", 2)); found != "none" {
		t.Error(found)
	}
	list[0] = slice("a", 2)
	if found := devices(t, of(t, AllocatedState{}, classes("gpu"), list...), "a", claim("x", "gpu", 2)); found == "none" {
		t.Error("the slices of the allocator before")
	}
}

func TestAContextThatHasEndedIsSaid(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	allocator := of(t, AllocatedState{}, classes("gpu"), slice("a", 1))
	if _, err := allocator.Allocate(ctx, node("a"), []*resourcev1.ResourceClaim{claim("x", "gpu", 1)}); !errors.Is(err, context.Canceled) {
		t.Fatal(err)
	}
}

func TestANodeThatIsMissingIsAnError(t *testing.T) {
	allocator := of(t, AllocatedState{}, classes("gpu"), slice("a", 1))
	if _, err := allocator.Allocate(context.Background(), nil, nil); !errors.Is(err, errNoNode) {
		t.Fatal(err)
	}
}

func TestManyMayAllocateAtOnce(t *testing.T) {
	one, two := slice("a", 1), slice("a", 2)
	var group sync.WaitGroup
	for count, slice := range []*resourcev1.ResourceSlice{one, two} {
		allocator := of(t, AllocatedState{}, classes("gpu"), slice)
		for range 3 {
			group.Go(func() {
				for range 10 {
					if found := devices(t, allocator, "a", claim("x", "gpu", int64(count+1))); found == "none" {
						t.Error("no place")
					}
				}
			})
		}
	}
	group.Wait()
}
