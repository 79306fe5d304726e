// Prints the words that k3s makes of its configuration: of the file that is named, and of the folder beside it.
// Built inside a copy of k3s' module: what that replaces, only a main module may.
package main

import (
	"fmt"
	"os"

	"github.com/k3s-io/k3s/pkg/configfilearg"
)

func main() {
	for _, word := range configfilearg.MustParse([]string{"k3s", "server", "--config", os.Args[1]}) {
		fmt.Println(word)
	}
}
