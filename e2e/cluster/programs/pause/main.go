// The first process of a Pod's sandbox and of a machine of the local cluster: it holds the namespaces open and reaps
// the orphans that end up with it.
package main

import (
	"os"
	"os/signal"
	"syscall"
)

func main() {
	signals := make(chan os.Signal, 16)
	signal.Notify(signals, syscall.SIGCHLD, syscall.SIGINT, syscall.SIGTERM)
	for received := range signals {
		if received != syscall.SIGCHLD {
			return
		}
		for reaped, err := 1, error(nil); reaped > 0 && err == nil; {
			reaped, err = syscall.Wait4(-1, nil, syscall.WNOHANG, nil)
		}
	}
}
