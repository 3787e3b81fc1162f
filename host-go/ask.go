package apportion

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
)

// Allocate finds the first node on which the claims fit, and their devices there. No place is no error: [Answer.Node] is empty then.
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
	return answer(ctx, c, opAllocate, questions, func(text []byte) (*Answer, error) {
		answer := &Answer{}
		if err := read(text, answer); err != nil {
			return nil, err
		}
		return answer, nil
	})
}

// Fits says for each node of the question whether the claims fit there, without devices and reasons; for all nodes by name where the
// question names none.
func (c *Cluster) Fits(ctx context.Context, question Question) ([]bool, error) {
	results, err := c.FitsAll(ctx, question)
	if err != nil {
		return nil, err
	}
	return results[0].Answer, results[0].Err
}

// FitsAll answers several questions in one call, in their order and each as [Cluster.Fits] would. The error says that none was answered.
func (c *Cluster) FitsAll(ctx context.Context, questions ...Question) ([]Result[[]bool], error) {
	return answer(ctx, c, opFits, questions, func(text []byte) ([]bool, error) {
		var answer struct {
			Bits string `json:"bits"`
		}
		if err := read(text, &answer); err != nil {
			return nil, err
		}
		fits := make([]bool, len(answer.Bits))
		for index := range fits {
			fits[index] = answer.Bits[index] == '1'
		}
		return fits, nil
	})
}

func answer[A any](
	ctx context.Context, c *Cluster, op operation, questions []Question, read func([]byte) (A, error),
) ([]Result[A], error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	asked := make([]json.RawMessage, len(questions))
	for index := range questions {
		text, err := questions[index].encode()
		if err != nil {
			return nil, fmt.Errorf("question %d: %w", index, err)
		}
		asked[index] = text
	}
	argument, err := json.Marshal(asked)
	if err != nil {
		return nil, fmt.Errorf("apportion: %w", err)
	}
	var texts []json.RawMessage
	err = c.locked(func() error {
		text, err := c.ask(op, argument)
		if err != nil {
			return err
		}
		if err := json.Unmarshal(text, &texts); err != nil {
			return fmt.Errorf("apportion: the answer cannot be read: %w", err)
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	results := make([]Result[A], len(texts))
	for index, text := range texts {
		results[index].Answer, results[index].Err = read(text)
	}
	return results, nil
}

// Explain says why a Pod, a claim, a claim template or a group is Pending; without a subject, everything that is.
func (c *Cluster) Explain(ctx context.Context, request ExplainRequest) ([]Explanation, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	argument, err := json.Marshal(struct {
		Kind string `json:"kind"`
		ExplainRequest
	}{"explain", request})
	if err != nil {
		return nil, fmt.Errorf("apportion: %w", err)
	}
	var read struct {
		Answer   []Explanation `json:"answer"`
		Findings []Finding     `json:"findings"`
	}
	err = c.locked(func() error {
		answer, err := c.ask(opInquire, argument)
		if err != nil {
			return err
		}
		if err := json.Unmarshal(answer, &read); err != nil {
			return fmt.Errorf("apportion: the answer cannot be read: %w", err)
		}
		return nil
	})
	if err == nil && read.Findings != nil {
		err = &UnreadableError{Findings: read.Findings}
	}
	return read.Answer, err
}

// Run plays the cluster's controllers and scheduler until nothing changes, in a copy: the cluster stays as it is.
func (c *Cluster) Run(ctx context.Context) (*Report, error) {
	fork, err := c.Fork(ctx)
	if err != nil {
		return nil, err
	}
	report := &Report{}
	err = fork.locked(func() error {
		answer, err := fork.ask(opRun, nil)
		if err != nil {
			return err
		}
		return read(answer, report)
	})
	if err = errors.Join(err, fork.Close()); err != nil {
		return nil, err
	}
	return report, nil
}
