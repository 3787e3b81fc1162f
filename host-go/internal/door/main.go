// Command door is the Go host as one of the engines of the conformance runner: a question per line in, the canonical JSON text of its answer per
// line out. Texts go through as they are, so that the answers can be compared byte by byte.
//
//	{"settings": {..}, "objects": [..], "question": {..}}     one allocation
//	{"evaluate": {..}}                                        one CEL selector
//	{"validate": {"settings": {..}, "submission": {..}}}      one request to the API server
//	{"life": {"settings": {..}, "nowMillis": 0}}              a simulation, in the place of the one before
//	{"life": {"call": "runUntil", "argument": 1000}}          a call of it
package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"

	"apportion.dev/apportion/internal/engine"
	"github.com/tetratelabs/wazero"
)

func main() {
	if err := answerAll(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func answerAll() error {
	ctx := context.Background()
	runtime := wazero.NewRuntime(ctx)
	defer runtime.Close(ctx)
	compiled, err := runtime.CompileModule(ctx, engine.Module)
	if err != nil {
		return err
	}
	instance, err := engine.New(ctx, runtime, compiled)
	if err != nil {
		return err
	}
	door := &door{instance: instance}
	in, out := bufio.NewReader(os.Stdin), bufio.NewWriter(os.Stdout)
	for {
		line, err := in.ReadBytes('\n')
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
		answer, err := door.answer(line)
		if err != nil {
			return err
		}
		_, _ = out.Write(append(answer, '\n'))
		if err := out.Flush(); err != nil {
			return err
		}
	}
}

// door is the module, and the simulation that is asked.
type door struct {
	instance   *engine.Instance
	simulation uint32
}

func (d *door) answer(line []byte) ([]byte, error) {
	var asked struct {
		Settings, Question, Evaluate, Validate, Life json.RawMessage
		Objects                                      []json.RawMessage
	}
	if err := json.Unmarshal(line, &asked); err != nil {
		return nil, err
	}
	switch {
	case asked.Evaluate != nil:
		return d.instance.Ask(engine.Evaluate, 0, asked.Evaluate)
	case asked.Validate != nil:
		return d.instance.Ask(engine.Validate, 0, asked.Validate)
	case asked.Life != nil:
		return d.live(asked.Life)
	default:
		return d.allocate(asked.Settings, asked.Objects, asked.Question)
	}
}

func (d *door) allocate(settings json.RawMessage, objects []json.RawMessage, question json.RawMessage) ([]byte, error) {
	handle, answer, err := d.create(engine.NewCluster, settings)
	if err != nil || handle == 0 {
		return answer, err
	}
	var texts bytes.Buffer
	for _, object := range objects {
		texts.WriteByte(0x1e)
		texts.Write(object)
	}
	if _, err := d.instance.Ask(engine.Apply, handle, texts.Bytes()); err != nil {
		return nil, err
	}
	if answer, err = d.instance.Ask(engine.Allocate, handle, question); err != nil {
		return nil, err
	}
	_, err = d.instance.Ask(engine.Close, handle, nil)
	return answer, err
}

func (d *door) live(asked json.RawMessage) ([]byte, error) {
	var call struct{ Call *string }
	if err := json.Unmarshal(asked, &call); err != nil {
		return nil, err
	}
	if call.Call != nil {
		return d.instance.Ask(engine.Simulate, d.simulation, asked)
	}
	if d.simulation != 0 {
		if _, err := d.instance.Ask(engine.Close, d.simulation, nil); err != nil {
			return nil, err
		}
	}
	var answer []byte
	var err error
	if d.simulation, answer, err = d.create(engine.NewSimulation, asked); err != nil || d.simulation == 0 {
		return answer, err
	}
	return []byte("{}"), nil
}

// create makes something; the answer counts where there is no handle.
func (d *door) create(op engine.Operation, argument []byte) (uint32, []byte, error) {
	answer, err := d.instance.Ask(op, 0, argument)
	if err != nil {
		return 0, nil, err
	}
	var made struct{ Handle uint32 }
	err = json.Unmarshal(answer, &made)
	return made.Handle, answer, err
}
