// Program widget-controller is the benchmark's yardstick: a small controller as one writes it in Go with
// controller-runtime, which our own runtime is measured against. It speaks JSON lines on standard output.
package main

import (
	"context"
	"flag"
	"fmt"
	"log/slog"
	"os"

	"github.com/go-logr/logr"
	core "k8s.io/api/core/v1"
	"k8s.io/client-go/kubernetes/scheme"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	"sigs.k8s.io/controller-runtime/pkg/metrics/server"
)

type options struct {
	maxConcurrentReconciles int
	metricsBindAddress      string
	readYourWrites          bool
	latency                 bool
}

func main() {
	var chosen options
	flag.IntVar(&chosen.maxConcurrentReconciles, "max-concurrent-reconciles", 1, "how many widgets are reconciled at once")
	flag.StringVar(&chosen.metricsBindAddress, "metrics-bind-address", "0", "where metrics are served, such as 127.0.0.1:8080; 0 is nowhere")
	flag.BoolVar(&chosen.readYourWrites, "read-your-writes", false, "reads of the cache wait for this program's own writes (controller-runtime has it as an experiment)")
	flag.BoolVar(&chosen.latency, "latency", false, "measure from the time in spec.text (t:<unix microseconds>) to the first reconcile that sees it")
	flag.Parse()
	if err := run(ctrl.SetupSignalHandler(), chosen); err != nil {
		fmt.Fprintln(os.Stderr, "error:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, chosen options) error {
	ctrl.SetLogger(logr.FromSlogHandler(slog.NewTextHandler(os.Stderr, nil)))
	progress, err := newReport(os.Stdout, chosen.latency)
	if err != nil {
		return err
	}
	if err := addWidgets(scheme.Scheme); err != nil {
		return err
	}
	config, err := ctrl.GetConfig()
	if err != nil {
		return err
	}
	config.QPS = -1 // the API server limits by itself
	mgr, err := ctrl.NewManager(config, ctrl.Options{
		Scheme:  scheme.Scheme,
		Cache:   cache.Options{DefaultTransform: cache.TransformStripManagedFields()},
		Client:  client.Options{Cache: &client.CacheOptions{EnableReadYourWritesConsistency: &chosen.readYourWrites}},
		Metrics: server.Options{BindAddress: chosen.metricsBindAddress},
	})
	if err != nil {
		return err
	}
	err = ctrl.NewControllerManagedBy(mgr).
		For(&Widget{}).
		Owns(&core.ConfigMap{}).
		WithOptions(controller.Options{MaxConcurrentReconciles: chosen.maxConcurrentReconciles}).
		Complete(&reconciler{client: mgr.GetClient(), report: progress})
	if err != nil {
		return err
	}
	if err := mgr.Add(sayWhenSynced(mgr.GetCache(), progress)); err != nil {
		return err
	}
	go progress.tick(ctx)
	go progress.answerSignals(ctx)
	return mgr.Start(ctx)
}

// sayWhenSynced looks beside the controller at the same informers, which the manager starts once for both. Waiting as
// the controller does would say it up to 100 ms late: it asks ten times a second.
func sayWhenSynced(informers cache.Informers, progress *report) manager.RunnableFunc {
	return func(ctx context.Context) error {
		for _, kind := range []client.Object{&Widget{}, &core.ConfigMap{}} {
			informer, err := informers.GetInformer(ctx, kind, cache.BlockUntilSynced(false))
			if err != nil {
				return err
			}
			select {
			case <-informer.HasSyncedChecker().Done():
			case <-ctx.Done():
				return nil
			}
		}
		progress.synced()
		return nil
	}
}
