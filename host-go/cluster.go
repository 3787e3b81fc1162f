package apportion

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
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
	// copies of the objects; of a fork, only those that it changed.
	copies map[Ref]copied
	// generation of the home in which the handle is good.
	generation uint64
}

// home is the instance that a cluster shares with its forks.
type home struct {
	mutex    sync.Mutex
	runtime  *Runtime
	settings []byte
	instance *instance
	closed   bool
	// generation counts instances.
	generation uint64
	// arrived counts the objects that came.
	arrived uint64
}

// copied is an object's text, nil for one that is gone, and when it came: the order of Pods matters to Run.
type copied struct {
	text []byte
	when uint64
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
	cluster := &Cluster{home: &home{runtime: r, settings: text}, copies: map[Ref]copied{}}
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
	refs, texts := make([]Ref, len(objects)), make([][]byte, len(objects))
	for index, object := range objects {
		ref, text, err := encode(object)
		if err != nil {
			return nil, fmt.Errorf("object %d: %w", index, err)
		}
		refs[index], texts[index] = ref, text
		argument.WriteByte(separator)
		argument.Write(text)
	}
	var findings [][]Finding
	err := c.locked(func() error {
		answer, err := c.ask(opApply, argument.Bytes())
		if findings, err = applied(answer, err); err != nil {
			return err
		}
		for index, ref := range refs {
			if !hasError(findings[index]) {
				c.note(ref, texts[index])
			}
		}
		return nil
	})
	return findings, err
}

// applied reads the answer to a call that takes objects in.
func applied(answer []byte, err error) ([][]Finding, error) {
	if err != nil {
		return nil, err
	}
	var findings [][]Finding
	if err := json.Unmarshal(answer, &findings); err != nil {
		return nil, fmt.Errorf("apportion: the answer cannot be read: %w", err)
	}
	return findings, nil
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
		if found = string(answer) == "true"; found {
			c.note(object, nil)
		}
		return nil
	})
	return found, err
}

// Fork makes a cluster with the same facts, to try something out. Close it, or Commit it.
func (c *Cluster) Fork(ctx context.Context) (*Cluster, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	fork := &Cluster{home: c.home, parent: c, copies: map[Ref]copied{}}
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

// Commit has the cluster of which this is a fork become what the fork is. The fork is closed by it. The error is ErrChanged when that cluster
// has changed since the fork was made, and ErrClosed when it is closed.
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
		for key, copied := range c.copies {
			c.parent.keep(key, copied)
		}
		return c.end()
	})
}

// Close frees the cluster. Forks of a cluster that [Runtime.NewCluster] made end with it; those of a fork live on, but cannot be committed.
func (c *Cluster) Close() error {
	c.home.mutex.Lock()
	defer c.home.mutex.Unlock()
	if c.closed || c.home.closed {
		return nil
	}
	return c.end()
}

func (c *Cluster) end() error {
	c.closed, c.copies = true, nil
	if c.generation != c.home.generation {
		return nil
	}
	if c.parent == nil {
		c.home.closed = true
		return c.home.instance.close()
	}
	_, err := c.home.instance.ask(opClose, c.handle, nil)
	return err
}

// note takes down that an object is now this text, or gone where there is none. One that was so before is no change.
func (c *Cluster) note(object Ref, text []byte) {
	key := object.key()
	earlier := c.copy(key)
	if bytes.Equal(earlier.text, text) {
		return
	}
	now := copied{text, earlier.when}
	if earlier.text == nil {
		now.when = c.home.arrived
		c.home.arrived++
	}
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

func (c *Cluster) locked(work func() error) error {
	c.home.mutex.Lock()
	defer c.home.mutex.Unlock()
	switch {
	case c.closed || c.home.closed:
		return ErrClosed
	case c.generation != c.home.generation:
		return ErrForkLost
	}
	return work()
}

// ask makes a call. After a trap the root is filled again.
func (c *Cluster) ask(op operation, argument []byte) ([]byte, error) {
	answer, err := c.home.instance.ask(op, c.handle, argument)
	if err == nil || errors.Is(err, ErrTooLarge) {
		return answer, err
	}
	root := c
	for root.parent != nil {
		root = root.parent
	}
	return nil, errors.Join(ErrTrapped, err, root.refill())
}
