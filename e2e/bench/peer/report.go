package main

import (
	"context"
	"encoding/json"
	"io"
	"os"
	"os/signal"
	"runtime"
	"runtime/debug"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"k8s.io/apimachinery/pkg/types"
)

const reportEvery = 100 * time.Millisecond

type syncedLine struct {
	Event        string  `json:"event"`
	Milliseconds float64 `json:"ms"`
}

// reconciledLine says when the first and the last reconcile and the last write ended, not when the line was printed:
// the benchmark gets exact times from lines that come ten times a second.
type reconciledLine struct {
	Event             string  `json:"event"`
	Total             int64   `json:"total"`
	Writes            int64   `json:"writes"`
	Errors            int64   `json:"errors"`
	Milliseconds      float64 `json:"ms"`
	FirstMilliseconds float64 `json:"firstMs"`
	WriteMilliseconds float64 `json:"writeMs"`
}

type statsLine struct {
	Event      string `json:"event"`
	Collected  bool   `json:"collected"`
	RSSBytes   int64  `json:"rssBytes"`
	HeapBytes  uint64 `json:"heapBytes"`
	Reconciles int64  `json:"reconciles"`
	Writes     int64  `json:"writes"`
	Errors     int64  `json:"errors"`
}

// report counts what the controller does and prints it as JSON lines.
type report struct {
	started    time.Time
	latencies  *latencies
	mutex      sync.Mutex
	lines      *json.Encoder
	reconciles atomic.Int64
	writes     atomic.Int64
	errors     atomic.Int64
	// How long after the start of the process each ended.
	firstReconcile atomic.Int64
	lastReconcile  atomic.Int64
	lastWrite      atomic.Int64
}

func newReport(out io.Writer, latency bool) (*report, error) {
	started, err := processStart()
	if err != nil {
		return nil, err
	}
	r := &report{started: started, lines: json.NewEncoder(out)}
	if latency {
		r.latencies = &latencies{seen: map[types.NamespacedName]string{}}
	}
	return r, nil
}

func (r *report) synced() {
	r.latencies.begin()
	r.print(syncedLine{Event: "synced", Milliseconds: milliseconds(time.Since(r.started))})
}

func (r *report) saw(key types.NamespacedName, text string) { r.latencies.observe(key, text) }

// wrote counts a request that was to change something, whatever was answered.
func (r *report) wrote() {
	r.lastWrite.Store(int64(time.Since(r.started)))
	r.writes.Add(1)
}

func (r *report) reconciled(err error) {
	if err != nil {
		r.errors.Add(1)
	}
	now := int64(time.Since(r.started))
	r.firstReconcile.CompareAndSwap(0, now)
	r.lastReconcile.Store(now)
	r.reconciles.Add(1)
}

// tick prints the counts when they have changed.
func (r *report) tick(ctx context.Context) {
	ticker := time.NewTicker(reportEvery)
	defer ticker.Stop()
	var printed int64
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		}
		if total := r.reconciles.Load(); total != printed {
			printed = total
			r.print(reconciledLine{
				Event:             "reconciled",
				Total:             total,
				Writes:            r.writes.Load(),
				Errors:            r.errors.Load(),
				Milliseconds:      milliseconds(time.Duration(r.lastReconcile.Load())),
				FirstMilliseconds: milliseconds(time.Duration(r.firstReconcile.Load())),
				WriteMilliseconds: milliseconds(time.Duration(r.lastWrite.Load())),
			})
		}
	}
}

// answerSignals prints the memory as it is, the latencies, and the memory without garbage, in that order.
func (r *report) answerSignals(ctx context.Context) {
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, syscall.SIGUSR1)
	for {
		select {
		case <-ctx.Done():
			return
		case <-signals:
		}
		r.printStats(false)
		if r.latencies != nil {
			r.print(r.latencies.take())
		}
		debug.FreeOSMemory() // collects first
		r.printStats(true)
	}
}

func (r *report) printStats(collected bool) {
	resident := residentBytes() // before the rest, which needs memory itself
	var memory runtime.MemStats
	runtime.ReadMemStats(&memory)
	r.print(statsLine{
		Event:      "stats",
		Collected:  collected,
		RSSBytes:   resident,
		HeapBytes:  memory.HeapAlloc,
		Reconciles: r.reconciles.Load(),
		Writes:     r.writes.Load(),
		Errors:     r.errors.Load(),
	})
}

func (r *report) print(line any) {
	r.mutex.Lock()
	defer r.mutex.Unlock()
	if err := r.lines.Encode(line); err != nil {
		os.Exit(1) // nobody listens any more
	}
}

func milliseconds(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }
