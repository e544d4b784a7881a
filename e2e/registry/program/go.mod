// A container registry for tests. A module of its own, so that only who needs it builds it.
module github.com/sampledb/sampledb-operator/e2e/registry/program

go 1.26.3

require github.com/google/go-containerregistry v0.22.1
