// Checks an OLM bundle as the catalogs of operators do, and prints what they find: one line of JSON for each validator's complaint.
package main

import (
	"encoding/json"
	"fmt"
	"os"

	"github.com/operator-framework/api/pkg/manifests"
	"github.com/operator-framework/api/pkg/validation"
	"github.com/operator-framework/api/pkg/validation/errors"
)

type complaint struct {
	Level    string `json:"level"`
	Manifest string `json:"manifest"`
	Message  string `json:"message"`
}

func main() {
	if len(os.Args) != 2 {
		fail("usage: validators BUNDLE-DIRECTORY")
	}
	bundle, err := manifests.GetBundleFromDir(os.Args[1])
	if err != nil {
		fail(err.Error())
	}
	validators := validation.DefaultBundleValidators.WithValidators(
		validation.OperatorHubV2Validator,
		validation.StandardCapabilitiesValidator,
		validation.StandardCategoriesValidator,
		validation.GoodPracticesValidator,
	)
	for _, result := range validators.Validate(bundle.ObjectsToValidate()...) {
		report("error", result.Name, result.Errors)
		report("warning", result.Name, result.Warnings)
	}
}

func report(level, manifest string, complaints []errors.Error) {
	for _, found := range complaints {
		line, err := json.Marshal(complaint{level, manifest, found.Error()})
		if err != nil {
			fail(err.Error())
		}
		fmt.Println(string(line))
	}
}

func fail(message string) {
	fmt.Fprintln(os.Stderr, message)
	os.Exit(1)
}
