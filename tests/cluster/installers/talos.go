// Does to a machine's configuration what talosctl does, by the same code: `generate VERSION ENDPOINT PATCH ...` makes a control plane's, as that version
// of Talos wants it, and `patch PATCH ...` changes the one that is read from standard input. What comes of it is validated as a node does it, and printed.
// `told`, of one that is read, prints what its API server is told of the tokens that it signs.
package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/siderolabs/talos/pkg/machinery/config"
	"github.com/siderolabs/talos/pkg/machinery/config/configloader"
	"github.com/siderolabs/talos/pkg/machinery/config/configpatcher"
	"github.com/siderolabs/talos/pkg/machinery/config/generate"
	"github.com/siderolabs/talos/pkg/machinery/config/machine"
	"github.com/siderolabs/talos/pkg/machinery/config/validation"
	"github.com/siderolabs/talos/pkg/machinery/constants"
)

// A machine that is installed.
type metal struct{}

func (metal) String() string        { return "metal" }
func (metal) RequiresInstall() bool { return false }
func (metal) InContainer() bool     { return false }

func main() {
	if err := run(os.Args[1], os.Args[2:]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(command string, words []string) error {
	if command == "generate" {
		made, err := generated(words[0], words[1])
		if err != nil {
			return err
		}
		return patch(configpatcher.WithConfig(made), words[2:])
	}
	have, err := io.ReadAll(os.Stdin)
	if err != nil {
		return err
	}
	if command == "told" {
		return tell(have)
	}
	return patch(configpatcher.WithBytes(have), words)
}

func generated(version, endpoint string) (config.Provider, error) {
	contract, err := config.ParseContractFromVersion(version)
	if err != nil {
		return nil, err
	}
	input, err := generate.NewInput("prod", endpoint, constants.DefaultKubernetesVersion, generate.WithVersionContract(contract))
	if err != nil {
		return nil, err
	}
	return input.Config(machine.TypeControlPlane)
}

func patch(have configpatcher.Input, words []string) error {
	patches, err := configpatcher.LoadPatches(words)
	if err != nil {
		return err
	}
	output, err := configpatcher.Apply(have, patches)
	if err != nil {
		return err
	}
	text, err := output.Bytes()
	if err != nil {
		return err
	}
	if err := validate(text); err != nil {
		return err
	}
	fmt.Print(string(text))
	return nil
}

func validate(text []byte) error {
	made, err := configloader.NewFromBytes(text)
	if err != nil {
		return err
	}
	warnings, err := made.ValidateAsClient(metal{}, validation.WithStrict())
	if len(warnings) != 0 {
		err = errors.Join(err, errors.New(strings.Join(warnings, "; ")))
	}
	return err
}

func tell(text []byte) error {
	have, err := configloader.NewFromBytes(text)
	if err != nil {
		return err
	}
	accounts := have.K8sServiceAccountConfig()
	keys := []string{}
	for _, key := range accounts.AcceptedKeys() {
		keys = append(keys, string(key.Key))
	}
	return json.NewEncoder(os.Stdout).Encode(map[string]any{
		"issuers":   append([]string{accounts.IssuerURL()}, accounts.AcceptedIssuers()...),
		"audiences": accounts.APIAudiences(),
		"accepted":  keys,
		"signs":     string(accounts.IssuingKey().Key),
		"extra":     have.K8sAPIServerConfig().ExtraArgs(),
	})
}
