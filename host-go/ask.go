package apportion

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"apportion.dev/apportion/internal/engine"
)

// Allocate finds the first node on which the claims fit, and their devices there; it takes nothing. No place is no error: [Answer.Node] is empty
// then, and [Answer.Refusals] say why. The error is a *[FailedError] where a claim, a class or a slice is wrong, [ErrGaveUp] beyond
// [Settings.MaxSteps], an *[UnreadableError] where the question cannot be read, and the context's where that has ended before the search begins.
func (c *Cluster) Allocate(ctx context.Context, question Question) (*Answer, error) {
	results, err := c.AllocateAll(ctx, question)
	if err != nil {
		return nil, err
	}
	return results[0].Answer, results[0].Err
}

// AllocateAll answers several questions in one call, in their order and each as [Cluster.Allocate] would: none takes devices from another. The
// error says that none was answered.
func (c *Cluster) AllocateAll(ctx context.Context, questions ...Question) ([]Result[*Answer], error) {
	return answers(ctx, c, engine.Allocate, questions, func(one *decided) (*Answer, error) {
		if err := one.failed(one.Node, one.Findings); err != nil {
			return nil, err
		}
		return &one.Answer, nil
	})
}

// AllocateKnown allocates claims of one Pod that are in the cluster, which take the answer where that is asked for. Otherwise as
// [Cluster.Allocate]; an *[UnreadableError] says which name is that of no claim.
func (c *Cluster) AllocateKnown(ctx context.Context, question KnownQuestion) (*Answer, error) {
	results, err := c.known(ctx, engine.AllocateKnown, question)
	if err != nil {
		return nil, err
	}
	return results[0].Answer, results[0].Err
}

// AllocateEach allocates claims that are in the cluster and not one Pod's: each by itself, one after another, the later ones without the devices that
// earlier ones took where answers are taken. There is a result per claim, as [Cluster.AllocateKnown] has it for that claim, until one finds no
// place; after that none is asked. The error says that none was asked.
func (c *Cluster) AllocateEach(ctx context.Context, question KnownQuestion) ([]Result[*Answer], error) {
	return c.known(ctx, engine.AllocateEach, question)
}

// known asks about claims that are in the cluster, and takes down what they took.
func (c *Cluster) known(ctx context.Context, op engine.Operation, question KnownQuestion) (results []Result[*Answer], err error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	argument, err := question.encode()
	if err != nil {
		return nil, err
	}
	if !question.Take {
		answer, err := c.ask(ctx, op, argument)
		if err != nil {
			return nil, err
		}
		return decisions(answer)
	}
	defer c.home.change()()
	err = c.change(op, argument, nil, func(answer []byte) error {
		if results, err = decisions(answer); err != nil {
			return err
		}
		claims := question.Claims
		for _, result := range results {
			if result.Err != nil || len(result.Answer.Allocations) > len(claims) {
				break
			}
			for index := range result.Answer.Allocations {
				claim := Ref{Kind: "ResourceClaim", Namespace: claims[0].Namespace, Name: claims[0].Name}
				c.took(claim.key(), &result.Answer.Allocations[index])
				claims = claims[1:]
			}
		}
		return nil
	})
	return results, err
}

// decisions reads an answer, or a list of them.
func decisions(answer []byte) ([]Result[*Answer], error) {
	var found []decided
	var err error
	if bytes.HasPrefix(answer, []byte{'['}) {
		found, err = read[[]decided](answer)
	} else {
		found = make([]decided, 1)
		found[0], err = read[decided](answer)
	}
	if err != nil {
		return nil, err
	}
	results := make([]Result[*Answer], len(found))
	for index := range found {
		one := &found[index]
		err := one.failed(one.Node, one.Findings)
		if one.Status == unreadable {
			return nil, err
		}
		if results[index].Err = err; err == nil {
			results[index].Answer = &one.Answer
		}
	}
	return results, nil
}

// Fits says for each node of the question whether the claims fit there, without devices and reasons; for all nodes by name where the
// question names none. Errors are those of [Cluster.Allocate]; the limit of steps holds for all nodes of a question together.
func (c *Cluster) Fits(ctx context.Context, question Question) ([]bool, error) {
	results, err := c.FitsAll(ctx, question)
	if err != nil {
		return nil, err
	}
	return results[0].Answer, results[0].Err
}

// FitsAll answers several questions in one call, in their order and each as [Cluster.Fits] would. The error says that none was answered.
func (c *Cluster) FitsAll(ctx context.Context, questions ...Question) ([]Result[[]bool], error) {
	return answers(ctx, c, engine.Fits, questions, func(one *places) ([]bool, error) {
		if err := one.failed(one.Node, one.Findings); err != nil {
			return nil, err
		}
		fits := make([]bool, len(one.Bits))
		for index := range fits {
			fits[index] = one.Bits[index] == '1'
		}
		return fits, nil
	})
}

// status of an answer, and why there is none.
type status struct {
	Status string `json:"status"`
	Failure
}

// unreadable is the status of an answer to what cannot be read.
const unreadable = "unreadable"

// failed is the error that an answer stands for.
func (s *status) failed(node string, findings []Finding) error {
	switch s.Status {
	case unreadable:
		return &UnreadableError{Findings: findings}
	case "gave-up":
		return ErrGaveUp
	case "error":
		return &FailedError{Node: node, Failure: s.Failure}
	default:
		return nil
	}
}

// read reads an answer of the module.
func read[A any](answer []byte) (found A, err error) {
	if err = json.Unmarshal(answer, &found); err != nil {
		err = fmt.Errorf("apportion: the answer cannot be read: %w", err)
	}
	return found, err
}

// readEach reads an answer that has one for each of so many questions or objects.
func readEach[A any](answer []byte, count int) ([]A, error) {
	found, err := read[[]A](answer)
	if err == nil && len(found) != count {
		err = fmt.Errorf("apportion: the answer cannot be read: it has %d parts instead of %d", len(found), count)
	}
	return found, err
}

// decided is the answer to allocate.
type decided struct {
	status
	Answer
}

// places is the answer to fits: a bit for each node.
type places struct {
	status
	Bits     string    `json:"bits"`
	Node     string    `json:"node"`
	Findings []Finding `json:"findings"`
}

// played is the answer to run.
type played struct {
	status
	Report
}

func answers[W, A any](
	ctx context.Context, c *Cluster, op engine.Operation, questions []Question, from func(*W) (A, error),
) ([]Result[A], error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	results, texts := make([]Result[A], len(questions)), make([][]byte, len(questions))
	for index := range questions {
		if questions[index].Prepared == nil {
			texts[index], results[index].Err = questions[index].encode(0)
		}
	}
	var indices []int
	var asked [][]byte
	var answer []byte
	err := c.with(ctx, false, func(crew *crew, one *member, handle uint32) (err error) {
		indices, asked = indices[:0], asked[:0]
		for index := range questions {
			result := &results[index]
			if questions[index].Prepared != nil {
				texts[index], result.Err = questions[index].again(c, crew)
			}
			if errors.Is(result.Err, errEnded) {
				return errEnded
			}
			if result.Err == nil {
				indices, asked = append(indices, index), append(asked, texts[index])
			}
		}
		answer, err = one.Ask(op, handle, slices.Concat([]byte{'['}, bytes.Join(asked, []byte{','}), []byte{']'}))
		return err
	})
	if err != nil {
		return nil, err
	}
	found, err := readEach[W](answer, len(indices))
	if err != nil {
		return nil, err
	}
	for at, index := range indices {
		results[index].Answer, results[index].Err = from(&found[at])
	}
	return results, nil
}

// Explain says why a Pod, a claim, a claim template or a group is Pending; without a subject, everything that is. An *[UnreadableError] says what
// in the request is not in the cluster.
func (c *Cluster) Explain(ctx context.Context, request ExplainRequest) ([]Explanation, error) {
	return inquire[[]Explanation](ctx, c, struct {
		Kind string `json:"kind"`
		ExplainRequest
	}{"explain", request})
}

// Run plays the cluster's controllers and scheduler until nothing changes, in a fork: the cluster stays as it is.
func (c *Cluster) Run(ctx context.Context) (*Report, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	var answer []byte
	err := c.with(ctx, false, func(_ *crew, one *member, handle uint32) error {
		made, err := one.Ask(engine.Fork, handle, nil)
		if err != nil {
			return err
		}
		fork, err := forked(made)
		if err != nil {
			return err
		}
		if answer, err = one.Ask(engine.Run, fork, nil); err != nil {
			return err
		}
		_, err = one.Ask(engine.Close, fork, nil)
		return err
	})
	if err != nil {
		return nil, err
	}
	found, err := read[played](answer)
	if err != nil {
		return nil, err
	}
	if err := found.failed("", found.Findings); err != nil {
		return nil, err
	}
	return &found.Report, nil
}
