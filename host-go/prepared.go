package apportion

import (
	"context"
	"errors"
	"fmt"

	"apportion.dev/apportion/internal/engine"
)

// Prepared is a question whose claims were read once, to be asked often: see [Question.Prepared]. The cluster that prepared it knows it, and forks
// made of that cluster later. It is safe for concurrent use. Close it when nobody asks it any more; it also ends with its cluster.
type Prepared struct {
	cluster *Cluster
	text    []byte
	// since is the last id that a cluster had when it was prepared: forks of its cluster with a later one know it.
	since uint64
	// number by which the instances of a crew know it.
	number uint32
	crew   *crew
	closed bool
}

// Prepare reads a question that is going to be asked often. An *[UnreadableError] says why it cannot be read. The context is looked at before it
// begins.
func (c *Cluster) Prepare(ctx context.Context, question Question) (*Prepared, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if question.Prepared != nil {
		return nil, misused("a prepared question is prepared again", "prepare the question with its claims")
	}
	text, err := question.encode(0)
	if err != nil {
		return nil, err
	}
	made := &Prepared{cluster: c, text: text}
	defer c.home.change()()
	err = c.change(engine.Prepare, text, nil, func(answer []byte) (err error) {
		if made.number, err = created(answer); err != nil {
			return err
		}
		made.since, made.crew = c.home.last, c.home.crew
		c.prepared[made] = true
		return nil
	})
	if err != nil {
		return nil, err
	}
	return made, nil
}

// Close forgets the question. Asked again it has the error ErrClosed.
func (p *Prepared) Close() error {
	c := p.cluster
	if c == nil {
		return nil
	}
	defer c.home.change()()
	c.home.mutex.Lock()
	wasClosed := p.closed
	p.closed = true
	c.home.mutex.Unlock()
	if wasClosed {
		return nil
	}
	delete(c.prepared, p)
	err := c.with(context.Background(), true, func(crew *crew, one *member, _ uint32) error {
		if p.crew != crew {
			return nil
		}
		done := change{op: engine.Forget, cluster: c.id, argument: fmt.Appendf(nil, `{"prepared":%d}`, p.number)}
		if _, err := one.repeat(done); err != nil {
			return err
		}
		c.home.mutex.Lock()
		defer c.home.mutex.Unlock()
		crew.note(one, done)
		return nil
	})
	if errors.Is(err, ErrClosed) || errors.Is(err, ErrForkLost) {
		return nil
	}
	return err
}

// in is the number by which a crew's instances know the question in a cluster.
func (p *Prepared) in(c *Cluster, crew *crew) (uint32, error) {
	c.home.mutex.Lock()
	defer c.home.mutex.Unlock()
	for at := c; at != p.cluster; at = at.parent {
		if at.parent == nil || at.parent == p.cluster && at.id <= p.since {
			return 0, ErrNotPrepared
		}
	}
	switch {
	case p.closed:
		return 0, errPreparedClosed
	case p.crew == crew:
		return p.number, nil
	case crew.hasEnded():
		return 0, errEnded
	default:
		return 0, ErrForkLost
	}
}
