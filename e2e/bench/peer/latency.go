package main

import (
	"math"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/types"
)

type latencyLine struct {
	Event string  `json:"event"`
	Count int     `json:"count"`
	P50   float64 `json:"p50"`
	P99   float64 `json:"p99"`
	Max   float64 `json:"max"`
}

// latencies are the times from a change to the first reconcile that sees it, in milliseconds. A nil one measures
// nothing, so that a run without costs nothing.
type latencies struct {
	mutex   sync.Mutex
	begun   time.Time
	seen    map[types.NamespacedName]string
	samples []float64
}

// begin is when caches have synced: what was changed before waited for this process, not for the controller.
func (l *latencies) begin() {
	if l == nil {
		return
	}
	l.mutex.Lock()
	defer l.mutex.Unlock()
	l.begun = time.Now()
}

// observe takes a sample the first time that this text is seen; the reconciles that the controller's own writes
// bring about see it again.
func (l *latencies) observe(key types.NamespacedName, text string) {
	if l == nil {
		return
	}
	now := time.Now()
	changed, ok := stamp(text)
	if !ok {
		return
	}
	l.mutex.Lock()
	defer l.mutex.Unlock()
	if l.seen[key] == text {
		return
	}
	l.seen[key] = text
	if l.begun.IsZero() || changed.Before(l.begun) {
		return
	}
	l.samples = append(l.samples, milliseconds(now.Sub(changed)))
}

// take ends a measurement and starts the next.
func (l *latencies) take() latencyLine {
	l.mutex.Lock()
	samples := l.samples
	l.samples = nil
	l.mutex.Unlock()
	line := latencyLine{Event: "latency", Count: len(samples)}
	if len(samples) > 0 {
		slices.Sort(samples)
		line.P50, line.P99, line.Max = percentile(samples, 0.5), percentile(samples, 0.99), samples[len(samples)-1]
	}
	return line
}

// percentile is by nearest rank: always one of the samples.
func percentile(sorted []float64, p float64) float64 {
	return sorted[int(math.Ceil(p*float64(len(sorted))))-1]
}

// stamp reads t:<unix microseconds>, whatever follows the digits.
func stamp(text string) (time.Time, bool) {
	digits, ok := strings.CutPrefix(text, "t:")
	if !ok {
		return time.Time{}, false
	}
	if end := strings.IndexFunc(digits, func(r rune) bool { return r < '0' || r > '9' }); end >= 0 {
		digits = digits[:end]
	}
	microseconds, err := strconv.ParseInt(digits, 10, 64)
	return time.UnixMicro(microseconds), err == nil
}
