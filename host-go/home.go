package apportion

import (
	"context"
	"errors"
	"sync"

	"apportion.dev/apportion/internal/engine"
)

// home is what a cluster shares with its forks.
type home struct {
	runtime  *Runtime
	settings []byte
	// changing is held while a cluster is changed, and the runtime's lock before it. It guards the copies and how many objects came.
	changing sync.Mutex
	arrived  uint64
	// mutex guards the rest, and of clusters which they are in the instances.
	mutex  sync.Mutex
	crew   *crew
	closed bool
	// last id that a cluster was given.
	last uint64
}

// change locks what a change needs, and says how that ends. The runtime's lock comes first: one who waits for changing may hold it.
func (h *home) change() func() {
	if h == nil {
		return func() {}
	}
	h.runtime.using.RLock()
	h.changing.Lock()
	return func() {
		h.changing.Unlock()
		h.runtime.using.RUnlock()
	}
}

// begin makes an instance with an empty cluster in it.
func (h *home) begin(ctx context.Context, id uint64) (*member, error) {
	instance, err := h.runtime.instantiate(ctx)
	if err != nil {
		return nil, err
	}
	made := &member{Instance: instance, handles: map[uint64]uint32{}}
	if _, err := made.repeat(change{op: engine.NewCluster, argument: h.settings, made: id}); err != nil {
		_ = instance.Close()
		return nil, err
	}
	return made, nil
}

// now is the crew, where the cluster is in it.
func (c *Cluster) now() (*crew, error) {
	c.home.mutex.Lock()
	defer c.home.mutex.Unlock()
	switch {
	case c.home.runtime.closed:
		return nil, errRuntimeClosed
	case c.parent != nil && c.home.closed && !c.closed:
		return nil, errParentClosed
	case c.closed || c.home.closed:
		return nil, ErrClosed
	case c.crew != c.home.crew && c.parent != nil:
		return nil, ErrForkLost
	}
	return c.home.crew, nil
}

// with works with an instance that has made all changes, and with the cluster's handle in it. An error of work other than ErrTooLarge means that
// the module has trapped: the cluster is filled again. Who changes holds the locks.
func (c *Cluster) with(ctx context.Context, changes bool, work func(*crew, *member, uint32) error) error {
	if c.home == nil {
		return ErrClosed
	}
	if !changes {
		c.home.runtime.using.RLock()
		defer c.home.runtime.using.RUnlock()
	}
	for {
		crew, err := c.now()
		if err != nil {
			return err
		}
		one, err := crew.member(ctx, changes)
		if errors.Is(err, errEnded) {
			c.renew(crew, changes)
			continue
		}
		if err != nil {
			return err
		}
		id, isReady, err := c.ready(crew, one)
		if err == nil && !isReady {
			crew.drop(one)
			continue
		}
		if err == nil {
			crew.grow(one)
			err = work(crew, one, one.handles[id])
		}
		if errors.Is(err, errEnded) {
			crew.rest(one)
			c.renew(crew, changes)
			continue
		}
		var unreadable *UnreadableError
		if err == nil || errors.Is(err, ErrTooLarge) || errors.Is(err, ErrClosed) || errors.As(err, &unreadable) {
			crew.rest(one)
			return err
		}
		c.home.mutex.Lock()
		crew.end()
		_ = one.Close()
		c.home.mutex.Unlock()
		return errors.Join(ErrTrapped, err, c.renew(crew, changes))
	}
}

// ready has a member make the changes that it has not made, and says which cluster this is then. False when it cannot: the changes are not known
// any more, or fail. The member that made the last change has none to make.
func (c *Cluster) ready(crew *crew, one *member) (uint64, bool, error) {
	for {
		c.home.mutex.Lock()
		id, isClosed := c.id, c.closed
		behind, isKnown := crew.behind(one)
		c.home.mutex.Unlock()
		switch {
		case !isKnown:
			return 0, false, nil
		case isClosed:
			return 0, true, ErrClosed
		case len(behind) == 0:
			return id, true, nil
		}
		for _, change := range behind {
			if _, err := one.repeat(change); err != nil {
				// Its memory has less room than that of the one that made the change.
				return 0, false, nil
			}
		}
		c.home.mutex.Lock()
		one.made += uint64(len(behind))
		c.home.mutex.Unlock()
	}
}

// renew fills the cluster again after a crew has ended, unless that was done. Who changes holds the lock.
func (c *Cluster) renew(crew *crew, changes bool) error {
	home := c.home
	if !changes {
		home.changing.Lock()
		defer home.changing.Unlock()
	}
	home.mutex.Lock()
	isDone := home.crew != crew || home.closed
	home.mutex.Unlock()
	if !isDone {
		root := c
		for root.parent != nil {
			root = root.parent
		}
		crew.outcome = root.refill()
	}
	return crew.outcome
}

// change makes a change, and another cluster where it makes one; then is called with the answer while the clusters are locked. The caller holds
// the lock on changes.
func (c *Cluster) change(op engine.Operation, argument []byte, makes *Cluster, then func(answer []byte) error) error {
	return c.with(context.Background(), true, func(crew *crew, one *member, _ uint32) error {
		c.home.mutex.Lock()
		done := change{op: op, cluster: c.id, argument: argument}
		if makes != nil {
			c.home.last++
			done.made = c.home.last
		}
		c.home.mutex.Unlock()
		answer, err := one.repeat(done)
		if err != nil {
			return err
		}
		c.home.mutex.Lock()
		defer c.home.mutex.Unlock()
		crew.note(one, done)
		if makes != nil {
			makes.id, makes.crew = done.made, crew
		}
		return then(answer)
	})
}

// ask asks a question, which changes nothing.
func (c *Cluster) ask(ctx context.Context, op engine.Operation, argument []byte) (answer []byte, err error) {
	err = c.with(ctx, false, func(_ *crew, one *member, handle uint32) error {
		answer, err = one.Ask(op, handle, argument)
		return err
	})
	return answer, err
}
