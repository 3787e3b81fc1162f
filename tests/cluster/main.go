// Program cluster is a control plane for tests: etcd, kube-apiserver, kube-controller-manager and kube-scheduler of one
// Kubernetes, built from their modules into one program. Each runs as a process of its own: `cluster kube-apiserver ...`.
// It also renders what a deployment consists of. With the build tag `storage` it is only etcd and kube-apiserver, which are enough to
// record what an API server answers; the files `1.34.mod` and so on build that of other releases. With `plane` it renders nothing.
package main

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"encoding/pem"
	"fmt"
	"net/url"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"
	"time"

	"github.com/spf13/cobra"
	"go.etcd.io/etcd/server/v3/embed"
	"k8s.io/component-base/cli"
	apiserver "k8s.io/kubernetes/cmd/kube-apiserver/app"
)

// commands are made one at a time: several of upstream's take over signals, which only one may.
var commands = map[string]func() *cobra.Command{
	"ask":            ask,
	"etcd":           etcd,
	"key":            key,
	"kube-apiserver": apiserver.NewAPIServerCommand,
}

func main() {
	root := &cobra.Command{Use: "cluster", SilenceUsage: true}
	if len(os.Args) > 1 {
		if command, found := commands[os.Args[1]]; found {
			root.AddCommand(command())
		}
	}
	os.Exit(cli.Run(root))
}

// etcd keeps everything in a folder and never waits for the disk: a test that is cut off starts anew.
func etcd() *cobra.Command {
	var folder, client, peer string
	command := &cobra.Command{
		Use: "etcd",
		RunE: func(*cobra.Command, []string) error {
			config := embed.NewConfig()
			config.Dir = filepath.Join(folder, "etcd")
			config.UnsafeNoFsync = true
			config.LogLevel = "error"
			clients, err := url.Parse(client)
			if err != nil {
				return err
			}
			peers, err := url.Parse(peer)
			if err != nil {
				return err
			}
			config.ListenClientUrls, config.AdvertiseClientUrls = []url.URL{*clients}, []url.URL{*clients}
			config.ListenPeerUrls, config.AdvertisePeerUrls = []url.URL{*peers}, []url.URL{*peers}
			config.InitialCluster = config.InitialClusterFromName(config.Name)
			server, err := embed.StartEtcd(config)
			if err != nil {
				return err
			}
			defer server.Close()
			select {
			case <-server.Server.ReadyNotify():
			case <-time.After(time.Minute):
				return fmt.Errorf("etcd was not ready within a minute")
			}
			stop := make(chan os.Signal, 1)
			signal.Notify(stop, syscall.SIGINT, syscall.SIGTERM)
			select {
			case <-stop:
				return nil
			case err := <-server.Err():
				return err
			}
		},
	}
	command.Flags().StringVar(&folder, "folder", ".", "where everything is kept")
	command.Flags().StringVar(&client, "client", "http://127.0.0.1:2379", "address for clients")
	command.Flags().StringVar(&peer, "peer", "http://127.0.0.1:2380", "address for peers")
	return command
}

// key writes a key that service account tokens are signed with.
func key() *cobra.Command {
	return &cobra.Command{
		Use:  "key FILE",
		Args: cobra.ExactArgs(1),
		RunE: func(_ *cobra.Command, arguments []string) error {
			made, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
			if err != nil {
				return err
			}
			bytes, err := x509.MarshalECPrivateKey(made)
			if err != nil {
				return err
			}
			text := pem.EncodeToMemory(&pem.Block{Type: "EC PRIVATE KEY", Bytes: bytes})
			return os.WriteFile(arguments[0], text, 0o600)
		},
	}
}
