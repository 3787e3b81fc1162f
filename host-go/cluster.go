package apportion

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"apportion.dev/apportion/internal/engine"
	resourcev1 "k8s.io/api/resource/v1"
	"k8s.io/apimachinery/pkg/runtime"
)

// Cluster holds the facts about one cluster and answers questions about them. It is safe for concurrent use; [Options.Instances] says how many
// questions about a cluster and its forks are answered at a time.
type Cluster struct {
	home *home
	// id by which the instances of the crew know it.
	id     uint64
	crew   *crew
	closed bool
	// parent of a fork, and how often it had changed when the fork was made.
	parent *Cluster
	since  uint64
	// changes so far.
	changes uint64
	// copies of the objects; of a fork, only those that it changed.
	copies map[Ref]copied
	// prepared are the questions that it prepared. The lock on changes guards them.
	prepared map[*Prepared]bool
}

// copied is an object's text, nil for one that is gone, and when it came: the order of Pods matters to Run. A claim may have taken an allocation
// since.
type copied struct {
	text       []byte
	when       uint64
	allocation *resourcev1.AllocationResult
}

// whole is the object's text as it is now.
func (c copied) whole() ([]byte, error) {
	if c.allocation == nil {
		return c.text, nil
	}
	type fields map[string]json.RawMessage
	object, status := fields{}, fields{}
	if err := json.Unmarshal(c.text, &object); err != nil {
		return nil, err
	}
	if text, isThere := object["status"]; isThere {
		if err := json.Unmarshal(text, &status); err != nil {
			return nil, err
		}
	}
	var err error
	if status["allocation"], err = json.Marshal(c.allocation); err == nil {
		object["status"], err = json.Marshal(status)
	}
	if err != nil {
		return nil, err
	}
	return json.Marshal(object)
}

// NewCluster makes an empty cluster, an instance of the module of its own. An *[UnreadableError] says which of the settings is not known. Close the
// cluster, or the runtime.
func (r *Runtime) NewCluster(ctx context.Context, settings Settings) (*Cluster, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	text, err := json.Marshal(settings)
	if err != nil {
		return nil, fmt.Errorf("apportion: %w", err)
	}
	r.using.RLock()
	defer r.using.RUnlock()
	if r.closed || r.wazero == nil {
		return nil, errRuntimeClosed
	}
	home := &home{runtime: r, settings: text, last: 1}
	first, err := home.begin(ctx, home.last)
	if err != nil {
		return nil, err
	}
	home.crew = newCrew(home, first)
	return &Cluster{home: home, id: home.last, crew: home.crew, copies: map[Ref]copied{}, prepared: map[*Prepared]bool{}}, nil
}

// Apply takes objects in; those with the same kind, namespace and name are replaced. They have the types of any served version, or are
// unstructured. There is a list of findings per object: one with an error among them is left out, and [Refused] makes an error of the first. An error
// of Go says that nothing was taken in.
func (c *Cluster) Apply(objects ...runtime.Object) ([][]Finding, error) {
	var argument bytes.Buffer
	findings := make([][]Finding, len(objects))
	var sent []int
	refs, texts := make([]Ref, len(objects)), make([][]byte, len(objects))
	for index, object := range objects {
		ref, text, finding := encode(object)
		if finding != nil {
			findings[index] = []Finding{*finding}
			continue
		}
		refs[index], texts[index] = ref, text
		sent = append(sent, index)
		argument.WriteByte(separator)
		argument.Write(text)
	}
	defer c.home.change()()
	err := c.change(engine.Apply, argument.Bytes(), nil, func(answer []byte) error {
		each, err := readEach[[]Finding](answer, len(sent))
		if err != nil {
			return err
		}
		for at, index := range sent {
			own := each[at]
			for at := range own {
				if object := own[at].Object; object == nil || object.Name == "" {
					own[at].Object = &refs[index]
				}
			}
			if findings[index] = own; !hasError(own) && !isAside(texts[index], own) {
				c.note(refs[index].key(), texts[index])
			}
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return findings, nil
}

// separator stands before each text of a sequence (RFC 7464). No JSON text contains it.
const separator = 0x1e

// Delete removes an object; false when there is none.
func (c *Cluster) Delete(object Ref) (bool, error) {
	object = object.key()
	argument, err := json.Marshal(object)
	if err != nil {
		return false, fmt.Errorf("apportion: %w", err)
	}
	var found bool
	defer c.home.change()()
	err = c.change(engine.Delete, argument, nil, func(answer []byte) error {
		if found = string(answer) == "true"; found {
			c.note(object, nil)
		}
		return nil
	})
	return found, err
}

// Fork makes a cluster with the same facts, to try something out. It costs the same for any cluster. Close it, or Commit it; Revert starts over.
// The context is looked at before it begins.
func (c *Cluster) Fork(ctx context.Context) (*Cluster, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	fork := &Cluster{home: c.home, parent: c, copies: map[Ref]copied{}, prepared: map[*Prepared]bool{}}
	defer c.home.change()()
	err := c.change(engine.Fork, nil, fork, func([]byte) error {
		fork.since = c.changes
		return nil
	})
	if err != nil {
		return nil, err
	}
	return fork, nil
}

// Commit has the cluster of which this is a fork become what the fork is. The fork is closed by it. The error is ErrChanged when that cluster
// has changed since the fork was made, and ErrClosed when it is closed.
func (c *Cluster) Commit() error {
	if c.parent == nil {
		return ErrNoFork
	}
	defer c.home.change()()
	if _, err := c.now(); err != nil {
		return err
	}
	if _, err := c.parent.now(); err != nil {
		return errParentClosed
	}
	if c.parent.changes != c.since {
		return ErrChanged
	}
	isTaken := false
	err := c.with(context.Background(), true, func(crew *crew, one *member, _ uint32) error {
		done := change{op: engine.Commit, cluster: c.parent.id, fork: c.id}
		answer, err := one.repeat(done)
		if isTaken = string(answer) == "true"; err != nil || !isTaken {
			return err
		}
		for key, copied := range c.copies {
			c.parent.keep(key, copied)
		}
		c.home.mutex.Lock()
		defer c.home.mutex.Unlock()
		c.closed, c.copies = true, nil
		crew.note(one, done)
		return nil
	})
	if err == nil && !isTaken {
		return ErrChanged
	}
	return err
}

// Revert has a fork go back to what it was when it was made. What was forked off it in the meantime cannot be committed any more.
func (c *Cluster) Revert() error {
	if c.parent == nil {
		return ErrNoFork
	}
	defer c.home.change()()
	return c.change(engine.Revert, nil, nil, func([]byte) error {
		clear(c.copies)
		c.changes++
		return nil
	})
}

// Close frees the cluster. Forks of a cluster that [Runtime.NewCluster] made end with it; those of a fork live on, but cannot be committed.
func (c *Cluster) Close() error {
	if c.home == nil {
		return nil
	}
	defer c.home.change()()
	if c.parent != nil {
		err := c.change(engine.Close, nil, nil, func([]byte) error { return nil })
		c.home.mutex.Lock()
		defer c.home.mutex.Unlock()
		c.closed, c.copies = true, nil
		if errors.Is(err, ErrClosed) || errors.Is(err, ErrForkLost) {
			return nil
		}
		return err
	}
	c.home.mutex.Lock()
	defer c.home.mutex.Unlock()
	c.home.closed, c.closed, c.copies = true, true, nil
	if !c.home.runtime.closed {
		c.home.crew.end()
	}
	return nil
}

// note takes down that an object is now this text, or gone where there is none. One that was so before is no change.
func (c *Cluster) note(key Ref, text []byte) {
	earlier := c.copy(key)
	if earlier.allocation == nil && bytes.Equal(earlier.text, text) {
		return
	}
	now := copied{text: text, when: earlier.when}
	if earlier.text == nil {
		now.when = c.home.arrived
		c.home.arrived++
	}
	c.keep(key, now)
}

// took takes down that a claim has an allocation now.
func (c *Cluster) took(key Ref, allocation *resourcev1.AllocationResult) {
	now := c.copy(key)
	now.allocation = allocation
	c.keep(key, now)
}

// copy of an object, which a fork has from its parent where it did not change it.
func (c *Cluster) copy(key Ref) copied {
	for at := c; at != nil; at = at.parent {
		if copied, ok := at.copies[key]; ok {
			return copied
		}
	}
	return copied{}
}

func (c *Cluster) keep(key Ref, copied copied) {
	c.changes++
	if c.parent == nil && copied.text == nil {
		delete(c.copies, key)
		return
	}
	c.copies[key] = copied
}
