// Package volumes gives the local cluster volumes with a real size: a file on the chosen node, seen as a loop block
// device, which the kubelet formats, mounts and grows as it does with a disk.
package volumes

import (
	"context"
	"os/signal"
	"syscall"

	"github.com/spf13/cobra"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/clientcmd"
)

// NewCommand is the program volume-controller.
func NewCommand() *cobra.Command {
	var kubeconfig string
	var disks diskFolder
	command := &cobra.Command{
		Use:          "volume-controller",
		Short:        "Makes, grows and removes the volumes of the local cluster",
		SilenceUsage: true,
		RunE: func(*cobra.Command, []string) error {
			config, err := clientcmd.BuildConfigFromFlags("", kubeconfig)
			if err != nil {
				return err
			}
			client, err := kubernetes.NewForConfig(config)
			if err != nil {
				return err
			}
			ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM)
			defer stop()
			return newController(client, disks).run(ctx)
		},
	}
	command.Flags().StringVar(&kubeconfig, "kubeconfig", "", "how to reach the API server")
	command.Flags().StringVar(&disks.directory, "directory", "", "where the files behind the volumes are kept")
	command.Flags().StringVar(&disks.prefix, "prefix", "", "what the name of each file starts with, so that two clusters never touch each other's")
	return command
}
