// Program places says where a release's own kube-scheduler would place a Pod: it reads clusters as JSON lines and answers each with one line.
//
// Every cluster gets a scheduler of its own, on informers over a client that holds the objects. The scheduler is not started: the program runs
// the phases of one attempt itself, on every node and without sampling, and keeps what each plugin said.
package main

import (
	"bufio"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"os"
	"runtime/debug"
	"sync"
	"time"

	"github.com/go-logr/logr"
	utilfeature "k8s.io/apiserver/pkg/util/feature"
	"k8s.io/klog/v2"
	"k8s.io/kubernetes/pkg/scheduler/metrics"
)

// longest is how long one answer may take.
const longest = 30 * time.Second

func main() {
	gates := flag.String("feature-gates", "", "feature gates that differ from the release's defaults, such as A=true,B=false")
	workers := flag.Int("workers", 24, "how many clusters are looked at at once")
	flag.Parse()
	klog.SetLogger(logr.Discard())
	if err := utilfeature.DefaultMutableFeatureGate.Set(*gates); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	metrics.Register()
	if err := serve(os.Stdin, os.Stdout, *workers); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// serve answers each line, in order.
func serve(from io.Reader, to io.Writer, workers int) error {
	input, output := bufio.NewReaderSize(from, 1<<20), bufio.NewWriter(to)
	waiting := make(chan chan []byte, workers)
	var failed error
	var reading sync.WaitGroup
	reading.Add(1)
	go func() {
		defer reading.Done()
		defer close(waiting)
		for {
			line, err := input.ReadBytes('\n')
			if len(line) > 1 {
				answer := make(chan []byte, 1)
				waiting <- answer
				go func() { answer <- reply(line) }()
			}
			if err == io.EOF {
				return
			}
			if err != nil {
				failed = err
				return
			}
		}
	}()
	for answer := range waiting {
		output.Write(append(<-answer, '\n'))
		if len(waiting) == 0 {
			if err := output.Flush(); err != nil {
				return err
			}
		}
	}
	reading.Wait()
	if err := output.Flush(); err != nil {
		return err
	}
	return failed
}

// reply is the answer to one line. What goes wrong is an answer, too.
func reply(line []byte) (written []byte) {
	defer func() {
		if panicked := recover(); panicked != nil {
			written, _ = json.Marshal(Answer{Error: fmt.Sprintf("panic: %v\n%s", panicked, debug.Stack())})
		}
	}()
	ctx, cancel := context.WithTimeout(klog.NewContext(context.Background(), logr.Discard()), longest)
	defer cancel()
	var asked Question
	answer := &Answer{}
	err := json.Unmarshal(line, &asked)
	if err == nil {
		answer, err = look(ctx, &asked)
	}
	if err != nil {
		answer = &Answer{Error: err.Error()}
	}
	written, err = json.Marshal(answer)
	if err != nil {
		written, _ = json.Marshal(Answer{Error: err.Error()})
	}
	return written
}
