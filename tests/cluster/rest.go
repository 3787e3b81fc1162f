//go:build !storage

package main

import (
	"github.com/spf13/cobra"
	controllers "k8s.io/kubernetes/cmd/kube-controller-manager/app"
	scheduler "k8s.io/kubernetes/cmd/kube-scheduler/app"
)

func init() {
	commands["kube-controller-manager"] = controllers.NewControllerManagerCommand
	commands["kube-scheduler"] = func() *cobra.Command { return scheduler.NewSchedulerCommand() }
}
