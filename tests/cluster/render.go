//go:build !storage && !plane

package main

import (
	"fmt"
	"sort"
	"strings"

	"github.com/spf13/cobra"
	"helm.sh/helm/v3/pkg/chart/loader"
	"helm.sh/helm/v3/pkg/chartutil"
	"helm.sh/helm/v3/pkg/engine"
	"sigs.k8s.io/kustomize/api/krusty"
	"sigs.k8s.io/kustomize/kyaml/filesys"
)

func init() {
	commands["chart"] = chart
	commands["kustomize"] = kustomize
}

// kustomize prints what `kustomize build FOLDER` would.
func kustomize() *cobra.Command {
	return &cobra.Command{
		Use:  "kustomize FOLDER",
		Args: cobra.ExactArgs(1),
		RunE: func(_ *cobra.Command, arguments []string) error {
			resources, err := krusty.MakeKustomizer(krusty.MakeDefaultOptions()).Run(filesys.MakeFsOnDisk(), arguments[0])
			if err != nil {
				return err
			}
			text, err := resources.AsYaml()
			if err != nil {
				return err
			}
			fmt.Print(string(text))
			return nil
		},
	}
}

// chart prints what `helm template --include-crds` would of a chart and values as YAML.
func chart() *cobra.Command {
	var namespace, values string
	command := &cobra.Command{
		Use:  "chart FOLDER",
		Args: cobra.ExactArgs(1),
		RunE: func(_ *cobra.Command, arguments []string) error {
			loaded, err := loader.Load(arguments[0])
			if err != nil {
				return err
			}
			given, err := chartutil.ReadValues([]byte(values))
			if err != nil {
				return err
			}
			release := chartutil.ReleaseOptions{Name: "apportion", Namespace: namespace, IsInstall: true}
			all, err := chartutil.ToRenderValues(loaded, given, release, chartutil.DefaultCapabilities)
			if err != nil {
				return err
			}
			rendered, err := engine.Render(loaded, all)
			if err != nil {
				return err
			}
			for _, crd := range loaded.CRDObjects() {
				fmt.Printf("---\n%s\n", crd.File.Data)
			}
			names := make([]string, 0, len(rendered))
			for name := range rendered {
				if strings.HasSuffix(name, ".yaml") {
					names = append(names, name)
				}
			}
			sort.Strings(names)
			for _, name := range names {
				fmt.Printf("---\n%s\n", rendered[name])
			}
			return nil
		},
	}
	command.Flags().StringVar(&namespace, "namespace", "default", "namespace of the release")
	command.Flags().StringVar(&values, "values", "{}", "values that differ from the chart's, as YAML")
	return command
}
