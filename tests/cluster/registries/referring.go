// A registry that lists referrers itself, in memory.
package main

import (
	"net/http"
	"os"

	"github.com/google/go-containerregistry/pkg/registry"
)

func main() {
	panic(http.ListenAndServe(os.Args[1], registry.New(registry.WithReferrersSupport(true))))
}
