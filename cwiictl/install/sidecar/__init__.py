"""The webhook beside a kube-apiserver, in one pod with it: which parts go into whose cluster, and which go into files."""
