// Prints the kubeadm configuration that kind makes of a cluster's, which is read from standard input, for a version of Kubernetes.
// Built inside a copy of kind's module: what it asks is internal there.
package main

import (
	"fmt"
	"io"
	"os"

	"sigs.k8s.io/kind/pkg/cluster/internal/kubeadm"
	"sigs.k8s.io/kind/pkg/internal/apis/config"
	"sigs.k8s.io/kind/pkg/internal/apis/config/encoding"
	"sigs.k8s.io/kind/pkg/internal/patch"
)

func main() {
	if err := run(os.Args[1]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(version string) error {
	raw, err := io.ReadAll(os.Stdin)
	if err != nil {
		return err
	}
	cluster, err := encoding.Parse(raw)
	if err != nil {
		return err
	}
	config.SetDefaultsCluster(cluster)
	if err := cluster.Validate(); err != nil {
		return err
	}
	made, err := kubeadm.Config(kubeadm.ConfigData{
		KubernetesVersion:    version,
		ClusterName:          cluster.Name,
		ControlPlaneEndpoint: "kind-control-plane:6443",
		APIBindPort:          6443,
		APIServerAddress:     cluster.Networking.APIServerAddress,
		NodeProvider:         "docker",
		ControlPlane:         true,
		NodeAddress:          "192.0.2.1",
		NodeName:             "kind-control-plane",
		Token:                kubeadm.Token,
		KubeProxyMode:        string(cluster.Networking.KubeProxyMode),
		PodSubnet:            cluster.Networking.PodSubnet,
		ServiceSubnet:        cluster.Networking.ServiceSubnet,
		IPFamily:             cluster.Networking.IPFamily,
	})
	if err != nil {
		return err
	}
	patched, err := patch.KubeYAML(made, cluster.KubeadmConfigPatches, cluster.KubeadmConfigPatchesJSON6902)
	fmt.Print(patched)
	return err
}
