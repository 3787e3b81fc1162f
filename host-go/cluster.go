package apportion

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"

	"k8s.io/apimachinery/pkg/runtime"
)

// Cluster holds the facts about one cluster and answers questions about them. It is safe for concurrent use; a cluster and its forks answer
// one call at a time.
type Cluster struct {
	home   *home
	handle uint32
	closed bool
	// parent of a fork, and how often it had changed when the fork was made.
	parent *Cluster
	since  uint64
	// changes so far.
	changes uint64
	// journal of a fork: what a commit does to the copies of the parent.
	journal []change
	// generation of the home in which the handle is good.
	generation uint64
}

// home is the instance that a cluster shares with its forks.
type home struct {
	mutex    sync.Mutex
	runtime  *Runtime
	settings []byte
	instance *instance
	// generation counts instances.
	generation uint64
	// copies of all objects, from which the cluster is filled again after a trap.
	copies map[Ref]copied
	// arrived counts what came.
	arrived uint64
}

// copied is an object's text, and when it came: the order of Pods matters to Run.
type copied struct {
	text []byte
	when uint64
}

// change is an object that came, or one that went where there is no text.
type change struct {
	ref  Ref
	text []byte
}

// NewCluster makes an empty cluster. Close it, or close the runtime.
func (r *Runtime) NewCluster(ctx context.Context, settings Settings) (*Cluster, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	text, err := json.Marshal(settings)
	if err != nil {
		return nil, fmt.Errorf("apportion: %w", err)
	}
	home := &home{runtime: r, settings: text, copies: map[Ref]copied{}}
	cluster := &Cluster{home: home}
	if err := cluster.start(ctx); err != nil {
		return nil, err
	}
	return cluster, nil
}

// start makes an instance with an empty cluster in it.
func (c *Cluster) start(ctx context.Context) error {
	made, err := c.home.runtime.instantiate(ctx)
	if err != nil {
		return err
	}
	answer, err := made.ask(opNewCluster, 0, c.home.settings)
	if err == nil {
		c.handle, err = created(answer)
	}
	if err != nil {
		_ = made.close()
		return err
	}
	c.home.instance = made
	c.home.generation++
	c.generation = c.home.generation
	return nil
}

// Apply takes objects in; those with the same kind, namespace and name are replaced. There is a list of findings per object: one with an
// error among them is left out. An error of Go says that nothing was taken in.
func (c *Cluster) Apply(objects ...runtime.Object) ([][]Finding, error) {
	var argument bytes.Buffer
	changes := make([]change, len(objects))
	for index, object := range objects {
		ref, text, err := encode(object)
		if err != nil {
			return nil, fmt.Errorf("object %d: %w", index, err)
		}
		changes[index] = change{ref, text}
		argument.WriteByte(separator)
		argument.Write(text)
	}
	var findings [][]Finding
	err := c.locked(func() error {
		answer, err := c.ask(opApply, argument.Bytes())
		if err != nil {
			return err
		}
		if err := json.Unmarshal(answer, &findings); err != nil {
			return fmt.Errorf("apportion: the answer cannot be read: %w", err)
		}
		taken := changes[:0]
		for index, change := range changes {
			if !hasError(findings[index]) {
				taken = append(taken, change)
			}
		}
		c.note(taken...)
		return nil
	})
	return findings, err
}

func hasError(findings []Finding) bool {
	return slices.ContainsFunc(findings, func(finding Finding) bool { return finding.Severity == "error" })
}

// separator stands before each text of a sequence (RFC 7464). No JSON text contains it.
const separator = 0x1e

// Delete removes an object; false when there is none.
func (c *Cluster) Delete(object Ref) (bool, error) {
	argument, err := json.Marshal(object)
	if err != nil {
		return false, fmt.Errorf("apportion: %w", err)
	}
	var found bool
	err = c.locked(func() error {
		answer, err := c.ask(opDelete, argument)
		if err != nil {
			return err
		}
		found = string(answer) == "true"
		c.note(change{ref: object})
		return nil
	})
	return found, err
}

// Allocate finds the first node on which the claims fit, and their devices there. No place is no error: [Answer.Node] is empty then.
func (c *Cluster) Allocate(ctx context.Context, question Question) (*Answer, error) {
	answer, err := c.question(ctx, opAllocate, question)
	if err != nil {
		return nil, err
	}
	if _, err := failure(answer); err != nil {
		return nil, err
	}
	read := &Answer{}
	if err := json.Unmarshal(answer, read); err != nil {
		return nil, fmt.Errorf("apportion: the answer cannot be read: %w", err)
	}
	return read, nil
}

// Fits says for each node of the question whether the claims fit there, without devices and reasons; for all nodes by name where the
// question names none.
func (c *Cluster) Fits(ctx context.Context, question Question) ([]bool, error) {
	answer, err := c.question(ctx, opFits, question)
	if err != nil {
		return nil, err
	}
	if _, err := failure(answer); err != nil {
		return nil, err
	}
	var read struct {
		Bits string `json:"bits"`
	}
	if err := json.Unmarshal(answer, &read); err != nil {
		return nil, fmt.Errorf("apportion: the answer cannot be read: %w", err)
	}
	fits := make([]bool, len(read.Bits))
	for index := range fits {
		fits[index] = read.Bits[index] == '1'
	}
	return fits, nil
}

func (c *Cluster) question(ctx context.Context, op operation, question Question) ([]byte, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	argument, err := question.encode()
	if err != nil {
		return nil, err
	}
	var answer []byte
	err = c.locked(func() error {
		answer, err = c.ask(op, argument)
		return err
	})
	return answer, err
}

// Explain says why a Pod, a claim or a group is Pending, as the JSON of the inquiry "explain".
func (c *Cluster) Explain(ctx context.Context, subject Ref) (json.RawMessage, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	argument, err := json.Marshal(map[string]any{"kind": "explain", "subject": subject})
	if err != nil {
		return nil, fmt.Errorf("apportion: %w", err)
	}
	var read struct {
		Answer   json.RawMessage `json:"answer"`
		Findings []Finding       `json:"findings"`
	}
	err = c.locked(func() error {
		answer, err := c.ask(opInquire, argument)
		if err != nil {
			return err
		}
		return json.Unmarshal(answer, &read)
	})
	if err == nil && read.Findings != nil {
		err = &UnreadableError{Findings: read.Findings}
	}
	return read.Answer, err
}

// Run plays the cluster's controllers and scheduler until nothing changes, in a copy: the cluster stays as it is. The answer is the JSON of
// the report.
func (c *Cluster) Run(ctx context.Context) (json.RawMessage, error) {
	fork, err := c.Fork(ctx)
	if err != nil {
		return nil, err
	}
	var report json.RawMessage
	err = fork.locked(func() error {
		report, err = fork.ask(opRun, nil)
		return err
	})
	return report, errors.Join(err, fork.Close())
}

// Fork makes a cluster with the same facts, to try something out. Close it, or Commit it.
func (c *Cluster) Fork(ctx context.Context) (*Cluster, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	fork := &Cluster{home: c.home, parent: c}
	err := c.locked(func() error {
		answer, err := c.ask(opFork, nil)
		if err != nil {
			return err
		}
		fork.since, fork.generation = c.changes, c.generation
		fork.handle, err = created(answer)
		return err
	})
	if err != nil {
		return nil, err
	}
	return fork, nil
}

// Commit has the cluster of which this is a fork become what the fork is. The fork is closed by it.
func (c *Cluster) Commit() error {
	if c.parent == nil {
		return ErrNoFork
	}
	return c.locked(func() error {
		switch {
		case c.parent.closed:
			return ErrClosed
		case c.parent.changes != c.since:
			return ErrChanged
		}
		// The handles change places; the one of the old facts goes with the fork.
		c.handle, c.parent.handle = c.parent.handle, c.handle
		c.parent.note(c.journal...)
		return c.end()
	})
}

// Close frees the cluster. Forks of it live on until they are closed, but cannot be committed.
func (c *Cluster) Close() error {
	c.home.mutex.Lock()
	defer c.home.mutex.Unlock()
	if c.closed {
		return nil
	}
	return c.end()
}

func (c *Cluster) end() error {
	c.closed, c.journal = true, nil
	if c.generation != c.home.generation {
		return nil
	}
	if c.parent == nil {
		// The instance goes with all forks.
		c.home.copies = nil
		c.home.generation++
		return c.home.instance.close()
	}
	_, err := c.home.instance.ask(opClose, c.handle, nil)
	return err
}

// note keeps changes for the day on which the cluster is filled again.
func (c *Cluster) note(changes ...change) {
	c.changes++
	if c.parent != nil {
		c.journal = append(c.journal, changes...)
		return
	}
	for _, change := range changes {
		key := change.ref
		if key.Namespace == "" {
			// Where an object without a namespace goes; for kinds that have none the key is as good as another.
			key.Namespace = "default"
		}
		if change.text == nil {
			delete(c.home.copies, key)
			continue
		}
		when := c.home.arrived
		if earlier, ok := c.home.copies[key]; ok {
			when = earlier.when
		}
		c.home.copies[key] = copied{change.text, when}
		c.home.arrived++
	}
}

func (c *Cluster) locked(work func() error) error {
	c.home.mutex.Lock()
	defer c.home.mutex.Unlock()
	if c.closed {
		return ErrClosed
	}
	if c.generation != c.home.generation {
		return ErrForkLost
	}
	return work()
}

// ask makes a call. After a trap the root is filled again.
func (c *Cluster) ask(op operation, argument []byte) ([]byte, error) {
	answer, err := c.home.instance.ask(op, c.handle, argument)
	if err == nil {
		return answer, nil
	}
	root := c
	for root.parent != nil {
		root = root.parent
	}
	return nil, errors.Join(ErrTrapped, err, root.refill())
}

// refill puts a new instance with the copies in the place of one that trapped.
func (c *Cluster) refill() error {
	_ = c.home.instance.close()
	if err := c.start(context.Background()); err != nil {
		c.closed = true
		return err
	}
	c.home.runtime.rebuilds.Add(1)
	var argument bytes.Buffer
	inOrder := slices.SortedFunc(maps.Values(c.home.copies), func(a, b copied) int { return cmp.Compare(a.when, b.when) })
	for _, copied := range inOrder {
		argument.WriteByte(separator)
		argument.Write(copied.text)
	}
	if _, err := c.home.instance.ask(opApply, c.handle, argument.Bytes()); err != nil {
		c.closed = true
		return err
	}
	return nil
}
