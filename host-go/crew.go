package apportion

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync/atomic"

	"apportion.dev/apportion/internal/engine"
)

// crew are instances of the module with the same clusters in them, each asked by one goroutine at a time. A change is made in one of them; the
// others repeat it before they are asked. The home's mutex guards all of it but the channels.
type crew struct {
	home *home
	most int
	// idle has a token for each of the resting, but the one that is in next: a change takes the next member that rests, before all questions.
	idle    chan struct{}
	next    chan struct{}
	changes bool
	resting []*member
	all     []*member
	waiting atomic.Int32
	// ended is closed when the crew is of no use any more; outcome says then how the next one began.
	ended   chan struct{}
	outcome error
	// log of the changes that some member has not made, the first of them with this number.
	log   []change
	first uint64
	// bytes of the log.
	bytes int
}

// member of a crew.
type member struct {
	*engine.Instance
	// made is how many changes it has made.
	made uint64
	// handles of clusters by their ids.
	handles map[uint64]uint32
}

// change of a cluster, to be repeated.
type change struct {
	op       engine.Operation
	cluster  uint64
	argument []byte
	// made is the id of the cluster that it makes.
	made uint64
	// fork is the id of the fork that it commits.
	fork uint64
}

// How much a log may hold. Members that are further behind are dropped, and copied again when they are needed.
const (
	mostChanges = 1 << 12
	mostBytes   = 1 << 24
)

// errEnded says that a crew has ended.
var errEnded = errors.New("apportion: the instances have ended")

func newCrew(home *home, first *member) *crew {
	most := max(1, home.runtime.instances)
	made := &crew{home: home, most: most, idle: make(chan struct{}, most), next: make(chan struct{}, 1), ended: make(chan struct{})}
	made.all, made.resting = []*member{first}, []*member{first}
	made.idle <- struct{}{}
	return made
}

// member waits for one that rests. One change at a time waits.
func (w *crew) member(ctx context.Context, changes bool) (*member, error) {
	var next chan struct{}
	if changes {
		next = w.next
		w.home.mutex.Lock()
		w.changes = true
		w.home.mutex.Unlock()
	}
	w.waiting.Add(1)
	defer w.waiting.Add(-1)
	select {
	case <-w.idle:
	case <-next:
	case <-w.ended:
		return nil, errEnded
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	w.home.mutex.Lock()
	defer w.home.mutex.Unlock()
	if changes {
		w.changes = false
		select {
		case <-w.next:
			// One came to rest after another was taken.
			w.idle <- struct{}{}
		default:
		}
	}
	if w.hasEnded() {
		return nil, errEnded
	}
	last := len(w.resting) - 1
	found := w.resting[last]
	w.resting = w.resting[:last]
	return found, nil
}

func (w *crew) hasEnded() bool {
	select {
	case <-w.ended:
		return true
	default:
		return false
	}
}

// rest takes a member back.
func (w *crew) rest(one *member) {
	w.home.mutex.Lock()
	defer w.home.mutex.Unlock()
	if w.hasEnded() {
		_ = one.Close()
		return
	}
	w.resting = append(w.resting, one)
	if w.changes {
		w.changes = false
		w.next <- struct{}{}
		return
	}
	w.idle <- struct{}{}
}

// grow makes another member, like one that is not in a call, where questions wait for one.
func (w *crew) grow(like *member) {
	if w.most == 1 || w.waiting.Load() == 0 {
		return
	}
	w.home.mutex.Lock()
	isWanted := len(w.all) < w.most && !w.hasEnded()
	w.home.mutex.Unlock()
	if !isWanted {
		return
	}
	instance, err := w.home.runtime.instantiate(context.Background())
	if err != nil {
		return
	}
	if err := instance.CopyFrom(like.Instance); err != nil {
		// There is no memory for another: those that there are have to do.
		_ = instance.Close()
		return
	}
	made := &member{instance, like.made, maps.Clone(like.handles)}
	w.home.mutex.Lock()
	isWanted = len(w.all) < w.most && !w.hasEnded()
	if isWanted {
		w.all = append(w.all, made)
	}
	w.home.mutex.Unlock()
	if !isWanted {
		_ = instance.Close()
		return
	}
	w.rest(made)
}

// behind are the changes that a member has yet to make; false when they are not known any more.
func (w *crew) behind(one *member) ([]change, bool) {
	if w.hasEnded() || one.made < w.first {
		return nil, false
	}
	if one.made == w.first+uint64(len(w.log)) {
		return nil, true
	}
	return slices.Clone(w.log[one.made-w.first:]), true
}

// drop takes a member out.
func (w *crew) drop(one *member) {
	w.home.mutex.Lock()
	defer w.home.mutex.Unlock()
	w.all = slices.DeleteFunc(w.all, func(other *member) bool { return other == one })
	_ = one.Close()
}

// note takes down a change that a member has made.
func (w *crew) note(one *member, made change) {
	one.made++
	if w.hasEnded() {
		return
	}
	w.log = append(w.log, made)
	w.bytes += len(made.argument)
	least := one.made
	for _, other := range w.all {
		least = min(least, other.made)
	}
	if len(w.log) > mostChanges || w.bytes > mostBytes {
		least = one.made
	}
	for w.first < least {
		w.bytes -= len(w.log[0].argument)
		w.log[0] = change{}
		w.log = w.log[1:]
		w.first++
	}
	if len(w.log) == 0 {
		w.log = nil
	}
}

// repeat makes a change.
func (m *member) repeat(one change) ([]byte, error) {
	argument := one.argument
	if one.fork != 0 {
		argument = fmt.Appendf(nil, `{"fork":%d}`, m.handles[one.fork])
	}
	answer, err := m.Ask(one.op, m.handles[one.cluster], argument)
	if err != nil {
		return nil, err
	}
	if one.made != 0 {
		handle := created
		if one.op == engine.Fork {
			handle = forked
		}
		if m.handles[one.made], err = handle(answer); err != nil {
			return nil, err
		}
	}
	switch {
	case one.op == engine.Close:
		delete(m.handles, one.cluster)
	case one.op == engine.Commit && string(answer) == "true":
		delete(m.handles, one.fork)
	}
	return answer, nil
}

// end closes the members that rest; the others are closed when they come to rest.
func (w *crew) end() {
	if w.hasEnded() {
		return
	}
	close(w.ended)
	for _, one := range w.resting {
		_ = one.Close()
	}
	w.resting, w.all, w.log = nil, nil, nil
}

// forked reads the answer to a fork: its handle. An instance has 2^32 of them; when all were given it is of no use any more, and another one has
// to take its place, as after a trap.
func forked(answer []byte) (uint32, error) {
	handle, err := created(answer)
	if err != nil {
		err = fmt.Errorf("the instance makes no more forks: %v", err)
	}
	return handle, err
}

// created reads the answer to a call that makes something: its handle, or the number of a prepared question.
func created(answer []byte) (uint32, error) {
	found, err := read[struct {
		status
		Handle   uint32    `json:"handle"`
		Prepared uint32    `json:"prepared"`
		Findings []Finding `json:"findings"`
	}](answer)
	if err == nil {
		err = found.failed("", found.Findings)
	}
	return max(found.Handle, found.Prepared), err
}
