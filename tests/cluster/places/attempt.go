package main

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"sort"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	utilfeature "k8s.io/apiserver/pkg/util/feature"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes/fake"
	clientscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/tools/events"
	"k8s.io/klog/v2"
	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler"
	"k8s.io/kubernetes/pkg/scheduler/apis/config"
	"k8s.io/kubernetes/pkg/scheduler/apis/config/scheme"
	"k8s.io/kubernetes/pkg/scheduler/backend/cache"
	"k8s.io/kubernetes/pkg/scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/defaultpreemption"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/feature"
	"k8s.io/kubernetes/pkg/scheduler/framework/preemption"
	"k8s.io/kubernetes/pkg/scheduler/profile"
)

// Question is a cluster and the Pod that asks in it.
type Question struct {
	Objects                []json.RawMessage `json:"objects"`
	Namespace              string            `json:"namespace"`
	Pod                    string            `json:"pod"`
	SchedulerConfiguration json.RawMessage   `json:"schedulerConfiguration,omitempty"`
}

// Answer is what one attempt comes to.
type Answer struct {
	// Feasible has the nodes that fit, by name.
	Feasible []string `json:"feasible,omitempty"`
	// Refused says what each other node has against the Pod.
	Refused map[string]Refusal `json:"refused,omitempty"`
	// Scores has the normalised score of each plugin on each node that fits, without its weight.
	Scores map[string]map[string]int64 `json:"scores,omitempty"`
	// Total has the sum of these with the weights.
	Total map[string]int64 `json:"total,omitempty"`
	// Candidates has, where no node fits, who would go from each node where that helps.
	Candidates map[string]Candidate `json:"candidates,omitempty"`
	// Best has those of the candidates that may be chosen.
	Best []string `json:"best,omitempty"`
	// Message is the sentence about a Pod that fits nowhere.
	Message string `json:"message,omitempty"`
	// Error is what went wrong; then there is nothing else.
	Error string `json:"error,omitempty"`
}

// Refusal is what a plugin has against a node.
type Refusal struct {
	Plugin  string   `json:"plugin"`
	Reasons []string `json:"reasons"`
	// IsCurable says whether it may help that other Pods go.
	IsCurable bool `json:"isCurable,omitempty"`
}

// Candidate is who goes from a node, by namespace and name, the most important first.
type Candidate struct {
	Victims    []string `json:"victims"`
	Violations int64    `json:"violations"`
}

// attempt is one try to find a place, with everything that takes part.
type attempt struct {
	framework framework.Framework
	snapshot  *cache.Snapshot
	state     *framework.CycleState
	pod       *v1.Pod
	args      *config.DefaultPreemptionArgs
}

// look runs one attempt.
func look(ctx context.Context, asked *Question) (*Answer, error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	found, err := prepare(ctx, asked)
	if err != nil {
		return nil, err
	}
	answer := &Answer{Feasible: []string{}}
	diagnosis, feasible, err := found.filter(ctx, answer)
	if err != nil {
		return nil, err
	}
	if len(feasible) == 0 {
		return answer, found.postFilter(ctx, diagnosis, answer)
	}
	return answer, found.score(ctx, feasible, answer)
}

// prepare makes a scheduler that knows the cluster.
func prepare(ctx context.Context, asked *Question) (*attempt, error) {
	var objects []runtime.Object
	for _, written := range asked.Objects {
		object, _, err := clientscheme.Codecs.UniversalDeserializer().Decode(written, nil, nil)
		if err != nil {
			return nil, fmt.Errorf("%w: %s", err, written)
		}
		// A scheduler watches no Pods that have ended; the client here does not select by fields.
		if pod, is := object.(*v1.Pod); is && (pod.Status.Phase == v1.PodSucceeded || pod.Status.Phase == v1.PodFailed) {
			continue
		}
		objects = append(objects, object)
	}
	configuration, err := configured(asked.SchedulerConfiguration)
	if err != nil {
		return nil, err
	}
	client := fake.NewSimpleClientset(objects...)
	factory := informers.NewSharedInformerFactory(client, 0)
	broadcaster := events.NewBroadcaster(&events.EventSinkImpl{Interface: client.EventsV1()})
	context.AfterFunc(ctx, broadcaster.Shutdown)
	made, err := scheduler.New(ctx, client, factory, nil, profile.NewRecorderFactory(broadcaster),
		scheduler.WithProfiles(configuration.Profiles...))
	if err != nil {
		return nil, err
	}
	factory.Start(ctx.Done())
	factory.WaitForCacheSync(ctx.Done())
	if err := made.WaitForHandlersSync(ctx); err != nil {
		return nil, err
	}
	pod, err := factory.Core().V1().Pods().Lister().Pods(asked.Namespace).Get(asked.Pod)
	if err != nil {
		return nil, err
	}
	profile, found := made.Profiles[pod.Spec.SchedulerName]
	if !found {
		return nil, fmt.Errorf("no profile is named %q", pod.Spec.SchedulerName)
	}
	snapshot, is := profile.SnapshotSharedLister().(*cache.Snapshot)
	if !is {
		return nil, fmt.Errorf("the snapshot is %T", profile.SnapshotSharedLister())
	}
	if err := made.Cache.UpdateSnapshot(klog.FromContext(ctx), snapshot); err != nil {
		return nil, err
	}
	result := &attempt{framework: profile, snapshot: snapshot, state: framework.NewCycleState(), pod: pod}
	for _, one := range configuration.Profiles {
		for _, plugin := range one.PluginConfig {
			if args, is := plugin.Args.(*config.DefaultPreemptionArgs); is && one.SchedulerName == pod.Spec.SchedulerName {
				result.args = args
			}
		}
	}
	return result, nil
}

// configured is a configuration with its defaults; the default one where none is given.
func configured(written json.RawMessage) (*config.KubeSchedulerConfiguration, error) {
	if len(written) == 0 {
		written = json.RawMessage(`{"apiVersion": "kubescheduler.config.k8s.io/v1", "kind": "KubeSchedulerConfiguration"}`)
	}
	object, _, err := scheme.Codecs.UniversalDecoder().Decode(written, nil, nil)
	if err != nil {
		return nil, err
	}
	configuration, is := object.(*config.KubeSchedulerConfiguration)
	if !is {
		return nil, fmt.Errorf("a KubeSchedulerConfiguration is %T", object)
	}
	return configuration, nil
}

// filter asks every node.
func (a *attempt) filter(ctx context.Context, answer *Answer) (*framework.Diagnosis, []fwk.NodeInfo, error) {
	diagnosis := &framework.Diagnosis{NodeToStatus: framework.NewDefaultNodeToStatus()}
	nodes, err := a.snapshot.NodeInfos().List()
	if err != nil {
		return nil, nil, err
	}
	answer.Refused = map[string]Refusal{}
	result, status, plugins := a.framework.RunPreFilterPlugins(ctx, a.state, a.pod)
	diagnosis.UnschedulablePlugins = plugins
	if !status.IsSuccess() {
		if !status.IsRejected() {
			return nil, nil, status.AsError()
		}
		diagnosis.NodeToStatus.SetAbsentNodesStatus(status)
		diagnosis.PreFilterMsg = status.Message()
		diagnosis.AddPluginStatus(status)
		for _, node := range nodes {
			answer.Refused[node.Node().Name] = refusal(status)
		}
		return diagnosis, nil, nil
	}
	var feasible []fwk.NodeInfo
	if !result.AllNodes() {
		names := plugins.UnsortedList()
		sort.Strings(names)
		others := fmt.Sprintf("node(s) didn't satisfy plugin(s) %v", names)
		diagnosis.NodeToStatus.SetAbsentNodesStatus(fwk.NewStatus(fwk.UnschedulableAndUnresolvable, others))
	}
	for _, node := range nodes {
		name := node.Node().Name
		if !result.AllNodes() && !result.NodeNames.Has(name) {
			answer.Refused[name] = refusal(diagnosis.NodeToStatus.Get(name))
			continue
		}
		status := a.framework.RunFilterPluginsWithNominatedPods(ctx, a.state, a.pod, node)
		switch {
		case status.Code() == fwk.Error:
			return nil, nil, status.AsError()
		case status.IsSuccess():
			feasible = append(feasible, node)
			answer.Feasible = append(answer.Feasible, name)
		default:
			diagnosis.NodeToStatus.Set(name, status)
			diagnosis.AddPluginStatus(status)
			answer.Refused[name] = refusal(status)
		}
	}
	sort.Strings(answer.Feasible)
	return diagnosis, feasible, nil
}

func refusal(status *fwk.Status) Refusal {
	return Refusal{Plugin: status.Plugin(), Reasons: append([]string{}, status.Reasons()...), IsCurable: status.Code() == fwk.Unschedulable}
}

// score compares the nodes that fit, even where there is only one.
func (a *attempt) score(ctx context.Context, feasible []fwk.NodeInfo, answer *Answer) error {
	if status := a.framework.RunPreScorePlugins(ctx, a.state, a.pod, feasible); !status.IsSuccess() {
		return status.AsError()
	}
	nodes, status := a.framework.RunScorePlugins(ctx, a.state, a.pod, feasible)
	if !status.IsSuccess() {
		return status.AsError()
	}
	weights := map[string]int64{}
	for _, plugin := range a.framework.ListPlugins().Score.Enabled {
		weights[plugin.Name] = int64(plugin.Weight)
	}
	answer.Scores, answer.Total = map[string]map[string]int64{}, map[string]int64{}
	for _, node := range nodes {
		scores := map[string]int64{}
		for _, plugin := range node.Scores {
			scores[plugin.Name] = plugin.Score / max(weights[plugin.Name], 1)
		}
		answer.Scores[node.Name], answer.Total[node.Name] = scores, node.TotalScore
	}
	return nil
}

// postFilter finds who would go, and what is said.
func (a *attempt) postFilter(ctx context.Context, diagnosis *framework.Diagnosis, answer *Answer) error {
	fit := &framework.FitError{Pod: a.pod, NumAllNodes: len(answer.Refused), Diagnosis: *diagnosis}
	preempts := func(plugin config.Plugin) bool { return plugin.Name == defaultpreemption.Name }
	if a.args != nil && slices.ContainsFunc(a.framework.ListPlugins().PostFilter.Enabled, preempts) {
		if err := a.candidates(ctx, diagnosis, answer); err != nil {
			return err
		}
	}
	_, status := a.framework.RunPostFilterPlugins(ctx, a.state, a.pod, diagnosis.NodeToStatus)
	fit.Diagnosis.PostFilterMsg = status.Message()
	answer.Message = fit.Error()
	return nil
}

// candidates looks at every node that others may leave, and finds which of them may be chosen.
func (a *attempt) candidates(ctx context.Context, diagnosis *framework.Diagnosis, answer *Answer) error {
	features := feature.NewSchedulerFeaturesFromGates(utilfeature.DefaultFeatureGate)
	plugin, err := defaultpreemption.New(ctx, a.args, a.framework, features)
	if err != nil {
		return err
	}
	nominated := diagnosis.NodeToStatus.Get(a.pod.Status.NominatedNodeName)
	if may, _ := plugin.PodEligibleToPreemptOthers(ctx, a.pod, nominated); !may {
		return nil
	}
	nodes, err := diagnosis.NodeToStatus.NodesForStatusCode(a.snapshot.NodeInfos(), fwk.Unschedulable)
	if err != nil || len(nodes) == 0 {
		return err
	}
	budgets, err := plugin.Evaluator.PdbLister.List(labels.Everything())
	if err != nil {
		return err
	}
	// What filters note in thought must not be seen by the plugins that run afterwards.
	other := *a
	other.state = framework.NewCycleState()
	if _, _, err := other.filter(ctx, &Answer{}); err != nil {
		return err
	}
	found, _, err := plugin.Evaluator.DryRunPreemption(ctx, other.state, a.pod, nodes, budgets, 0, int32(len(nodes)+1))
	if err != nil && len(found) == 0 {
		return nil
	}
	answer.Candidates = map[string]Candidate{}
	for _, one := range found {
		victims := []string{}
		for _, pod := range one.Victims().Pods {
			victims = append(victims, pod.Namespace+"/"+pod.Name)
		}
		answer.Candidates[one.Name()] = Candidate{Victims: victims, Violations: one.Victims().NumPDBViolations}
	}
	answer.Best = best(ctx, plugin.Evaluator, found)
	return nil
}

// draws is how often two equal candidates are compared before one of them counts as worse: the choice among equal ones is random.
const draws = 40

// best has the candidates that may be chosen, by name.
func best(ctx context.Context, evaluator *preemption.Evaluator, found []preemption.Candidate) []string {
	if len(found) == 0 {
		return nil
	}
	chosen := evaluator.SelectCandidate(ctx, found)
	names := []string{chosen.Name()}
	for _, other := range found {
		for range draws {
			if slices.Contains(names, other.Name()) {
				break
			}
			name := evaluator.SelectCandidate(ctx, []preemption.Candidate{chosen, other}).Name()
			if name == other.Name() {
				names = append(names, name)
			}
		}
	}
	sort.Strings(names)
	return names
}
