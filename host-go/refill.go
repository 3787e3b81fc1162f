package apportion

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"

	"apportion.dev/apportion/internal/engine"
)

// LostError says which objects could not be taken in again after a trap. The cluster is without them.
type LostError struct {
	// Objects that are missing, in the order in which they came; at least one.
	Objects []LostObject
}

// LostObject is an object with the findings for which it was left out.
type LostObject struct {
	// Ref names the object.
	Ref Ref
	// Findings about it, at least one of which is an error.
	Findings []Finding
}

func (e *LostError) Error() string {
	if len(e.Objects) == 0 || len(e.Objects[0].Findings) == 0 {
		return fmt.Sprintf("apportion: %d objects were left out when the cluster was filled again", len(e.Objects))
	}
	first := e.Objects[0]
	return fmt.Sprintf("apportion: %d objects were left out when the cluster was filled again, first %s: %s",
		len(e.Objects), first.Ref, first.Findings[0].Message)
}

// batchSize is from which number of bytes on copies go to the module: all at once would need the memory for them twice.
const batchSize = 1 << 20

// refill puts a new instance with the copies in the place of those that ended. Where that is not possible the cluster is closed.
func (c *Cluster) refill() error {
	home := c.home
	home.last++
	id := home.last
	first, err := home.begin(context.Background(), id)
	if err != nil {
		return c.giveUp(err)
	}
	home.runtime.rebuilds.Add(1)
	lost := &LostError{}
	byArrival := func(a, b Ref) int { return cmp.Compare(c.copies[a].when, c.copies[b].when) }
	for inOrder := slices.SortedFunc(maps.Keys(c.copies), byArrival); len(inOrder) > 0; {
		var argument bytes.Buffer
		count := 0
		for ; count < len(inOrder) && argument.Len() < batchSize; count++ {
			text, err := c.copies[inOrder[count]].whole()
			if err != nil {
				_ = first.Close()
				return c.giveUp(err)
			}
			argument.WriteByte(separator)
			argument.Write(text)
		}
		var findings [][]Finding
		answer, err := first.Ask(engine.Apply, first.handles[id], argument.Bytes())
		if err == nil {
			findings, err = readEach[[]Finding](answer, count)
		}
		if err != nil {
			_ = first.Close()
			return c.giveUp(err)
		}
		for index, ref := range inOrder[:count] {
			if hasError(findings[index]) {
				lost.Objects = append(lost.Objects, LostObject{ref, findings[index]})
				c.keep(ref, copied{})
			}
		}
		inOrder = inOrder[count:]
	}
	numbers := make(map[*Prepared]uint32, len(c.prepared))
	for one := range c.prepared {
		answer, err := first.Ask(engine.Prepare, first.handles[id], one.text)
		if err == nil {
			numbers[one], err = created(answer)
		}
		if err != nil {
			_ = first.Close()
			return c.giveUp(err)
		}
	}
	home.mutex.Lock()
	home.crew = newCrew(home, first)
	c.id, c.crew = id, home.crew
	for one, number := range numbers {
		one.number, one.crew = number, home.crew
	}
	home.mutex.Unlock()
	if len(lost.Objects) > 0 {
		return lost
	}
	return nil
}

// giveUp closes the cluster.
func (c *Cluster) giveUp(why error) error {
	c.home.mutex.Lock()
	defer c.home.mutex.Unlock()
	c.home.closed = true
	return fmt.Errorf("apportion: the cluster cannot be filled again and is closed: %w", why)
}
